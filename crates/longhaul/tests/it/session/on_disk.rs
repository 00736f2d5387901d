//! What a session writes: it only ever appends, in the shape of Claude Code's transcripts, and a boundary says where its
//! view begins.

use std::collections::HashSet;
use std::path::Path;

use longhaul::Session;
use longhaul::session::CompactOutcome;
use longhaul::undo::{UndoMode, undo};
use longhaul_core::config::Config;
use longhaul_core::engine::{CompactRequest, Pivot};
use longhaul_core::models::ModelTable;
use longhaul_core::summary::PivotDirection;
use serde_json::{Value, json};

use super::scripted::{Stage, answered, reads, words};
use super::set::set;

/// A transcript that must only grow.
struct Growing<'a> {
    path: &'a Path,
    known: Vec<u8>,
}

impl Growing<'_> {
    /// The lines since the last look.
    #[track_caller]
    fn added(&mut self, by: &str) -> Vec<Value> {
        let now = std::fs::read(self.path).unwrap();
        assert!(now.starts_with(&self.known), "{by} changed what was there");
        assert!(now.len() > self.known.len() && now.ends_with(b"\n"), "{by}");
        let added = String::from_utf8(now[self.known.len()..].to_vec()).unwrap();
        self.known = now;
        let lines = added.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn has(lines: &[Value], subtype: &str) -> bool {
    lines.iter().any(|line| line["subtype"] == subtype)
}

/// The fields that programs for Claude Code's transcripts read of every entry.
#[track_caller]
fn is_claude_codes(line: &Value, known: &HashSet<String>) {
    for field in ["uuid", "sessionId", "timestamp", "cwd", "version"] {
        assert!(line[field].is_string(), "{field}: {line}");
    }
    assert_eq!(line["isSidechain"], false, "{line}");
    assert_eq!(line["userType"], "external", "{line}");
    let time = line["timestamp"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    match line["parentUuid"].as_str() {
        Some(parent) => assert!(known.contains(parent), "{line}"),
        None => assert!(line["parentUuid"].is_null(), "{line}"),
    }
    match line["type"].as_str().unwrap() {
        "user" => assert_eq!(line["message"]["role"], "user", "{line}"),
        "assistant" => {
            let message = &line["message"];
            assert_eq!(message["role"], "assistant", "{line}");
            assert!(message["content"].is_array(), "{line}");
            for field in ["id", "model"] {
                assert!(message[field].is_string(), "{field}: {line}");
            }
            assert!(message["usage"]["output_tokens"].is_u64(), "{line}");
        }
        "attachment" => assert!(line["attachment"]["type"].is_string(), "{line}"),
        "system" => assert!(line["subtype"].is_string(), "{line}"),
        other => panic!("{other}: {line}"),
    }
}

#[tokio::test]
async fn m3_a_transcript_only_grows_line_by_line_whatever_happens_to_the_conversation() {
    let mut turns: Vec<Value> = (0..4).map(|_| reads("Read")).collect();
    turns.extend((0..4).map(|_| words(3_000)));
    let stage = Stage::new(200_000, &turns).await;
    let config = || set("[micro]\nidle_minutes = 10\nkeep_recent = 2\n");
    let path = stage.transcript();
    let mut file = Growing {
        path: &path,
        known: Vec::new(),
    };
    let mut session = stage.session().config(config()).open().unwrap();
    session.say("Read them all.").await.unwrap();
    file.added("a message");
    for _ in 0..4 {
        let reply = session.turn().await.unwrap();
        file.added("a reply");
        let results = answered(&reply, &"some text ".repeat(200));
        session.results(results).await.unwrap();
        file.added("results");
    }
    session.turn().await.unwrap();
    stage.rest(11 * 60);
    session.say("Back.").await.unwrap();
    session.turn().await.unwrap();
    assert!(has(&file.added("a clearing"), "microcompact_boundary"));
    session.compact(CompactRequest::default()).await.unwrap();
    assert!(has(&file.added("a compaction"), "compact_boundary"));
    drop(session);
    let undone = undo(
        &path,
        &Config::default(),
        &ModelTable::builtin(),
        UndoMode::Write,
        jiff::Timestamp::now(),
    );
    undone.unwrap();
    file.added("an undo");
    let mut session = (stage.session().config(config()).seed(2)).open().unwrap();
    session.say("Where were we?").await.unwrap();
    session.turn().await.unwrap();
    file.added("a resumed session");
    drop(session);

    let mut known = HashSet::new();
    let mut entries = 0;
    for line in stage.lines() {
        // The head and the like stand outside the chain.
        let Some(uuid) = line["uuid"].as_str() else {
            continue;
        };
        is_claude_codes(&line, &known);
        assert!(known.insert(uuid.to_owned()), "{uuid} is there twice");
        entries += 1;
    }
    assert!(entries > 15, "{entries}");
}

async fn exchange(session: &mut Session, said: &str) -> String {
    session.say(said).await.unwrap();
    let asked = session.engine().live().newest().unwrap().to_owned();
    session.turn().await.unwrap();
    asked
}

async fn keep_from(session: &mut Session, uuid: String) {
    let pivot = Some(Pivot {
        uuid,
        direction: PivotDirection::UpTo,
    });
    let request = CompactRequest {
        pivot,
        ..CompactRequest::default()
    };
    let done = session.compact(request).await.unwrap();
    assert!(matches!(done, CompactOutcome::Done(_)));
}

/// The lines of the view, in order.
fn view(session: &Session) -> Vec<String> {
    let views = session.engine().live().views();
    views
        .map(|entry| String::from_utf8_lossy(entry.line).into_owned())
        .collect()
}

#[tokio::test]
async fn p5_kept_parts_nest_over_boundaries_and_all_before_the_offset_is_never_read_again() {
    let turns: Vec<Value> = (0..7).map(|_| words(3_000)).collect();
    let stage = Stage::new(200_000, &turns).await;
    let open = |seed| stage.session().config(set("")).seed(seed).open().unwrap();
    let mut session = open(1);
    let mut asked = Vec::new();
    for said in ["One.", "Two.", "Three.", "Four."] {
        asked.push(exchange(&mut session, said).await);
    }
    keep_from(&mut session, asked[2].clone()).await;
    exchange(&mut session, "Five.").await;
    let last = view(&session).pop().unwrap();
    // The part that is kept now begins before the boundary that is there already, and goes on after it.
    keep_from(&mut session, asked[3].clone()).await;
    let seen = view(&session);
    drop(session);

    let lines = stage.lines();
    let boundaries: Vec<&Value> = (lines.iter())
        .filter(|line| line["subtype"] == "compact_boundary")
        .collect();
    assert_eq!(boundaries.len(), 2);
    for (boundary, head) in boundaries.iter().zip([&asked[2], &asked[3]]) {
        assert_eq!(boundary["content"], "Conversation compacted");
        assert_eq!(
            (&boundary["level"], &boundary["isMeta"]),
            (&json!("info"), &json!(false))
        );
        assert_eq!(boundary["parentUuid"], Value::Null);
        let metadata = &boundary["compactMetadata"];
        assert_eq!(metadata["trigger"], "manual");
        for field in ["preTokens", "messagesSummarized", "viewOffset"] {
            assert!(metadata[field].as_u64() > Some(0), "{field}: {metadata}");
        }
        assert!(metadata["report"].is_object());
        let summary = lines
            .iter()
            .find(|line| line["parentUuid"] == boundary["uuid"]);
        let segment = &metadata["preservedSegment"];
        assert_eq!(segment["anchorUuid"], summary.unwrap()["uuid"]);
        assert!(segment["headUuid"].is_string() && segment["tailUuid"].is_string());
        let kept = metadata["preservedMessages"]["uuids"].as_array().unwrap();
        assert_eq!(kept.first(), Some(&json!(head)));
        assert_eq!(kept.last(), Some(&segment["tailUuid"]));
    }
    let last: Value = serde_json::from_str(&last).unwrap();
    let newest = boundaries[1];
    assert_eq!(newest["logicalParentUuid"], last["uuid"]);
    assert_eq!(
        newest["compactMetadata"]["preservedSegment"]["tailUuid"],
        last["uuid"]
    );

    let mut bytes = std::fs::read(stage.transcript()).unwrap();
    let offset = newest["compactMetadata"]["viewOffset"].as_u64().unwrap() as usize;
    let head = bytes[offset..].split(|byte| *byte == b'\n').next().unwrap();
    let head: Value = serde_json::from_slice(head).unwrap();
    assert_eq!(head["uuid"], asked[3].as_str());
    // Of two lines with one uuid the first counts, so whoever reads what lies before the offset takes this one.
    let forged = |words: &str| {
        let mut line = head.clone();
        line["message"]["content"] = json!(format!("Forged. {words}"));
        line.to_string()
    };
    let rest = (offset - 1).checked_sub(forged("").len()).unwrap();
    bytes.splice(..offset - 1, forged(&"x".repeat(rest)).into_bytes());
    std::fs::write(stage.transcript(), bytes).unwrap();
    let mut session = open(2);
    assert_eq!(view(&session), seen);
    exchange(&mut session, "Six.").await;
    let sent = stage.last_sent()["messages"].to_string();
    for said in ["Four.", "Five.", "Six."] {
        assert!(sent.contains(said), "{said}");
    }
}
