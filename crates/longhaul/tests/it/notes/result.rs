//! What a compaction by notes leaves, on disk and in the next request (S7).

use std::sync::Arc;

use longhaul::FileWorkspace;
use longhaul::session::CompactOutcome;
use longhaul_core::engine::{CompactRequest, Summarizer, ToolOutput};
use serde_json::{Value, json};

use super::desk::{Desk, Furniture, Kind, STATE, calls, says, tool};

/// A session whose notes cover a file that was read, and five exchanges that they do not cover.
async fn noted_and_continued() -> Desk {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("lexer.rs");
    std::fs::write(&file, "fn lexer() {}\n").unwrap();
    let mut furniture = Furniture {
        workspace: Arc::new(FileWorkspace),
        ..Furniture::default()
    };
    furniture.tools.push(tool("Read", &["file_path"]));
    let mut desk = Desk::at(folder, furniture);
    let reads = calls(&[("Read", json!({"file_path": file}))], 300);
    desk.answer(Kind::Conversation, reads);
    let said = "Build a parser. Never use regexes.";
    desk.session().say(said).await.unwrap();
    let reply = desk.session().turn().await.unwrap();
    let id = reply.tool_calls().next().unwrap().id.to_string();
    let result = ToolOutput::text(id, "an old line\n".repeat(4_000));
    desk.session().results(vec![result]).await.unwrap();
    let edit = desk.notes_edit(STATE, "The lexer is done, the grammar is open.");
    desk.answer(Kind::Notes, calls(&[edit], 12_100));
    desk.answer(Kind::Conversation, says("I will.", 12_000));
    desk.session().turn().await.unwrap();
    desk.session().drive_background().await;
    assert_eq!(desk.taken().pop().map(|taken| taken.changed), Some(1));
    for part in 0..5 {
        let said = format!("Part {part}: {}", "a few more words ".repeat(600));
        desk.exchange(&said, 12_100 + part * 100).await;
    }
    desk
}

#[tokio::test]
async fn s7_boundary_notes_kept_messages_and_attachments_stand_for_the_conversation() {
    let mut desk = noted_and_continued().await;
    let request = CompactRequest::default();
    let done = desk.session().compact(request).await.unwrap();
    let CompactOutcome::Done(done) = done else {
        panic!("{done:?}");
    };
    assert_eq!((done.by, done.usage), (Summarizer::Notes, None));
    assert_eq!(desk.asked(Kind::Summaries), Vec::<String>::new());
    let text = std::fs::read_to_string(desk.folder.path().join("session.jsonl")).unwrap();
    let lines: Vec<Value> = (text.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let boundary = lines
        .iter()
        .position(|line| line["subtype"] == "compact_boundary")
        .unwrap();
    let [boundary, summary, attached] = &lines[boundary..boundary + 3] else {
        panic!("{text}");
    };
    assert_eq!(summary["isCompactSummary"], true);
    let summary_text = summary["message"]["content"].as_str().unwrap();
    assert!(summary_text.contains("The lexer is done, the grammar is open."));
    assert_eq!(attached["attachment"]["type"], "file");
    let segment = &boundary["compactMetadata"]["preservedSegment"];
    assert_eq!(segment["anchorUuid"], summary["uuid"]);
    let first_kept = lines.iter().find(|line| {
        let said = line["message"]["content"].as_str();
        said.is_some_and(|said| said.starts_with("Part 0:"))
    });
    assert_eq!(segment["headUuid"], first_kept.unwrap()["uuid"]);

    desk.exchange("And now?", 9_000).await;
    let sent = desk.asked(Kind::Conversation).pop().unwrap();
    let at = |part: &str| {
        let at = sent.find(part);
        at.unwrap_or_else(|| panic!("{part} is not in {sent}"))
    };
    let order = [
        "The lexer is done, the grammar is open.",
        "Part 0: a few",
        "Part 4: a few",
        "fn lexer() {}",
        "And now?",
    ];
    assert!(order.map(at).is_sorted(), "{sent}");
    assert!(
        sent.contains("Never use regexes."),
        "what the user said is kept"
    );
    assert!(!sent.contains("an old line"), "{sent}");
}
