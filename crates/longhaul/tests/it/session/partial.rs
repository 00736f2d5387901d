//! A session that was partially compacted and is resumed in another process.

use longhaul_core::config::Config;
use longhaul_core::engine::{CompactRequest, Pivot};
use longhaul_core::summary::PivotDirection;
use serde_json::Value;

use super::scripted::{Stage, words};

#[tokio::test]
async fn y8_after_a_resume_what_is_said_hangs_on_what_the_partial_compaction_wrote_last() {
    let turns: Vec<Value> = (0..6).map(|_| words(900)).collect();
    let stage = Stage::new(100_000, &turns).await;
    let open = || {
        let mut config = Config::default();
        config.switches.notes = false;
        config.background = false;
        stage.session().config(config).open().unwrap()
    };
    let mut session = open();
    for step in ["One.", "Two.", "Three."] {
        session.say(step).await.unwrap();
        session.turn().await.unwrap();
    }
    session.say("Keep this.").await.unwrap();
    let uuid = session.engine().live().newest().unwrap().to_owned();
    let request = CompactRequest {
        pivot: Some(Pivot {
            uuid,
            direction: PivotDirection::UpTo,
        }),
        ..CompactRequest::default()
    };
    session.compact(request).await.unwrap();
    drop(session);
    let newest = |lines: &[Value]| {
        let mut newest = lines.iter().rev();
        newest.find_map(|line| line["uuid"].as_str().map(str::to_owned))
    };
    let last = newest(&stage.lines());
    let mut session = open();
    session.say("And now?").await.unwrap();
    let lines = stage.lines();
    let said = lines
        .iter()
        .find(|line| line["message"]["content"] == "And now?");
    assert_eq!(said.unwrap()["parentUuid"].as_str(), last.as_deref());
    drop(session);
    // Nothing is left on a branch: a process that opens the file again sees both.
    let session = open();
    let seen: String = session
        .engine()
        .live()
        .views()
        .map(|entry| String::from_utf8_lossy(entry.line).into_owned())
        .collect();
    assert!(seen.contains("Keep this.") && seen.contains("And now?"));
}
