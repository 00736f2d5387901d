//! One example for each rule of rendering, small enough to be read.

use longhaul_core::message::{Entry, Id};
use longhaul_core::normalize::{RenderOptions, Rendering};
use serde_json::{Value, json};

use super::world::{BETAS, entry, parsed, rendered};

pub(crate) fn user(uuid: &str, content: Value) -> Value {
    json!({"uuid": uuid, "type": "user", "message": {"role": "user", "content": content}})
}

pub(crate) fn reply(uuid: &str, id: &str, content: Value) -> Value {
    json!({"uuid": uuid, "type": "assistant", "message": {"id": id, "model": "claude-opus-5", "role": "assistant", "content": content}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {}})
}

fn result(id: &str, content: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

fn thought(n: u8) -> Value {
    json!({"type": "thinking", "thinking": format!("thought {n}"), "signature": "c2ln"})
}

fn said(role: &str, content: Value) -> Value {
    json!({"role": role, "content": content})
}

fn plain(lines: &[Value]) -> Value {
    rendered(RenderOptions::default(), lines)
}

/// Pushed one by one; a null seals.
fn pushed(lines: &[Value]) -> Value {
    let mut rendering = Rendering::begin(RenderOptions::default(), []);
    for line in lines {
        match line {
            Value::Null => rendering.seal(),
            line => rendering.push(entry(line).view()),
        }
    }
    rendering.seal();
    parsed(&rendering)
}

fn unanswered(id: &str) -> Value {
    let text = include_str!("../../../../longhaul-core/src/normalize/fragments/unanswered.txt");
    json!({"type": "tool_result", "tool_use_id": id, "content": text.trim_end(), "is_error": true})
}

#[test]
fn z1_consecutive_user_entries_are_one_message_and_strings_are_text_blocks() {
    let sent = plain(&[
        user("1", json!("one")),
        user("2", json!([text("two"), text(" ")])),
        reply("3", "m", json!("three")),
    ]);
    assert_eq!(
        sent,
        json!([
            said("user", json!([text("one"), text("two")])),
            said("assistant", json!([text("three")]))
        ])
    );
}

#[test]
fn z1_notices_progress_and_errors_are_not_sent() {
    let error = json!({"uuid": "2", "type": "assistant", "isApiErrorMessage": true, "message": {"id": "e", "model": "<synthetic>", "content": [text("API error")]}});
    let sent = plain(&[
        user("1", json!("one")),
        error,
        json!({"uuid": "3", "type": "system", "content": "x"}),
        json!({"uuid": "4", "type": "progress"}),
        json!({"type": "summary", "summary": "x"}),
        json!({"uuid": "5", "type": "attachment", "attachment": {"type": "hook_cancelled"}}),
    ]);
    assert_eq!(sent, json!([said("user", json!([text("one")]))]));
}

#[test]
fn z1_an_attachment_joins_the_user_message_as_a_reminder_behind_the_results() {
    let sent = plain(&[
        user("1", json!("go")),
        reply("2", "m", json!([call("t")])),
        json!({"uuid": "3", "type": "attachment", "attachment": {"type": "date_change", "newDate": "2026-11-20"}}),
        user("4", json!([result("t", "found")])),
    ]);
    let reminder = text("<system-reminder>\nThe date is now 2026-11-20.\n</system-reminder>");
    assert_eq!(
        sent[2],
        said("user", json!([result("t", "found"), reminder]))
    );
}

#[test]
fn m6_lines_of_one_response_are_one_message_though_results_stand_between() {
    let lines = [
        user("1", json!("go")),
        reply("2", "m", json!([call("a")])),
        user("3", json!([result("a", "1")])),
        reply("4", "m", json!([call("b")])),
        user("5", json!([result("b", "2")])),
    ];
    let sent = json!([
        said("user", json!([text("go")])),
        said("assistant", json!([call("a"), call("b")])),
        said("user", json!([result("a", "1"), result("b", "2")]))
    ]);
    assert_eq!(plain(&lines), sent);
    assert_eq!(pushed(&lines), sent);
}

#[test]
fn z2_in_a_history_late_lines_and_results_go_where_they_belong_and_the_first_result_counts() {
    let sent = plain(&[
        user("1", json!("go")),
        reply("2", "m1", json!([text("first"), call("a")])),
        reply("3", "m2", json!([text("second")])),
        user("4", json!([result("a", "1"), text("and")])),
        user("5", json!([result("a", "2"), result("gone", "3")])),
        reply("6", "m1", json!([call("b")])),
        user("7", json!([result("b", "4")])),
    ]);
    assert_eq!(
        sent,
        json!([
            said("user", json!([text("go")])),
            said("assistant", json!([text("first"), call("a"), call("b")])),
            said("user", json!([result("a", "1"), result("b", "4")])),
            said("assistant", json!([text("second")])),
            said("user", json!([text("and")])),
        ])
    );
}

#[test]
fn z2_a_call_without_a_result_gets_one_that_says_so() {
    let lines = [
        user("1", json!("go")),
        reply("2", "m", json!([call("a")])),
        reply("3", "n", json!([text("on")])),
    ];
    let sent = json!([
        said("user", json!([text("go")])),
        said("assistant", json!([call("a")])),
        said("user", json!([unanswered("a")])),
        said("assistant", json!([text("on")]))
    ]);
    assert_eq!(plain(&lines), sent);
    assert_eq!(pushed(&lines), sent);
}

#[test]
fn b1_a_result_that_comes_after_a_synthetic_one_was_sent_is_a_reminder() {
    let sent = pushed(&[
        user("1", json!("go")),
        reply("2", "m", json!([call("a")])),
        Value::Null,
        user("3", json!([result("a", "late words"), text("well?")])),
    ]);
    let reminder = "<system-reminder>\nThe call a had been answered already when this result for it arrived:\n> late words\n</system-reminder>";
    assert_eq!(
        sent[2],
        said(
            "user",
            json!([unanswered("a"), text(reminder), text("well?")])
        )
    );
}

#[test]
fn b1_a_late_line_of_an_earlier_response_is_a_message_of_its_own_without_its_thinking() {
    let sent = pushed(&[
        user("1", json!("go")),
        reply("2", "m", json!([text("one")])),
        reply("3", "n", json!([text("two")])),
        reply("4", "m", json!([thought(1), text("three")])),
    ]);
    assert_eq!(sent[3], said("assistant", json!([text("three")])));
}

#[test]
fn z1_a_response_that_only_thinks_is_held_back_at_the_end_and_dropped_before_another() {
    let thinks = reply("2", "m", json!([thought(1)]));
    let go = said("user", json!([text("go")]));
    assert_eq!(
        plain(&[user("1", json!("go")), thinks.clone()]),
        json!([go])
    );
    let sent = pushed(&[
        user("1", json!("go")),
        thinks.clone(),
        Value::Null,
        user("3", json!("on")),
    ]);
    assert_eq!(
        sent,
        json!([
            go,
            said("assistant", json!([thought(1)])),
            said("user", json!([text("on")]))
        ])
    );
    let sent = pushed(&[
        user("1", json!("go")),
        thinks,
        reply("3", "n", json!([text("on")])),
    ]);
    assert_eq!(sent, json!([go, said("assistant", json!([text("on")]))]));
}

#[test]
fn n2_thinking_is_stripped_up_to_an_entry_and_no_further() {
    let lines = [
        user("1", json!("go")),
        reply("2", "m", json!([thought(1)])),
        user("3", json!("on")),
        reply("4", "n", json!([thought(2), text("a")])),
        user("5", json!("on")),
        reply("6", "o", json!([thought(3), text("b")])),
    ];
    let stripped = |uuid: &str| RenderOptions {
        thinking_stripped_through: Some(Id::of(uuid)),
        ..RenderOptions::default()
    };
    let sent = rendered(stripped("5"), &lines);
    assert_eq!(
        sent,
        json!([
            said("user", json!([text("go"), text("on")])),
            said("assistant", json!([text("a")])),
            said("user", json!([text("on")])),
            said("assistant", json!([thought(3), text("b")])),
        ])
    );
    assert_eq!(rendered(stripped("elsewhere"), &lines), plain(&lines));
}

#[test]
fn a4_the_user_context_comes_first_and_a_user_message_is_made_for_it() {
    let options = || RenderOptions {
        user_context: Some("context".into()),
        ..RenderOptions::default()
    };
    let sent = rendered(options(), &[user("1", json!("go"))]);
    assert_eq!(
        sent,
        json!([said("user", json!([text("context"), text("go")]))])
    );
    let words = reply("1", "m", json!("words"));
    let sent = rendered(options(), std::slice::from_ref(&words));
    assert_eq!(sent[0], said("user", json!([text("context")])));
    let placeholder =
        include_str!("../../../../longhaul-core/src/normalize/fragments/placeholder.txt");
    assert_eq!(
        plain(&[words])[0],
        said("user", json!([text(placeholder.trim_end())]))
    );
    assert_eq!(rendered(options(), &[]), json!([]));
}

#[test]
fn n3_a_signed_summary_stays_first_to_the_byte_and_the_context_follows_in_the_next_user_message() {
    let raw =
        r#"{"type":"compaction", "content":"summary","encrypted_content":null,"signature":"s"}"#;
    let line = format!(
        r#"{{"uuid":"1","type":"assistant","message":{{"id":"m","model":"x","content":[{raw}]}}}}"#
    );
    let entries = [
        entry(line),
        entry(reply("2", "n", json!([call("a")]))),
        entry(user("3", json!([result("a", "1")]))),
        entry(user("4", json!("go"))),
    ];
    let begin = |betas: &[&str]| {
        let options = RenderOptions {
            user_context: Some("context".into()),
            betas: betas.iter().map(|beta| (*beta).to_owned()).collect(),
            ..RenderOptions::default()
        };
        let mut rendering = Rendering::begin(options, entries.iter().map(Entry::view));
        rendering.seal();
        rendering
    };
    let rendering = begin(&BETAS);
    let first = rendering.blocks()[0];
    assert_eq!(
        rendering.buffer().copy(first.start, first.end),
        raw.as_bytes()
    );
    let sent = parsed(&rendering);
    assert_eq!(
        sent[2],
        said(
            "user",
            json!([result("a", "1"), text("context"), text("go")])
        )
    );
    // Without the beta the API does not accept the block.
    let sent = parsed(&begin(&[]));
    assert_eq!(sent[0], said("user", json!([text("context")])));
    assert_eq!(sent[1]["content"][0]["type"], "text");
}

#[test]
fn u2_a_cleared_result_is_replaced_by_the_marker_and_its_call_stays() {
    let options = RenderOptions {
        cleared: vec![Id::of("a")],
        ..RenderOptions::default()
    };
    let sent = rendered(
        options,
        &[
            user("1", json!("go")),
            reply("2", "m", json!([call("a"), call("b")])),
            user("3", json!([result("a", "long"), result("b", "stays")])),
        ],
    );
    let marker = include_str!("../../../../longhaul-core/src/normalize/fragments/cleared.txt");
    assert_eq!(sent[1]["content"], json!([call("a"), call("b")]));
    assert_eq!(
        sent[2]["content"],
        json!([result("a", marker.trim_end()), result("b", "stays")])
    );
}

#[test]
fn b3_results_carry_what_cache_edits_refer_to() {
    let options = RenderOptions {
        cache_references: true,
        ..RenderOptions::default()
    };
    let sent = rendered(
        options,
        &[
            user("1", json!("go")),
            reply("2", "m", json!([call("a"), call("b")])),
            user("3", json!([result("a", "1")])),
        ],
    );
    let references: Vec<&Value> = sent[2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| &block["cache_reference"])
        .collect();
    assert_eq!(references, ["a", "b"]);
}

#[test]
fn z3_ids_and_names_of_other_providers_are_made_to_fit_and_stay_a_pair() {
    let odd = json!({"type": "tool_use", "id": "call|1", "name": "files.read", "input": "x"});
    let lines = [user("1", json!("go")), reply("2", "m", json!([odd]))];
    let mut rendering = Rendering::begin(RenderOptions::default(), []);
    lines
        .iter()
        .for_each(|line| rendering.push(entry(line).view()));
    assert_eq!(
        rendering.open_calls(),
        ["call|1"],
        "as the transcript has it"
    );
    rendering.push(entry(user("3", json!([result("call|1", "found")]))).view());
    assert!(rendering.open_calls().is_empty());
    rendering.seal();
    let sent = parsed(&rendering);
    let made = &sent[1]["content"][0];
    assert_eq!(
        (&made["name"], &made["input"]),
        (&json!("files_read"), &json!({"input": "x"}))
    );
    assert_eq!(sent[2]["content"][0]["tool_use_id"], made["id"]);
}

#[test]
fn z3_tools_of_the_servers_side_stay_pairs_and_what_is_left_over_becomes_text() {
    let asked =
        |id: &str| json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}});
    let found =
        |id: &str| json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []});
    let sent = plain(&[
        user("1", json!("go")),
        reply(
            "2",
            "m",
            json!([
                asked("srvtoolu_1"),
                found("srvtoolu_1"),
                found("srvtoolu_2"),
                asked("srvtoolu_3")
            ]),
        ),
    ]);
    let kinds: Vec<&Value> = sent[1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| &block["type"])
        .collect();
    assert_eq!(
        kinds,
        ["server_tool_use", "web_search_tool_result", "text", "text"]
    );
}

#[test]
fn z3_stored_markers_and_unknown_fields_are_left_out_and_all_else_is_kept_to_the_byte() {
    let raw = r#"{"uuid":"1","type":"user","message":{"content":[{"type" : "text","text":"\u0061"},{"type":"text","cache_control":{"type":"ephemeral"},"text":"b","note":1}]}}"#;
    let mut rendering = Rendering::begin(RenderOptions::default(), [entry(raw).view()]);
    rendering.seal();
    let sent = super::world::messages(&rendering);
    assert_eq!(
        sent,
        r#"{"role":"user","content":[{"type" : "text","text":"\u0061"},{"type":"text","text":"b"}]}"#
    );
}
