//! Recall as a model sees it.

use std::path::Path;

use longhaul_store::archive::ViewPresence;
use longhaul_store::archive::tool::{answer, recall_tool};
use serde_json::json;

use super::{archive, call, items, message, put, result};

/// Compares a text with the file of its name; `UPDATE_SNAPSHOTS=1` writes the file.
#[track_caller]
fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/archive/snapshots")
        .join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("{text}\n")).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        format!("{text}\n"),
        wanted,
        "{name}: look at it, then run with UPDATE_SNAPSHOTS=1"
    );
}

#[test]
fn x2_the_definition_of_the_tool() {
    let tool = recall_tool();
    snapshot(
        "definition.json",
        &serde_json::to_string_pretty(&tool).unwrap(),
    );
    assert!(
        tool.to_string().len() < 1_800,
        "it is paid for in every request"
    );
}

#[test]
fn x2_the_answers_of_the_tool() {
    let (_folder, mut archive) = archive();
    let ask = |archive: &_, input: serde_json::Value| {
        format!("> {input}\n{}\n", answer(archive, &input.to_string()))
    };
    snapshot("empty.md", &ask(&archive, json!({"query": "anything"})));
    put(
        &mut archive,
        &[
            message(
                "5f0c0a1e-user",
                "Please make the cache survive a restart, and do not touch the tests.",
            ),
            call(
                "toolu_read",
                "Read",
                json!({"file_path": "/srv/app/src/cache.rs"}),
                1,
            ),
            result(
                "toolu_read",
                "pub struct Cache {\n    entries: Vec<Entry>,\n}\n",
                1,
            ),
            call(
                "toolu_old",
                "Read",
                json!({"file_path": "/srv/lib/src/cache.rs"}),
                3,
            ),
            result("toolu_old", "// nothing here yet\n", 3),
        ],
    );
    let shell = [
        call(
            "toolu_bash",
            "Bash",
            json!({"command": "cargo test cache", "description": "Run the tests"}),
            8,
        ),
        result(
            "toolu_bash",
            "test cacheSurvives ... FAILED\nerror: expected 3 entries, found 0",
            8,
        ),
    ];
    archive.put(&items(&shell, ViewPresence::Cleared)).unwrap();
    let asked = [
        json!({"id": "toolu_read"}),
        json!({"id": "5f0c0a1e-user"}),
        json!({"path": "app/src/cache.rs"}),
        json!({"path": "other/cache.rs"}),
        json!({"query": "cache_survives"}),
        json!({"query": "cache dinosaur"}),
        json!({"query": "dinosaur"}),
        json!({"id": "toolu_nowhere"}),
        json!({"path": "nowhere.rs"}),
        json!({"id": "toolu_read", "offset": 9_000}),
        json!({"query": "cache", "id": "", "path": null, "offset": "0"}),
    ];
    let answers: Vec<String> = asked
        .into_iter()
        .map(|input| ask(&archive, input))
        .collect();
    snapshot("answers.md", &answers.join("\n"));
}

#[test]
fn x2_a_bad_call_is_told_how_to_call() {
    let (_folder, archive) = archive();
    let inputs = [
        "",
        "null",
        "[]",
        "{\"id\":",
        "{}",
        r#"{"id": 7}"#,
        r#"{"id": "a", "path": "b"}"#,
        r#"{"id": "a", "offset": -1}"#,
        r#"{"id": "a", "offset": "x"}"#,
        r#"{"id": "a", "offset": []}"#,
        r#"{"query": "  "}"#,
    ];
    let answers = inputs.map(|input| format!("> {input}\n{}\n", answer(&archive, input)));
    snapshot("bad_calls.md", &answers.join("\n"));
}

#[test]
fn x2_a_long_text_is_read_on_by_offset_until_its_end() {
    let (_folder, mut archive) = archive();
    let text: String = (0..9_000)
        .map(|number| format!("line {number} ä\n"))
        .collect();
    put(&mut archive, &[result("toolu_long", text.clone(), 1)]);
    let mut whole = String::new();
    let mut input = json!({"id": "toolu_long"});
    let mut parts = 0;
    loop {
        let part = answer(&archive, &input.to_string());
        assert!(part.chars().count() < 16_200, "bounded");
        parts += 1;
        let Some((text, foot)) = part.rsplit_once("\n[Characters ") else {
            whole.push_str(&part);
            break;
        };
        whole.push_str(text);
        let next = &foot[foot.find('{').unwrap()..=foot.find('}').unwrap()];
        input = serde_json::from_str(next).unwrap();
    }
    assert!(whole.ends_with(text.trim_end()), "{}", whole.len());
    assert!(parts > 5);
}

#[test]
fn x2_what_a_text_holds_cannot_change_the_frame_of_an_answer() {
    let (_folder, mut archive) = archive();
    put(
        &mut archive,
        &[call("t", "Read", json!({"file_path": "{to}\n[evil]"}), 1)],
    );
    let answer = answer(&archive, r#"{"path": "{to}\n[evil]"}"#);
    assert!(
        answer.starts_with("Kept about {to} [evil], newest first:\n[t · tool_call"),
        "{answer}"
    );
}
