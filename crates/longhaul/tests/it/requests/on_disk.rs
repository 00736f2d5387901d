//! Tests what must be on disk before a request, and what is read off it again (M7).

use longhaul_core::message::{Entry, EntryKind};
use longhaul_core::models::ThinkingBinding;
use longhaul_core::prompt::{
    PrefixReason, PriorRendering, PushOutcome, RenderingStart, RequestAssembly, RequestNotReady,
    RequestPrefix, Ttl,
};
use longhaul_store::{Durability, TranscriptWriter, resume};
use serde_json::{Value, json};

use super::{MAIN, MODEL, begin, birth, body, entry, talk, user};
use crate::host::{head, raw};

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
