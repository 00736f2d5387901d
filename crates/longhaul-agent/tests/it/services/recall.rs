//! The recall tool.

use longhaul_agent::tool::{Tool, ToolAccess};
use longhaul_agent::tools::recall::RecallTool;
use serde_json::json;

use super::{run, text};

fn transcript(folder: &std::path::Path) -> std::path::PathBuf {
    let path = folder.join("5f0c0a1e-0000-4000-8000-000000000001.jsonl");
    let lines = [
        json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": "user", "content": "Where is the turbine setting?"}}),
        json!({"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "timestamp": "2026-01-01T00:00:01Z",
            "message": {"role": "assistant", "id": "m1", "content": [
                {"type": "tool_use", "id": "toolu_read", "name": "Read", "input": {"file_path": "/srv/turbine.toml"}}]}}),
        json!({"type": "user", "uuid": "u3", "parentUuid": "u2", "sessionId": "s", "timestamp": "2026-01-01T00:00:02Z",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_read", "content": "blades = 7"}]}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    path
}

#[tokio::test]
async fn x2_what_a_transcript_holds_is_found_by_id_path_and_words() {
    let folder = tempfile::tempdir().unwrap();
    let tool = RecallTool::new(
        folder.path().join("session/archive.db"),
        transcript(folder.path()),
    );
    assert_eq!(tool.name(), "recall");
    assert_eq!(tool.access(&json!({})), ToolAccess::Nothing);
    for input in [
        json!({"id": "toolu_read"}),
        json!({"path": "/srv/turbine.toml"}),
        json!({"query": "blades"}),
    ] {
        let output = run(&tool, input.clone()).await;
        assert!(!output.is_error, "{input}");
        assert!(
            text(&output).contains("blades"),
            "{input}: {}",
            text(&output)
        );
        assert!(!tool.line(&input).is_empty());
    }
}

#[tokio::test]
async fn x2_a_session_without_a_transcript_or_an_archive_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = RecallTool::new(
        folder.path().join("a/archive.db"),
        folder.path().join("none.jsonl"),
    );
    let output = run(&nothing, json!({"query": "anything"})).await;
    assert!(!output.is_error);
    for input in [json!({}), json!(null), json!([1])] {
        run(&nothing, input).await;
    }
    std::fs::write(folder.path().join("file"), "in the way").unwrap();
    let blocked = RecallTool::new(
        folder.path().join("file/archive.db"),
        transcript(folder.path()),
    );
    assert!(run(&blocked, json!({"query": "anything"})).await.is_error);
}

#[tokio::test]
async fn x2_a_damaged_archive_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive.db");
    std::fs::write(
        &archive,
        "this is no database, and long enough to be looked at as one".repeat(20),
    )
    .unwrap();
    let tool = RecallTool::new(archive, transcript(folder.path()));
    let output = run(&tool, json!({"query": "blades"})).await;
    assert!(
        text(&output).contains("blades = 7") || text(&output).contains("toolu_read"),
        "{}",
        text(&output)
    );
}
