//! What is in a request, and what must be on disk before it.

use bytes::Bytes;
use longhaul_core::message::{Entry, EntryKind};
use longhaul_core::models::ThinkingBinding;
use longhaul_core::prompt::{
    NewEntryStamp, PrefixReason, PriorRendering, PushOutcome, RenderingStart, RequestAssembly,
    RequestKind, RequestNotReady, RequestPrefix, Ttl,
};
use longhaul_sim::call::ApiCall;
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::world::{World, WorldOptions};
use longhaul_store::{Durability, TranscriptWriter, resume};
use serde_json::{Value, json};

use crate::host::{head, raw, text};

const MODEL: &str = "claude-opus-4-8";
const MAIN: RequestKind<'static> = RequestKind::Main;

fn birth() -> NewEntryStamp<'static> {
    NewEntryStamp {
        session_id: "s",
        uuid: "synthetic",
        parent: Some("a1"),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn entry(line: &Value) -> Entry {
    Entry::read(Bytes::from(line.to_string())).unwrap()
}

fn user(uuid: &str, content: Value) -> Entry {
    entry(&json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}}))
}

fn reply(uuid: &str, content: Value) -> Entry {
    let message = json!({"id": format!("msg-{uuid}"), "model": MODEL, "role": "assistant", "content": content});
    entry(&json!({"type": "assistant", "uuid": uuid, "message": message}))
}

fn thought(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": "c2ln"})
}

fn begin(
    before: PriorRendering<'_>,
    head: RequestPrefix,
    binding: ThinkingBinding,
    history: &[Entry],
) -> RequestAssembly {
    let beginning = RenderingStart {
        before,
        head,
        reason: PrefixReason::First,
        binding,
    };
    let mut assembly = RequestAssembly::begin(beginning, history.iter().map(Entry::view));
    let entries = assembly.entries_before_request(birth()).unwrap();
    assembly.persisted(&entries).unwrap();
    assembly
}

/// A conversation of one turn, and the next question.
fn talk() -> Vec<Entry> {
    let calls: Vec<Value> = (0..3)
        .map(|n| json!({"type": "tool_use", "id": format!("t{n}"), "name": "Read", "input": {"path": "x"}}))
        .collect();
    let results: Vec<Value> = (0..3)
        .map(|n| json!({"type": "tool_result", "tool_use_id": format!("t{n}"), "content": "text of x"}))
        .collect();
    vec![
        user("u1", json!("Read x thrice.")),
        reply("a1", json!(calls)),
        user("u2", json!(results)),
        reply("a2", json!([thought("hm"), text("It is empty.", None)])),
        user("u3", json!("Thanks. And y?")),
    ]
}

fn body(assembly: &mut RequestAssembly, kind: RequestKind<'_>) -> Value {
    serde_json::from_slice(&assembly.request(kind, None).unwrap().to_vec()).unwrap()
}

fn markers(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(markers).sum(),
        Value::Object(fields) => {
            usize::from(fields.contains_key("cache_control"))
                + fields.values().map(markers).sum::<usize>()
        }
        _ => 0,
    }
}

#[test]
fn b1_a_request_is_the_head_the_messages_and_nothing_else() {
    let head = head(MODEL, Some(Ttl::OneHour), "b1");
    let mut assembly = begin(
        PriorRendering::None,
        head.clone(),
        ThinkingBinding::None,
        &talk(),
    );
    let body = body(&mut assembly, MAIN);
    let names: Vec<&str> = body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    assert_eq!(body["stream"], true);
    assert_eq!(body["model"], MODEL);
    assert_eq!(
        body["system"],
        serde_json::from_str::<Value>(head.system.get()).unwrap()
    );
    assert_eq!(
        body["tools"],
        serde_json::from_str::<Value>(head.tools.get()).unwrap()
    );
    assert_eq!(body["messages"].as_array().unwrap().len(), 5);
    assert_eq!(markers(&body), 3);
    let last = body["messages"][4]["content"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(last, text("Thanks. And y?", Some(Ttl::OneHour)));
}

#[test]
fn b1_requests_of_one_rendering_begin_with_the_bytes_of_the_one_before() {
    let head = head(MODEL, None, "b1");
    let mut assembly = begin(PriorRendering::None, head, ThinkingBinding::None, &[]);
    let mut before = Vec::new();
    for entry in talk() {
        assert_eq!(assembly.push(entry.view()), PushOutcome::Pushed);
        if let Ok(request) = assembly.request(MAIN, None) {
            let bytes = request.to_vec();
            assert!(bytes.starts_with(before.strip_suffix(b"]}]}").unwrap_or_default()));
            before = bytes;
        }
    }
    assert!(!before.is_empty());
}

#[test]
fn b2_never_more_than_four_markers_whatever_the_head_bears() {
    for count in 0..=4 {
        for long in [false, true] {
            let system: Vec<Value> = (0..5)
                .map(|n| text("You are of use.", (n < count).then_some(Ttl::FiveMinutes)))
                .collect();
            let mut custom = head(MODEL, Some(Ttl::FiveMinutes), "b2");
            custom.system = raw(&json!(system));
            let mut history = talk();
            if long {
                let many: Vec<Value> = (0..30).map(|n| text(&format!("say {n}"), None)).collect();
                history[3] = reply("a2", json!(many));
            }
            let mut assembly = begin(
                PriorRendering::None,
                custom,
                ThinkingBinding::None,
                &history,
            );
            let found = markers(&body(&mut assembly, MAIN));
            let wanted = (count + if long { 2 } else { 1 }).min(4);
            assert_eq!(found, wanted, "{count} in the head, long {long}");
        }
    }
}

#[test]
fn b2_messages_live_no_longer_than_the_head_before_them() {
    let mut custom = head(MODEL, Some(Ttl::OneHour), "b2");
    custom.system = raw(&json!([text("Short-lived.", Some(Ttl::FiveMinutes))]));
    let mut assembly = begin(PriorRendering::None, custom, ThinkingBinding::None, &talk());
    let body = body(&mut assembly, MAIN);
    assert_eq!(body.to_string().matches("\"1h\"").count(), 0);
    assert_eq!(markers(&body), 2);
}

#[test]
fn b2_a_system_prompt_that_is_a_string_leaves_all_room() {
    let mut custom = head(MODEL, Some(Ttl::OneHour), "b2");
    custom.system = raw(&json!("Be brief."));
    custom.tools = raw(&json!([]));
    let mut assembly = begin(PriorRendering::None, custom, ThinkingBinding::None, &talk());
    let body = body(&mut assembly, MAIN);
    assert_eq!(markers(&body), 1);
    assert_eq!(body["system"], "Be brief.");
    assert!(body.get("tools").is_none());
}

#[test]
fn b4_without_caching_there_is_no_marker() {
    let mut assembly = begin(
        PriorRendering::None,
        head(MODEL, None, "b4"),
        ThinkingBinding::None,
        &talk(),
    );
    for kind in [MAIN, RequestKind::Fork { text: "x" }] {
        assert_eq!(markers(&body(&mut assembly, kind)), 0);
    }
}

#[test]
fn b5_further_fields_go_behind_the_messages_and_never_repeat_the_heads() {
    let mut assembly = begin(
        PriorRendering::None,
        head(MODEL, None, "b5"),
        ThinkingBinding::None,
        &talk(),
    );
    let plain = assembly.request(MAIN, None).unwrap().to_vec();
    let more = raw(&json!({"diagnostics": {"previous_message_id": null}}));
    let with = assembly.request(MAIN, Some(&more)).unwrap().to_vec();
    assert!(with.starts_with(&plain[..plain.len() - 1]));
    let body: Value = serde_json::from_slice(&with).unwrap();
    assert_eq!(body["diagnostics"]["previous_message_id"], Value::Null);
    for name in ["model", "metadata", "stream", "messages"] {
        let more = raw(&json!({ name: 1 }));
        let refused = assembly.request(MAIN, Some(&more)).unwrap_err();
        assert_eq!(refused, RequestNotReady::Repeated(name.to_owned()));
    }
}

#[test]
fn f7_a_fork_repeats_its_parent_and_adds_one_message_without_a_marker_on_it() {
    let head = head(MODEL, Some(Ttl::OneHour), "f7");
    let mut assembly = begin(
        PriorRendering::None,
        head.clone(),
        ThinkingBinding::None,
        &talk(),
    );
    let fork = RequestKind::Fork {
        text: "Sum \"it\" up.\n",
    };
    let main = body(&mut assembly, MAIN);
    let forked = body(&mut assembly, fork);
    // Joined to what the user said last.
    let last = forked["messages"][4]["content"].as_array().unwrap();
    assert_eq!(last[last.len() - 1], text("Sum \"it\" up.\n", None));
    assert_eq!(last[last.len() - 2], text("Thanks. And y?", None));
    assert_eq!(markers(&forked), 3, "on the last block that was written");
    assert_eq!(markers(&forked["messages"][2]), 1);
    for field in [
        "system",
        "tools",
        "thinking",
        "max_tokens",
        "metadata",
        "stream",
    ] {
        assert_eq!(main[field], forked[field]);
    }
    // Or a message of its own after a reply.
    let mut assembly = begin(
        PriorRendering::None,
        head,
        ThinkingBinding::None,
        &talk()[..4],
    );
    assert_eq!(
        assembly.request(MAIN, None).unwrap_err(),
        RequestNotReady::NothingAsked
    );
    let forked = body(&mut assembly, fork);
    assert_eq!(
        forked["messages"][4]["content"],
        json!([text("Sum \"it\" up.\n", None)])
    );
    assert_eq!(forked["messages"].as_array().unwrap().len(), 5);
}

#[test]
fn m7_nothing_is_sent_before_the_head_is_on_disk() {
    let beginning = RenderingStart {
        before: PriorRendering::None,
        head: head(MODEL, None, "m7"),
        reason: PrefixReason::First,
        binding: ThinkingBinding::None,
    };
    let mut assembly = RequestAssembly::begin(beginning, std::iter::empty());
    let prompt = user("u1", json!("Hello"));
    assert_eq!(assembly.push(prompt.view()), PushOutcome::HeadFirst);
    assert_eq!(
        assembly.request(MAIN, None).unwrap_err(),
        RequestNotReady::NotPersisted
    );
    let entries = assembly.entries_before_request(birth()).unwrap();
    assert_eq!(entries.len(), 1);
    assembly.persisted(&entries).unwrap();
    assert_eq!(
        assembly.request(MAIN, None).unwrap_err(),
        RequestNotReady::Empty
    );
    assert_eq!(assembly.push(prompt.view()), PushOutcome::Pushed);
    assert!(assembly.request(MAIN, None).is_ok());
    assert!(assembly.entries_before_request(birth()).unwrap().is_empty());
}

#[test]
fn m7_calls_without_results_are_answered_on_disk_before_they_are_sent() {
    let mut assembly = begin(
        PriorRendering::None,
        head(MODEL, None, "m7"),
        ThinkingBinding::None,
        &[],
    );
    for entry in &talk()[..2] {
        assert_eq!(assembly.push(entry.view()), PushOutcome::Pushed);
    }
    assert_eq!(
        assembly.request(MAIN, None).unwrap_err(),
        RequestNotReady::OpenCalls(3)
    );
    let entries = assembly.entries_before_request(birth()).unwrap();
    let line: Value = serde_json::from_slice(&entries[0]).unwrap();
    assert_eq!(
        (&line["uuid"], &line["parentUuid"]),
        (&json!("synthetic"), &json!("a1"))
    );
    assembly.persisted(&entries).unwrap();
    let body = body(&mut assembly, MAIN);
    let results = body["messages"][2]["content"].as_array().unwrap();
    let ids: Vec<&Value> = results
        .iter()
        .map(|result| &result["tool_use_id"])
        .collect();
    assert_eq!(ids, ["t0", "t1", "t2"]);
    assert!(results.iter().all(|result| result["is_error"] == true));
}

#[test]
fn m7_a_head_comes_back_from_its_entry_as_it_was() {
    let mut head = head(MODEL, Some(Ttl::OneHour), "m7");
    head.user_context = Some("line\nbreak \u{1F980} \"quoted\"".into());
    let beginning = RenderingStart {
        before: PriorRendering::None,
        head: head.clone(),
        reason: PrefixReason::Compacted,
        binding: ThinkingBinding::None,
    };
    let assembly = RequestAssembly::begin(beginning, std::iter::empty());
    let line = assembly.entries_before_request(birth()).unwrap().remove(0);
    let entry = Entry::read(line).unwrap();
    assert_eq!(entry.facets().kind, EntryKind::Head);
    assert_eq!(entry.view().prefix_reason().as_deref(), Some("compacted"));
    let back = RequestPrefix::from_entry(entry.view()).unwrap();
    assert_eq!(head.difference(&back), None);
    assert_eq!(back.system.get(), head.system.get());
}

#[test]
fn m7_a_head_says_what_is_different_from_the_one_before() {
    let one = head(MODEL, Some(Ttl::OneHour), "m7");
    let changed = |change: fn(&mut RequestPrefix)| {
        let mut other = one.clone();
        change(&mut other);
        one.difference(&other)
    };
    assert_eq!(changed(|_| ()), None);
    assert_eq!(
        changed(|head| head.tools = raw(&json!([]))),
        Some(PrefixReason::Tools)
    );
    assert_eq!(
        changed(|head| head.system = raw(&json!([]))),
        Some(PrefixReason::System)
    );
    assert_eq!(
        changed(|head| head.user_context = None),
        Some(PrefixReason::UserContext)
    );
    assert_eq!(
        changed(|head| head.latched.ttl = None),
        Some(PrefixReason::Settings)
    );
    let model = head("claude-opus-4-7", Some(Ttl::OneHour), "m7");
    assert_eq!(one.difference(&model), Some(PrefixReason::Model));
}

#[test]
fn m7_what_was_compacted_or_cleared_behind_the_head_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut writer = TranscriptWriter::open(&path, Durability::OnClose).unwrap();
    let mut parent = Value::Null;
    let mut append = |line: &Value| {
        let mut line = line.clone();
        line["parentUuid"] = parent.clone();
        parent = line["uuid"].clone();
        let _ = writer.append(line.to_string().as_bytes()).unwrap();
    };
    for entry in talk() {
        append(&serde_json::from_slice(entry.bytes()).unwrap());
    }
    let assembly = {
        let resumed = resume(&path).unwrap();
        assert!(resumed.replay().is_none(), "another program's session");
        let beginning = RenderingStart {
            before: PriorRendering::None,
            head: head("claude-fable-5-2", None, "m7"),
            reason: PrefixReason::First,
            binding: ThinkingBinding::Always,
        };
        RequestAssembly::begin(beginning, resumed.entries.iter().map(Entry::view))
    };
    let entries = assembly.entries_before_request(birth()).unwrap();
    let mut direct = TranscriptWriter::open(&path, Durability::OnClose).unwrap();
    let _ = direct.append_all(&entries).unwrap();
    let stripped = |head: &RequestPrefix| head.latched.thinking_stripped_through.clone();
    let resumed = resume(&path).unwrap();
    let replay = resumed.replay().unwrap().unwrap();
    assert_eq!((replay.history.len(), replay.pushed.len()), (5, 0));
    assert_eq!(stripped(&replay.prefix).as_deref(), Some("u3"));
    assert!(resumed.assembly().is_some());

    append(&json!({
        "type": "system", "subtype": "microcompact_boundary", "uuid": "m1",
        "microcompactMetadata": {"compactedToolIds": ["t0"], "thinkingStrippedThrough": "a2"},
    }));
    let resumed = resume(&path).unwrap();
    let replay = resumed.replay().unwrap().unwrap();
    assert!(resumed.assembly().is_none());
    let again = RenderingStart {
        before: PriorRendering::Head(&replay.prefix),
        head: replay.prefix.clone(),
        reason: PrefixReason::Cleared,
        binding: ThinkingBinding::Always,
    };
    let assembly = RequestAssembly::begin(again, resumed.entries.iter().map(Entry::view));
    assert_eq!(
        assembly
            .prefix()
            .latched
            .thinking_stripped_through
            .as_deref(),
        Some("m1")
    );
}

#[test]
fn n2_foreign_thinking_is_stripped_where_it_may_be_bound() {
    for (binding, sent) in [
        (ThinkingBinding::None, 1),
        (ThinkingBinding::NewAccounts, 0),
        (ThinkingBinding::Always, 0),
    ] {
        let mut assembly = begin(
            PriorRendering::None,
            head(MODEL, None, "n2"),
            binding,
            &talk(),
        );
        let bytes = assembly.request(MAIN, None).unwrap().to_vec();
        let found = String::from_utf8(bytes)
            .unwrap()
            .matches("\"signature\"")
            .count();
        assert_eq!(found, sent, "{binding:?}");
        let stripped = assembly
            .prefix()
            .latched
            .thinking_stripped_through
            .as_deref();
        assert_eq!(stripped, (sent == 0).then_some("u3"));
    }
}

/// A rendering whose thinking is its own, on a model that binds it.
fn bound() -> (RequestAssembly, Vec<Entry>) {
    let mut assembly = begin(
        PriorRendering::None,
        head(MODEL, None, "n2"),
        ThinkingBinding::Always,
        &[],
    );
    for entry in talk() {
        assert_eq!(assembly.push(entry.view()), PushOutcome::Pushed);
        let _ = assembly.request(MAIN, None);
    }
    (assembly, talk())
}

#[test]
fn n2_thinking_that_stands_where_it_stood_is_kept_when_a_rendering_begins_anew() {
    let (old, entries) = bound();
    let new = begin(
        old.as_predecessor(),
        old.prefix().clone(),
        ThinkingBinding::Always,
        &entries[..4],
    );
    assert_eq!(new.prefix().latched.thinking_stripped_through, None);
}

#[test]
fn n2_thinking_is_stripped_when_anything_before_it_changed() {
    let (old, entries) = bound();
    let mut tools = old.prefix().clone();
    tools.tools = raw(&json!([]));
    let mut context = old.prefix().clone();
    context.user_context = None;
    for head in [tools, context] {
        let new = begin(
            old.as_predecessor(),
            head,
            ThinkingBinding::Always,
            &entries,
        );
        let stripped = new.prefix().latched.thinking_stripped_through.as_deref();
        assert_eq!(stripped, Some("u3"));
    }
    // An earlier message was removed.
    let new = begin(
        old.as_predecessor(),
        old.prefix().clone(),
        ThinkingBinding::Always,
        &entries[3..],
    );
    assert_eq!(
        new.prefix().latched.thinking_stripped_through.as_deref(),
        Some("u3")
    );
    // Where thinking is not bound, it stays.
    let mut tools = old.prefix().clone();
    tools.tools = raw(&json!([]));
    let new = begin(old.as_predecessor(), tools, ThinkingBinding::None, &entries);
    assert_eq!(new.prefix().latched.thinking_stripped_through, None);
    // Another model cannot be trusted to read it.
    let other = head("claude-sonnet-5", None, "n2");
    let new = begin(old.as_predecessor(), other, ThinkingBinding::None, &entries);
    assert_eq!(
        new.prefix().latched.thinking_stripped_through.as_deref(),
        Some("u3")
    );
}

#[test]
fn n2_what_was_stripped_once_stays_stripped_and_later_thinking_is_sent() {
    let entries = talk();
    let first = begin(
        PriorRendering::None,
        head(MODEL, None, "n2"),
        ThinkingBinding::Always,
        &entries,
    );
    let more = [
        reply("a3", json!([thought("new"), text("y is full.", None)])),
        user("u4", json!("Good.")),
    ];
    let mut first = first;
    for entry in &more {
        assert_eq!(first.push(entry.view()), PushOutcome::Pushed);
    }
    let thoughts = |assembly: &mut RequestAssembly| {
        let bytes = assembly.request(MAIN, None).unwrap().to_vec();
        String::from_utf8(bytes)
            .unwrap()
            .matches("\"signature\"")
            .count()
    };
    assert_eq!(thoughts(&mut first), 1);
    let all: Vec<Entry> = entries.into_iter().chain(more).collect();
    let mut settings = first.prefix().clone();
    settings.latched.thinking_stripped_through = None;
    let mut second = begin(
        first.as_predecessor(),
        settings,
        ThinkingBinding::Always,
        &all,
    );
    assert_eq!(
        second.prefix().latched.thinking_stripped_through.as_deref(),
        Some("u3")
    );
    assert_eq!(thoughts(&mut second), 1);
}

#[test]
fn b1_a_count_of_tokens_is_asked_for_with_the_same_conversation() {
    let mut assembly = begin(
        PriorRendering::None,
        head("claude-sonnet-4-5", Some(Ttl::OneHour), "count"),
        ThinkingBinding::Always,
        &talk(),
    );
    let slices = assembly.count_tokens().unwrap();
    let model = SimModel::new(ModelOptions::default());
    let mut world = World::new(WorldOptions::new(1, Box::new(model)));
    let call = ApiCall {
        key: "k".into(),
        version: "2026-10-21".into(),
        body: slices.concat().into(),
        ..ApiCall::default()
    };
    let counted = world.count_tokens(&call).unwrap();
    assert!(counted["input_tokens"].as_u64().unwrap() > 2_000);
    let body: Value = serde_json::from_slice(&call.body).unwrap();
    for absent in ["max_tokens", "stream", "metadata"] {
        assert!(body.get(absent).is_none());
    }
}

#[test]
fn m7_what_was_cleared_and_stripped_is_read_off_the_boundaries() {
    let mut history = talk();
    let boundary = json!({
        "type": "system", "subtype": "microcompact_boundary", "uuid": "m1",
        "microcompactMetadata": {"compactedToolIds": ["t1"], "thinkingStrippedThrough": "a2"},
    });
    history.push(entry(&boundary));
    let head = head(MODEL, None, "m7");
    let mut assembly = begin(PriorRendering::None, head, ThinkingBinding::None, &history);
    let stripped = assembly
        .prefix()
        .latched
        .thinking_stripped_through
        .as_deref();
    assert_eq!(stripped, Some("a2"));
    let body = body(&mut assembly, MAIN);
    assert!(!body.to_string().contains("\"signature\""));
    let results = body["messages"][2]["content"].as_array().unwrap();
    let whole: Vec<bool> = results
        .iter()
        .map(|result| result["content"].to_string().contains("text of x"))
        .collect();
    assert_eq!(whole, [true, false, true]);
    assert_eq!(assembly.push(history[5].view()), PushOutcome::BeginsAnew);
}
