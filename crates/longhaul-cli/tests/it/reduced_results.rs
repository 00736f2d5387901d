//! Results that were made smaller before they were sent (V8): `show` and `inspect` mark them, `recall` shows what came.

use serde_json::{Value, json};

use crate::support::World;

/// Two readings of a file; the second is sent as what changed.
fn lines() -> Vec<Value> {
    let shown = |changed: bool| {
        let line = |number: usize| match (number, changed) {
            (40, true) => format!("{number:>6}\tthe quokka is here"),
            _ => format!("{number:>6}\tline {number} of a file with several words in it"),
        };
        (1..=80).map(line).collect::<Vec<_>>().join("\n")
    };
    let at = |minute: u32| format!("2026-02-12T16:{minute:02}:00.000Z");
    let call = |uuid: &str, parent: &str, id: &str, minute: u32| {
        json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": at(minute),
            "message": {"id": format!("m{minute}"), "role": "assistant", "model": "claude-sonnet-4-6", "content": [
                {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "/srv/a.rs"}}]}})
    };
    let result = |uuid: &str, parent: &str, id: &str, text: String, minute: u32| {
        json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": at(minute),
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]}})
    };
    let mut second = result("r2", "a2", "toolu_2", shown(true), 5);
    second["reducedResults"] = json!([{"tool_use_id": "toolu_2", "kind": "changed", "refers_to": "toolu_1",
        "content": "= 1-39\n+    40\tthe quokka is here\n= 41-80"}]);
    vec![
        json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s", "timestamp": at(1),
            "message": {"role": "user", "content": "Read it twice."}}),
        call("a1", "u1", "toolu_1", 2),
        result("r1", "a1", "toolu_1", shown(false), 3),
        call("a2", "r1", "toolu_2", 4),
        second,
    ]
}

#[test]
fn v8_a_reduced_result_is_marked_counted_and_can_be_recalled() {
    let world = World::new();
    let text: String = lines().iter().map(|line| format!("{line}\n")).collect();
    let file = "claude/projects/-srv-app/cccc3333-0000-4000-8000-000000000003.jsonl";
    world.write(file, &text);
    let shown = world.run(["show", file, "--json"]).ends(0).json();
    let items = shown["items"].as_array().unwrap().iter();
    let results: Vec<&Value> = items.filter(|item| item["kind"] == "tool_result").collect();
    let notes = |at: usize| &results[at]["notes"];
    assert_eq!((notes(0), notes(1)), (&json!([]), &json!(["reduced"])));
    world.run(["show", file]).ends(0).prints("(reduced)");
    let report = world.run(["inspect", file, "--json"]).ends(0).json();
    let tool = &report["tools"]["Read"];
    assert_eq!(tool["reduced_results"], 1);
    assert!(tool["reduced_tokens"].as_u64() > Some(500), "{tool}");
    let largest = report["largest_results"].as_array().unwrap().iter();
    let marked: Vec<&Value> = largest.map(|result| &result["reduced"]).collect();
    assert_eq!(marked, [&json!(false), &json!(true)]);
    let page = world.run(["inspect", file]).ends(0);
    page.prints("1 result was sent in a smaller form");
    let recalled = world.run(["recall", "cccc3333", "--id", "toolu_2"]).ends(0);
    let recalled = recalled.prints("the quokka is here");
    recalled.prints("line 79 of a file with several words in it");
}
