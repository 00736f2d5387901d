//! Files are restored as the history shows them.

use longhaul_core::economy::RESTORED_FILE;
use longhaul_gateway::manage::entries::ConversationEntries;
use longhaul_gateway::manage::history_files::HistoryFiles;
use longhaul_gateway::manage::{CompactableConversation, CompactorSettings};
use longhaul_provider::Dialect;
use serde_json::{Value, json};

use super::attempt::summarize;
use super::summaries::{SUMMARY, long, reply, run};
use super::{behind, settings, talk, text};

/// Calls and their results, one after the other.
fn calls(calls: &[(&str, Value, &str)]) -> Vec<Value> {
    let mut elements = vec![json!({"role": "user", "content": "Work on the files."})];
    for (number, (tool, input, result)) in calls.iter().enumerate() {
        let id = format!("toolu_{}_{number}", elements.len());
        let call = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": result});
        elements.push(json!({"role": "assistant", "content": [call]}));
        elements.push(json!({"role": "user", "content": [result]}));
    }
    elements
}

fn shown(talk: &CompactableConversation, path: &str) -> Result<String, &'static str> {
    let settings = settings(None);
    let read = ConversationEntries::of(talk, None, settings.now).unwrap();
    let files = HistoryFiles::of(&read.entries, &settings.tools);
    files.text(path.as_ref()).map(str::to_owned)
}

fn after(these: &[(&str, Value, &str)]) -> Result<String, &'static str> {
    shown(&talk(Dialect::Anthropic, &calls(these)), "/a.rs")
}

#[test]
fn r1_the_newest_whole_read_counts_and_edits_are_followed() {
    let read = || {
        let shown = "     1→fn a() {}\n     2→fn b() {}\n\n<system-reminder>\nmind it\n</system-reminder>\n";
        ("Read", json!({"file_path": "/a.rs"}), shown)
    };
    let whole = "fn a() {}\nfn b() {}\n";
    assert_eq!(after(&[read()]).unwrap(), whole);
    let part = (
        "Read",
        json!({"file_path": "/a.rs", "offset": 2, "limit": 1}),
        "     2→fn b() {}",
    );
    assert_eq!(after(&[read(), part.clone()]).unwrap(), whole);
    assert!(after(&[part]).is_err());
    let edit = |old: &str| {
        let input = json!({"file_path": "/a.rs", "old_string": old, "new_string": "fn c"});
        ("Edit", input, "done")
    };
    assert_eq!(
        after(&[read(), edit("fn b")]).unwrap(),
        "fn a() {}\nfn c() {}\n"
    );
    assert!(
        after(&[read(), edit("fn z")])
            .unwrap_err()
            .contains("changed")
    );
    let write = (
        "Write",
        json!({"file_path": "/a.rs", "content": "new\n"}),
        "done",
    );
    assert_eq!(after(&[read(), write.clone()]).unwrap(), "new\n");
    assert!(after(&[write]).is_err(), "it was not read");
    let stub = (
        "Read",
        json!({"file_path": "/a.rs"}),
        "File unchanged since last read.",
    );
    assert_eq!(after(&[read(), stub]).unwrap(), whole);
    for command in ["sed -i s/a/b/ a.rs", "echo 1 > a.rs"] {
        assert!(after(&[read(), ("Bash", json!({"command": command}), "")]).is_err());
    }
    let harmless = ("Bash", json!({"command": "cat a.rs"}), "fn a() {}");
    assert_eq!(after(&[read(), harmless]).unwrap(), whole);
    let patch = (
        "apply_patch",
        json!({"input": "*** Update File: a.rs\n-x\n+y"}),
        "done",
    );
    assert!(after(&[read(), patch]).is_err());
}

#[test]
fn r1_reads_of_other_agents_are_known() {
    for (tool, input) in [
        ("read", json!({"filePath": "/a.rs"})),
        ("read_file", json!({"path": "/a.rs"})),
        ("read_file", json!({"target_file": "/a.rs"})),
        ("read_file", json!({"absolute_path": "/a.rs"})),
        (
            "str_replace_based_edit_tool",
            json!({"command": "view", "path": "/a.rs"}),
        ),
        (
            "developer__text_editor",
            json!({"command": "view", "path": "/a.rs"}),
        ),
        ("Read", json!({"path": "/a.rs"})),
    ] {
        assert_eq!(
            after(&[(tool, input, "1\tx\n2\ty")]).unwrap(),
            "x\ny\n",
            "{tool}"
        );
    }
    let shown = "<path>/a.rs</path>\n<type>file</type>\n<content>\n1: x\n2: y\n\n";
    let read = |end: &str| {
        let shown = format!("{shown}{end}\n</content>");
        after(&[("read", json!({"filePath": "/a.rs"}), &shown)])
    };
    assert_eq!(read("(End of file - total 2 lines)").unwrap(), "x\ny\n");
    assert!(read("(Showing lines 1-2 of 9. Use offset=3 to continue.)").is_err());
    let view = ("read_file", json!({"file_path": "/a.rs"}), "1\tx\n2\tx");
    let replace = |places: u64| {
        let input = json!({"file_path": "/a.rs", "old_string": "x", "new_string": "z", "expected_replacements": places});
        after(&[view.clone(), ("replace", input, "ok")])
    };
    assert_eq!(replace(1).unwrap(), "z\nx\n");
    assert!(replace(2).is_err(), "it is not known which");
    let edit = json!({"command": "str_replace", "path": "/a.rs", "old_str": "x", "new_str": "z"});
    let view = json!({"command": "view", "path": "/a.rs"});
    let tool = "str_replace_based_edit_tool";
    assert_eq!(
        after(&[(tool, view, "1\tx"), (tool, edit, "ok")]).unwrap(),
        "z\n"
    );
}

#[test]
fn r1_files_come_back_with_the_summary_and_again_with_the_next() {
    let settings = settings(None);
    let mut elements = calls(&[
        (
            "read",
            json!({"filePath": "/src/kept.rs"}),
            "00001| const KEPT: u8 = 1;",
        ),
        (
            "Read",
            json!({"file_path": "/src/part.rs", "offset": 9}),
            "9\tx",
        ),
    ]);
    // Files that were read before five others are not restored.
    let mut before = long(1, 12);
    before.append(&mut elements);
    let given = || {
        Some(reply(
            SUMMARY,
            0,
            longhaul_core::summary::SummaryStop::Finished,
        ))
    };
    let first = run(summarize(
        &talk(Dialect::Anthropic, &before),
        given(),
        None,
        &settings,
    ));
    let first = first.unwrap();
    assert!(
        text(&first).contains("const KEPT: u8 = 1;"),
        "{}",
        text(&first)
    );
    let report: Value = serde_json::to_value(&first.report).unwrap();
    let notes = report["notes"].to_string();
    assert!(notes.contains("only a part of it was read"), "{notes}");
    // Nothing is read after that, and much is said.
    let mut said = Vec::new();
    for number in 0..40 {
        said.push(json!({"role": "assistant", "content": "well ".repeat(200)}));
        said.push(json!({"role": "user", "content": format!("and {number}?")}));
    }
    let next = behind(&first, Dialect::Anthropic, &said);
    let second = run(summarize(&next, given(), None, &settings)).unwrap();
    assert!(
        text(&second).contains("const KEPT: u8 = 1;"),
        "{}",
        text(&second)
    );
    assert_eq!(text(&second).matches("const KEPT: u8 = 1;").count(), 1);
}

#[test]
fn v5_x1_a_summary_that_pays_restores_small_files_and_names_the_large_ones() {
    let large = "const LARGE: u8 = 2;\n".repeat(400);
    let mut elements = long(1, 12);
    elements.extend(calls(&[
        ("read", json!({"filePath": "/src/large.rs"}), &large),
        (
            "read",
            json!({"filePath": "/src/small.rs"}),
            "const SMALL: u8 = 1;",
        ),
    ]));
    let paying = CompactorSettings {
        largest_file: Some(RESTORED_FILE),
        ..settings(None)
    };
    let given = reply(SUMMARY, 0, longhaul_core::summary::SummaryStop::Finished);
    let talk = talk(Dialect::Anthropic, &elements);
    let draft = run(summarize(&talk, Some(given), None, &paying)).unwrap();
    let text = text(&draft);
    assert!(text.contains("const SMALL: u8 = 1;"), "{text}");
    assert!(!text.contains("const LARGE"), "{text}");
    assert!(text.contains("/src/large.rs"), "{text}");
    let report: Value = serde_json::to_value(&draft.report).unwrap();
    let notes = report["notes"].to_string();
    assert!(notes.contains("/src/large.rs was not restored"), "{notes}");
}

#[test]
fn x1_files_that_other_agents_touched_are_named_with_what_was_done() {
    let editor = "str_replace_based_edit_tool";
    let mut elements = long(1, 12);
    elements.extend(calls(&[
        (
            editor,
            json!({"command": "view", "path": "/w/viewed.rs"}),
            "1\tx",
        ),
        (
            editor,
            json!({"command": "insert", "path": "/w/edited.rs", "insert_line": 1}),
            "ok",
        ),
        ("read_file", json!({"target_file": "/w/cursor.rs"}), "x"),
        (
            "write",
            json!({"filePath": "/w/new.rs", "content": "x"}),
            "ok",
        ),
    ]));
    let draft = run(summarize(
        &talk(Dialect::Anthropic, &elements),
        None,
        None,
        &settings(None),
    ));
    let text = text(&draft.unwrap());
    for (path, done) in [
        ("/w/viewed.rs", "read"),
        ("/w/edited.rs", "edited"),
        ("/w/cursor.rs", "read"),
        ("/w/new.rs", "as last changed"),
    ] {
        let told = text
            .lines()
            .any(|line| line.contains(path) && line.contains(done));
        assert!(told, "{path} {done} in {text}");
    }
}
