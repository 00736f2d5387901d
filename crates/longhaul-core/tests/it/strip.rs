//! Tests what a plain request for a summary leaves out.

use bytes::Bytes;
use longhaul_core::message::{BlockKind, Entry};
use longhaul_core::summary::{DOCUMENT, IMAGE, StrippedEntry, strip};
use serde_json::{Value, json};

fn entry(line: &str) -> Entry {
    Entry::read(Bytes::copy_from_slice(line.as_bytes())).unwrap()
}

fn stripped(value: Value) -> StrippedEntry {
    strip(entry(&value.to_string()).view())
}

fn rewritten(line: &str) -> Value {
    let StrippedEntry::Rewritten(line) = strip(entry(line).view()) else {
        panic!("{line} is rewritten");
    };
    let read = Entry::read(line.clone()).unwrap();
    let media = [BlockKind::Image, BlockKind::Document];
    assert!(
        !read
            .facets()
            .blocks
            .iter()
            .any(|block| media.contains(&block.kind))
    );
    serde_json::from_slice(&line).unwrap_or_default()
}

#[test]
fn f3_pictures_and_documents_become_text_also_inside_results() {
    let image = json!({"type": "image", "source": {"type": "base64", "data": "aaaa"}});
    let document =
        json!({"type": "document", "source": {"type": "text", "data": "bbbb"}, "title": "T"});
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "see"}, image, document]});
    let line = json!({"type": "user", "uuid": "1", "message": {"role": "user", "content": [result, image, {"type": "text", "text": "this"}]}, "odd": [1]});
    let now = rewritten(&line.to_string());
    let content = &now["message"]["content"];
    assert_eq!(content[0]["content"][0]["text"], "see");
    assert_eq!(
        content[0]["content"][1],
        json!({"type": "text", "text": IMAGE})
    );
    assert_eq!(
        content[0]["content"][2],
        json!({"type": "text", "text": DOCUMENT})
    );
    assert_eq!(content[1], json!({"type": "text", "text": IMAGE}));
    assert_eq!(content[2]["text"], "this");
    assert_eq!(now["odd"], json!([1]), "the rest stays as it was");
}

#[test]
fn f3_lines_that_a_tree_could_not_hold_are_stripped_too() {
    let deep = format!("{}{}", "[".repeat(900), "]".repeat(900));
    let line = format!(
        r#"{{"type":"user","uuid":"1","deep":{deep},"message":{{"content":[ {{"type":"image","source":{{}}}} ,{{"type":"text","text":"\ud800"}}]}}}}"#
    );
    rewritten(&line);
}

#[test]
fn f3_lists_of_skills_are_dropped_and_other_attachments_stay() {
    let attachment = |value: Value| json!({"type": "attachment", "uuid": "1", "attachment": value});
    for kind in ["skill_discovery", "skill_listing"] {
        assert_eq!(
            stripped(attachment(json!({"type": kind, "content": "x"}))),
            StrippedEntry::Dropped
        );
    }
    for kept in [
        json!({"type": "todo", "content": []}),
        json!({"type": "file", "filename": "a.rs", "content": {"type": "text", "file": {}}}),
    ] {
        assert_eq!(stripped(attachment(kept)), StrippedEntry::AsIs);
    }
    let picture = attachment(
        json!({"type": "file", "filename": "a.png", "content": {"type": "image", "file": {"base64": "aaaa"}}}),
    );
    let now = rewritten(&picture.to_string());
    assert_eq!(now["attachment"]["filename"], "a.png");
    assert_eq!(now["attachment"]["content"]["text"], IMAGE);
}

#[test]
fn f3_an_entry_without_pictures_is_sent_as_it_is() {
    let line =
        json!({"type": "user", "uuid": "1", "message": {"content": "no \"type\":\"image\" here"}});
    assert_eq!(stripped(line), StrippedEntry::AsIs);
}

#[test]
fn f3_no_picture_of_a_real_session_is_left() {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return;
    };
    let mut rewritten_lines = 0;
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for line in bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let entry = Entry::read(Bytes::copy_from_slice(line)).unwrap();
            if let StrippedEntry::Rewritten(line) = strip(entry.view()) {
                rewritten_lines += 1;
                let now = Entry::read(line).unwrap();
                assert_eq!(strip(now.view()), StrippedEntry::AsIs);
                assert_eq!(now.facets().blocks.len(), entry.facets().blocks.len());
            }
        }
    }
    println!("{rewritten_lines} lines with pictures or documents");
}
