//! Tests the text that the model gets for each type of attachment (Z1), as one text to read through.
//!
//! After a change of wording, run `LONGHAUL_BLESS=1 cargo test -p longhaul-core --test it attachments`, and read the
//! diff.

use std::path::Path;

use longhaul_core::message::Entry;
use longhaul_core::normalize::{RenderOptions, Rendering};
use serde_json::{Value, json};

/// Returns one attachment of each type, and some that lack the fields of their family.
pub(crate) fn attachments() -> Vec<Value> {
    vec![
        json!({"type": "file", "filename": "/srv/a.rs", "content": {"type": "text", "file": {"filePath": "/srv/a.rs", "content": "fn main() {}\n"}}}),
        json!({"type": "file", "filename": "/srv/a.png", "content": {"type": "image", "file": {"base64": "AAAA", "type": "image/png"}}}),
        json!({"type": "file", "filename": "/srv/a.pdf", "content": {"type": "pdf", "file": {"filePath": "/srv/a.pdf", "base64": "AAAA"}}}),
        json!({"type": "already_read_file", "filename": "/srv/b.rs", "content": "words"}),
        json!({"type": "edited_text_file", "filename": "/srv/a.rs", "snippet": "1\tfn main() { run() }"}),
        json!({"type": "compact_file_reference", "filename": "/srv/long.rs"}),
        json!({"type": "directory", "path": "/srv", "content": "a.rs\nb.rs"}),
        json!({"type": "opened_file_in_ide", "filename": "/srv/a.rs"}),
        json!({"type": "selected_lines_in_ide", "filename": "/srv/a.rs", "lineStart": 3, "lineEnd": 4, "content": "let a = 1;"}),
        json!({"type": "todo", "content": [{"content": "Write it", "status": "in_progress"}, {"content": "Test it", "status": "pending"}], "itemCount": 2, "context": "prompt"}),
        json!({"type": "todo", "content": [], "itemCount": 0, "context": "prompt"}),
        json!({"type": "task_reminder", "content": [{"id": "1", "subject": "Write it", "status": "done"}]}),
        json!({"type": "plan_file_reference", "planFilePath": "/srv/plan.md", "planContent": "1. Write it."}),
        json!({"type": "plan_mode", "planFilePath": "/srv/plan.md"}),
        json!({"type": "plan_mode", "content": "Plan first."}),
        json!({"type": "plan_mode_exit", "planFilePath": "/srv/plan.md"}),
        json!({"type": "task_status", "taskId": "a1", "description": "find callers", "status": "running", "deltaSummary": "3 found so far."}),
        json!({"type": "hook_additional_context", "hookName": "SessionStart:compact", "content": ["one", "two"]}),
        json!({"type": "hook_success", "hookName": "PreToolUse:Bash", "content": "checked"}),
        json!({"type": "hook_blocking_error", "hookName": "PreToolUse:Bash", "blockingError": {"blockingError": "not on Fridays", "command": "x"}}),
        json!({"type": "hook_non_blocking_error", "hookEvent": "Stop", "stderr": "no such file", "exitCode": 1}),
        json!({"type": "invoked_skills", "skills": [{"name": "release", "path": "skills/release", "content": "Tag first."}, {"name": "review", "content": "Read all."}]}),
        json!({"type": "skill_listing", "content": "- release: how to release"}),
        json!({"type": "skill_discovery", "skills": [{"name": "review", "description": "how to review"}]}),
        json!({"type": "nested_memory", "path": "/srv/sub/CLAUDE.md", "content": {"path": "/srv/sub/CLAUDE.md", "type": "Project", "content": "Use tabs."}}),
        json!({"type": "relevant_memories", "memories": [{"path": "m1.md", "content": "Port 8080."}]}),
        json!({"type": "critical_system_reminder", "content": "Never push."}),
        json!({"type": "queued_command", "prompt": "also the tests, {path}"}),
        json!({"type": "queued_command", "prompt": [{"type": "text", "text": "like this"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]}),
        json!({"type": "agent_mention", "agentType": "reviewer"}),
        json!({"type": "mcp_resource", "server": "docs", "uri": "docs://a", "content": {"contents": [{"text": "page"}]}}),
        json!({"type": "date_change", "newDate": "2026-11-20"}),
        json!({"type": "output_style", "style": "terse"}),
        json!({"type": "deferred_tools_delta", "addedNames": ["Web"], "addedLines": ["Web: reads pages"], "removedNames": []}),
        json!({"type": "agent_listing_delta", "addedTypes": ["reviewer"], "removedTypes": ["tester"]}),
        json!({"type": "mcp_instructions_delta", "addedNames": ["docs"], "addedBlocks": ["## docs\nAsk it."], "removedNames": []}),
        json!({"type": "todo", "content": "words"}),
        json!({"type": "made_up", "data": {"a": 1}}),
        json!({"no": "type"}),
    ]
}

/// Returns the blocks that an attachment becomes.
pub(crate) fn told(attachment: &Value) -> Vec<Value> {
    let line = json!({"uuid": "1", "type": "attachment", "attachment": attachment});
    let entry = Entry::read(line.to_string().into()).unwrap();
    let mut rendering = Rendering::begin(RenderOptions::default(), [entry.view()]);
    rendering.seal();
    let blocks = rendering.blocks().iter();
    blocks
        .map(|block| {
            serde_json::from_slice(&rendering.buffer().copy(block.start, block.end)).unwrap()
        })
        .collect()
}

#[test]
fn z1_each_type_of_attachment_is_told_in_these_words() {
    let mut text = String::new();
    for attachment in attachments() {
        for block in told(&attachment) {
            let body = match block["text"].as_str() {
                Some(said) => said
                    .strip_prefix("<system-reminder>\n")
                    .and_then(|said| said.strip_suffix("\n</system-reminder>"))
                    .expect("a reminder")
                    .to_owned(),
                None => block.to_string(),
            };
            let kind = attachment["type"].as_str().unwrap_or("-");
            text.push_str(&format!("=== {kind}\n{body}\n\n"));
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/attachments.txt");
    if std::env::var_os("LONGHAUL_BLESS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&file).unwrap_or_default());
}

#[test]
fn z1_every_fragment_is_short_and_ends_with_one_line_end() {
    let mut count = 0;
    for folder in [
        "src/normalize/fragments",
        "src/normalize/attachment/fragments",
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.len() <= 300, "{}", file.display());
            assert_eq!(text.trim_end().len() + 1, text.len(), "{}", file.display());
            count += 1;
        }
    }
    assert!(count > 30);
}

#[test]
fn r5_a_change_of_tools_agents_or_servers_has_a_heading_only_for_what_there_is() {
    let text = |attachment: Value| told(&attachment)[0]["text"].as_str().unwrap().to_owned();
    for (kind, added, removed) in [
        ("deferred_tools_delta", "addedNames", "removedNames"),
        ("agent_listing_delta", "addedTypes", "removedTypes"),
        ("mcp_instructions_delta", "addedNames", "removedNames"),
    ] {
        let came = text(json!({"type": kind, added: ["a one"], removed: []}));
        assert!(came.contains("\n> a one"), "{came}");
        assert!(!came.contains("Gone") && !came.contains("> -"), "{came}");
        let untold = text(json!({"type": kind, added: ["a one"]}));
        assert_eq!(untold, came, "no list is as good as an empty one");
        let went = text(json!({"type": kind, added: [], removed: ["a one"]}));
        assert!(went.contains("Gone:\n> a one"), "{went}");
        assert!(!went.contains("New") && !went.contains("> -"), "{went}");
    }
}
