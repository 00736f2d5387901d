//! Earlier requests: what the model saw when it gave a response.

use longhaul_testkit::SessionSpec;
use longhaul_testkit::session::{CompactionSchedule, KeptRounds};
use serde_json::Value;

use super::{adds_up, json};
use crate::support::{Finish, World};

fn has_note(list: &Value, note: &str) -> bool {
    let items = list["items"].as_array().unwrap();
    items
        .iter()
        .any(|item| item["notes"].as_array().unwrap().contains(&note.into()))
}

#[test]
fn m5_turns_on_both_sides_of_a_compaction_see_what_was_there_then() {
    let world = World::new();
    let spec = SessionSpec::new(11, 24)
        .compaction(CompactionSchedule::EveryRounds(9))
        .kept(KeptRounds::AfterSummary);
    let session = spec.generate();
    let file = world.write("s.jsonl", &session.bytes);
    let report = world.inspect(&session.bytes).json();
    let turns = report["turns"].as_array().unwrap();
    let boundaries: Vec<u64> = (report["boundaries"].as_array().unwrap().iter())
        .map(|boundary| boundary["line"].as_u64().unwrap())
        .collect();
    assert!(boundaries.len() >= 2);
    let mut tokens = Vec::new();
    for (number, turn) in (1..).zip(turns) {
        let list = json(&world, &file, &["--turn", &number.to_string()], 0);
        adds_up(&list);
        assert_eq!(list["turn"], number);
        assert_eq!(list["turns"], turns.len());
        assert_eq!(list["model"], turn["model"]);
        assert_eq!(list["request"], "ready");
        let compacted = boundaries
            .iter()
            .any(|line| *line < turn["line"].as_u64().unwrap());
        assert_eq!(has_note(&list, "summary"), compacted, "turn {number}");
        tokens.push(list["tokens"].as_u64().unwrap());
    }
    // The list grows from turn to turn, except where the conversation was compacted.
    let shrinks = tokens.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert_eq!(shrinks, boundaries.len(), "{tokens:?}");
    let last = json(&world, &file, &["--turn", "-1"], 0);
    assert_eq!(last["turn"], turns.len());
}

#[test]
fn u2_a_clearing_shows_from_the_turn_behind_it_on() {
    let line = |value: Value| format!("{value}\n");
    let entry = |uuid: &str, parent: &str, more: Value| {
        let parent = Some(parent).filter(|parent| !parent.is_empty());
        let mut entry = serde_json::json!({"uuid": uuid, "parentUuid": parent, "isSidechain": false, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"});
        entry
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        line(entry)
    };
    let user = |content: Value| serde_json::json!({"type": "user", "message": {"role": "user", "content": content}});
    let reply = |id: &str, content: Value| serde_json::json!({"type": "assistant", "message": {"id": id, "model": "claude-opus-4-8", "role": "assistant", "content": [content]}});
    let text = serde_json::json!({"type": "text", "text": "done"});
    let file = [
        entry("1", "", user("Read a.".into())),
        entry(
            "2",
            "1",
            reply(
                "m1",
                serde_json::json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {}}),
            ),
        ),
        entry(
            "3",
            "2",
            user(
                serde_json::json!([{"type": "tool_result", "tool_use_id": "t1", "content": "the secret"}]),
            ),
        ),
        entry("4", "3", reply("m2", text.clone())),
        entry("5", "4", user("Go on.".into())),
        entry(
            "6",
            "5",
            serde_json::json!({"type": "system", "subtype": "microcompact_boundary", "microcompactMetadata": {"compactedToolIds": ["t1"]}}),
        ),
        entry("7", "6", reply("m3", text)),
    ];
    let world = World::new();
    let file = world.write("s.jsonl", file.concat());
    assert!(!has_note(
        &json(&world, &file, &["--turn", "2"], 0),
        "cleared"
    ));
    let list = json(&world, &file, &["--turn", "3"], 0);
    assert!(has_note(&list, "cleared"));
    assert_eq!(list["items"][2]["name"], "Read");
    let mut command = world.longhaul(["show", "--request", "--turn", "3"]);
    let body = command.arg(&file).finish().ends(0).out;
    assert!(!body.contains("the secret"), "{body}");
}
