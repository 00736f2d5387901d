//! A session that waits for its disk does not stop other tasks.

use std::fs::File;
use std::time::Duration;

use super::scripted::{Stage, words};

/// Runs on one thread: code that blocks it stops everything, including the task that would end the wait.
#[tokio::test(flavor = "current_thread")]
async fn m1_a_locked_transcript_makes_its_session_wait_and_no_other_task() {
    let stage = Stage::new(200_000, &vec![words(20); 2]).await;
    let mut session = stage.session().open().unwrap();
    session.say("Hello.").await.unwrap();
    let file = File::open(stage.folder.path().join("session.jsonl")).unwrap();
    file.lock().unwrap();
    let unlocked = async {
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        file.unlock().unwrap();
    };
    let (said, ()) = tokio::join!(session.say("Still there?"), unlocked);
    said.unwrap();
    session.turn().await.unwrap();
    assert!(stage.lines().len() > 3);
}

/// A write in progress reaches the disk once, even though its call is dropped.
#[tokio::test(flavor = "current_thread")]
async fn y7_a_call_that_is_dropped_while_it_writes_neither_loses_nor_repeats_a_line() {
    let stage = Stage::new(200_000, &vec![words(20); 2]).await;
    let mut session = stage.session().open().unwrap();
    session.say("Hello.").await.unwrap();
    let file = File::open(stage.folder.path().join("session.jsonl")).unwrap();
    file.lock().unwrap();
    {
        let saying = session.say("Still there?");
        let soon = tokio::time::sleep(Duration::from_millis(20));
        tokio::select! {
            said = saying => panic!("the file is locked: {said:?}"),
            () = soon => {}
        }
    }
    file.unlock().unwrap();
    session.turn().await.unwrap();
    let lines = stage.lines();
    let said = lines
        .iter()
        .filter(|line| line["message"]["content"] == "Still there?");
    assert_eq!(said.count(), 1);
}
