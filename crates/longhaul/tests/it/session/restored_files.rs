//! Which files go back into the window after one compaction and after the next (R1, P4, R7).

use std::path::Path;

use longhaul::session::CompactOutcome;
use longhaul::{FileWorkspace, Session};
use longhaul_core::engine::{CompactRequest, Pivot, ToolOutput};
use longhaul_core::summary::PivotDirection;
use serde_json::{Value, json};

use super::scripted::{Stage, words};
use super::set::set;

fn read(folder: &Path, name: &str) -> Value {
    json!({"tools": [{"name": "Read", "input": {"file_path": folder.join(name)}}]})
}

fn put(stage: &Stage, name: &str) {
    let text = format!("what {name} holds now\n");
    std::fs::write(stage.folder.path().join(name), text).unwrap();
}

fn open(stage: &Stage, seed: u128) -> Session {
    let session = stage.session().config(set("")).seed(seed);
    session.workspace(FileWorkspace).open().unwrap()
}

/// The user says something; a call of the reply is answered with this. Returns the uuid of what was said.
async fn exchange(session: &mut Session, result: &str, is_error: bool) -> String {
    session.say("Go on.").await.unwrap();
    let said = session.engine().live().newest().unwrap().to_owned();
    let reply = session.turn().await.unwrap();
    let results = reply.tool_calls().map(|call| ToolOutput {
        tool_use_id: call.id.to_string(),
        content: json!(result),
        is_error,
    });
    let results: Vec<ToolOutput> = results.collect();
    if !results.is_empty() {
        session.results(results).await.unwrap();
        session.turn().await.unwrap();
    }
    said
}

/// Compacts, up to a message if one is given. Returns the names of the files that were restored, the newest first.
async fn compacted(stage: &Stage, session: &mut Session, up_to: Option<String>) -> Vec<String> {
    let direction = PivotDirection::UpTo;
    let request = CompactRequest {
        pivot: up_to.map(|uuid| Pivot { uuid, direction }),
        local: true,
        ..CompactRequest::default()
    };
    let done = session.compact(request).await.unwrap();
    assert!(matches!(done, CompactOutcome::Done(_)));
    let lines = stage.lines();
    let is_boundary = |line: &Value| line["subtype"] == "compact_boundary";
    let newest = lines.iter().rposition(is_boundary).unwrap();
    let files = lines[newest..].iter();
    let files =
        files.filter_map(|line| Path::new(line["attachment"]["filename"].as_str()?).file_name());
    files
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

#[tokio::test]
async fn p4_a_file_is_restored_if_the_kept_part_only_mentions_it() {
    let stage = Stage::for_folder(|folder| {
        let done = || json!({"text": "Yes."});
        let reads = ["a.txt", "b.txt", "a.txt", "b.txt", "c.txt"].map(|name| read(folder, name));
        let [a, b, a_again, b_again, c] = reads;
        vec![
            a,
            done(),
            b,
            done(),
            words(3_000),
            a_again,
            done(),
            b_again,
            done(),
            c,
            done(),
        ]
    })
    .await;
    for name in ["a.txt", "b.txt", "c.txt"] {
        put(&stage, name);
    }
    let mut session = open(&stage, 1);
    for text in ["what a held", "what b held", ""] {
        exchange(&mut session, text, false).await;
    }
    // What is kept shows neither of the two: one result says that nothing has changed, the other one failed.
    let stub = "File unchanged since it was read at 10:00:00 UTC.";
    let pivot = exchange(&mut session, stub, false).await;
    exchange(&mut session, "no such file", true).await;
    exchange(&mut session, "what c held", false).await;
    let restored = compacted(&stage, &mut session, Some(pivot)).await;
    assert_eq!(restored, ["b.txt", "a.txt"], "the kept part shows c.txt");
}

#[tokio::test]
async fn r1_r7_what_was_restored_or_kept_is_restored_again_by_the_next_compaction_resumed_or_not() {
    for resumed in [false, true] {
        let stage = Stage::for_folder(|folder| {
            let done = || json!({"text": "Yes."});
            let [a, b, c] = ["a.txt", "b.txt", "c.txt"].map(|name| read(folder, name));
            vec![a, done(), b, done(), words(3_000), c, done(), words(3_000)]
        })
        .await;
        for name in ["a.txt", "b.txt", "c.txt"] {
            put(&stage, name);
        }
        let mut session = open(&stage, 1);
        for text in ["what a held", "what b held", ""] {
            stage.rest(1);
            exchange(&mut session, text, false).await;
        }
        stage.rest(1);
        let pivot = exchange(&mut session, "what c held", false).await;
        let restored = compacted(&stage, &mut session, Some(pivot)).await;
        assert_eq!(restored, ["b.txt", "a.txt"]);
        if resumed {
            drop(session);
            session = open(&stage, 2);
        }
        stage.rest(1);
        exchange(&mut session, "", false).await;
        let restored = compacted(&stage, &mut session, None).await;
        let newest_first = ["c.txt", "b.txt", "a.txt"];
        assert_eq!(restored, newest_first, "resumed: {resumed}");
    }
}
