//! Tests how a rendering begins: up to which entry thinking is no longer sent (N2), what a file tells about the last
//! rendering (Y2), and which fields a request has before its messages.

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::message::Entry;
use longhaul_core::models::ThinkingBinding;
use longhaul_core::prompt::{
    LatchedSettings, NewEntryStamp, PlacedEntry, PrefixReason, PrefixValidity, PriorRendering,
    RenderingReplay, RenderingStart, RequestAssembly, RequestKind, RequestPrefix, Ttl, order_tools,
};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn entry(line: &Value) -> Entry {
    Entry::read(Bytes::from(line.to_string())).unwrap()
}

fn said(uuid: &str, text: &str) -> Entry {
    entry(&json!({"type": "user", "uuid": uuid, "sessionId": "s",
        "message": {"role": "user", "content": text}}))
}

fn thought(uuid: &str) -> Entry {
    entry(&json!({"type": "assistant", "uuid": uuid, "sessionId": "s",
        "message": {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
            {"type": "text", "text": "Well."}]}}))
}

fn prefix(body: &Value) -> RequestPrefix {
    RequestPrefix {
        system: raw(&json!([{"type": "text", "text": "Be brief."}])),
        tools: raw(&json!([{"name": "Read"}])),
        user_context: None,
        latched: LatchedSettings {
            ttl: Some(Ttl::FiveMinutes),
            betas: Vec::new(),
            cache_references: false,
            thinking_stripped_through: None,
            most_images: 20,
            body: raw(body),
        },
    }
}

fn of_model(model: &str) -> RequestPrefix {
    prefix(&json!({"model": model}))
}

fn begun(
    before: PriorRendering<'_>,
    head: RequestPrefix,
    binding: ThinkingBinding,
    history: &[Entry],
) -> RequestAssembly {
    let start = RenderingStart {
        before,
        head,
        reason: PrefixReason::Compacted,
        binding,
    };
    RequestAssembly::begin(start, history.iter().map(Entry::view))
}

fn stripped(assembly: &RequestAssembly) -> Option<&str> {
    let latched = &assembly.prefix().latched;
    latched.thinking_stripped_through.as_deref()
}

#[test]
fn n2_another_model_is_sent_no_earlier_thinking_and_the_same_model_all_of_it() {
    let history = [said("u1", "Hello?"), thought("a1"), said("u2", "And?")];
    let from = |model: &str, history: &[Entry]| {
        let before = of_model(model);
        let before = PriorRendering::Head(&before);
        let next = begun(before, of_model("new"), ThinkingBinding::None, history);
        stripped(&next).map(str::to_owned)
    };
    assert_eq!(from("old", &history).as_deref(), Some("u2"));
    assert_eq!(from("new", &history), None);
    assert_eq!(from("old", &history[..1]), None, "there is no reply yet");
}

#[test]
fn n2_bound_thinking_stays_only_after_the_bytes_that_it_was_made_after() {
    let history = [said("u1", "Hello?"), thought("a1"), said("u2", "And?")];
    let first = |history: &[Entry]| {
        let head = of_model("m");
        let mut first = begun(PriorRendering::None, head, ThinkingBinding::None, history);
        first.freeze();
        first
    };
    let old = first(&history);
    let again = |before: PriorRendering<'_>, head: RequestPrefix, binding| {
        let next = begun(before, head, binding, &history);
        stripped(&next).map(str::to_owned)
    };
    let always = ThinkingBinding::Always;
    let same = again(old.as_predecessor(), of_model("m"), always);
    assert_eq!(same, None);
    let other_tools = RequestPrefix {
        tools: raw(&json!([{"name": "Write"}])),
        ..of_model("m")
    };
    let other_system = RequestPrefix {
        system: raw(&json!([{"type": "text", "text": "Be long."}])),
        ..of_model("m")
    };
    for head in [other_tools, other_system] {
        let bound = again(old.as_predecessor(), head.clone(), always);
        assert_eq!(bound.as_deref(), Some("u2"));
        let free = again(old.as_predecessor(), head, ThinkingBinding::None);
        assert_eq!(free, None);
    }
    let on_disk = of_model("m");
    let unproven = again(PriorRendering::Head(&on_disk), of_model("m"), always);
    assert_eq!(unproven.as_deref(), Some("u2"));
    let other = first(&[said("u1", "Good day?"), thought("a1")]);
    let after_others = again(other.as_predecessor(), of_model("m"), always);
    assert_eq!(after_others.as_deref(), Some("u2"));
}

#[test]
fn n2_of_two_entries_that_end_thinking_the_later_one_holds_and_one_that_is_gone_does_not() {
    let history = [said("u1", "Hello?"), thought("a1"), said("u2", "And?")];
    let up_to = |uuid: Option<&str>| {
        let mut head = of_model("m");
        head.latched.thinking_stripped_through = uuid.map(str::to_owned);
        head
    };
    let holds = |earlier, asked| {
        let before = up_to(earlier);
        let before = PriorRendering::Head(&before);
        let next = begun(before, up_to(asked), ThinkingBinding::None, &history);
        stripped(&next).map(str::to_owned)
    };
    assert_eq!(holds(Some("u1"), Some("a1")).as_deref(), Some("a1"));
    assert_eq!(holds(Some("a1"), Some("u1")).as_deref(), Some("a1"));
    assert_eq!(holds(Some("u1"), None).as_deref(), Some("u1"));
    assert_eq!(holds(Some("gone"), None), None);
    assert_eq!(holds(None, None), None);
}

#[test]
fn y2_a_file_tells_what_a_rendering_began_with_and_whether_it_goes_on() {
    let history = [said("u1", "Hello?"), thought("a1")];
    let head = of_model("m");
    let first = begun(PriorRendering::None, head, ThinkingBinding::None, &history);
    let stamp = NewEntryStamp {
        session_id: "s",
        uuid: "h1",
        parent: Some("a1"),
        timestamp: Timestamp::constant(1_800_000_000, 0),
    };
    let written = first.entries_before_request(stamp).unwrap();
    let head = Entry::read(written[0].clone()).unwrap();
    let replayed = |view: &[(u64, Entry)]| {
        let view: Vec<PlacedEntry<'_>> = view
            .iter()
            .map(|(offset, entry)| PlacedEntry {
                offset: *offset,
                entry: entry.view(),
            })
            .collect();
        let head = PlacedEntry {
            offset: 200,
            entry: head.view(),
        };
        let replay = RenderingReplay::of(head, &view).unwrap();
        (replay.standing, replay.history, replay.pushed)
    };
    let [hello, well] = history.clone();
    let mut view = vec![(0, hello), (100, well), (300, said("u2", "And?"))];
    let goes = (PrefixValidity::Goes, vec![0, 1], vec![2]);
    assert_eq!(replayed(&view), goes);
    let resumed_earlier = replayed(&[view[0].clone(), view[2].clone()]);
    assert_eq!(
        resumed_earlier,
        (PrefixValidity::Outdated, vec![0, 1], vec![])
    );
    let unknown = json!({"type": "system", "subtype": "turn_duration", "uuid": "s1"});
    view.push((400, entry(&unknown)));
    let goes = (PrefixValidity::Goes, vec![0, 1], vec![2, 3]);
    assert_eq!(replayed(&view), goes, "it changes nothing that was sent");
    let boundary = json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "b1",
        "microcompactMetadata": {"compactedToolIds": ["t1"]}});
    view.push((500, entry(&boundary)));
    let outdated = (PrefixValidity::Outdated, vec![0, 1, 2, 3, 4], vec![]);
    assert_eq!(replayed(&view), outdated);
}

#[test]
fn b5_tools_are_unchanged_only_if_none_was_added_removed_or_redefined() {
    let before = raw(&json!([{"name": "Read"}, {"name": "Write"}]));
    let unchanged = |offered: Value| {
        let ordered = order_tools(Some(&before), &raw(&offered)).unwrap();
        ordered.unchanged()
    };
    assert!(unchanged(json!([{"name": "Write"}, {"name": "Read"}])));
    assert!(!unchanged(json!([{"name": "Read"}])));
    assert!(!unchanged(
        json!([{"name": "Read"}, {"name": "Write"}, {"name": "Edit"}])
    ));
    assert!(!unchanged(
        json!([{"name": "Read"}, {"name": "Write", "description": "x"}])
    ));
}

/// Returns a request of a conversation with one message under this prefix.
fn request(head: RequestPrefix, kind: RequestKind<'_>) -> Option<Value> {
    let history = [said("u1", "Hello?")];
    let mut assembly = begun(PriorRendering::None, head, ThinkingBinding::None, &history);
    let stamp = NewEntryStamp {
        session_id: "s",
        uuid: "h1",
        parent: Some("u1"),
        timestamp: Timestamp::constant(1_800_000_000, 0),
    };
    let lines = assembly.entries_before_request(stamp).unwrap();
    assembly.persisted(&lines).unwrap();
    let assembled = assembly.request(kind, None).ok()?;
    Some(serde_json::from_slice(&assembled.to_vec()).unwrap())
}

#[test]
fn n3_a_request_for_the_providers_summary_has_no_field_that_it_does_not_accept() {
    let summed_up = |more: Value| {
        let mut body = json!({"model": "m", "context_management": {"edits": []}});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        request(prefix(&body), RequestKind::SummedUp)
    };
    let plain = summed_up(json!({"output_config": {"effort": "high"}})).unwrap();
    assert!(plain.get("context_management").is_none(), "{plain}");
    assert_eq!(plain["model"], "m");
    assert_eq!(summed_up(json!({"stop_sequences": ["x"]})), None);
    let format = json!({"output_config": {"format": {"type": "json_schema"}}});
    assert_eq!(summed_up(format), None);
    let budget = json!({"output_config": {"task_budget": {"remaining": 5}}});
    assert_eq!(summed_up(budget), None);
}

#[test]
fn b2_an_empty_part_is_left_out_of_a_request() {
    let bare = RequestPrefix {
        system: raw(&json!([])),
        tools: raw(&json!([])),
        ..of_model("m")
    };
    let bare = request(bare, RequestKind::Main).unwrap();
    assert!(bare.get("tools").is_none() && bare.get("system").is_none());
    let full = request(of_model("m"), RequestKind::Main).unwrap();
    assert!(full.get("tools").is_some() && full.get("system").is_some());
}

#[test]
fn b2_markers_of_the_prefix_leave_the_messages_no_more_than_four_in_all() {
    let marker = json!({"type": "ephemeral"});
    let marked = |count: usize| {
        let block = json!({"type": "text", "text": "x", "cache_control": marker});
        let head = RequestPrefix {
            system: raw(&json!(vec![block; count])),
            ..of_model("m")
        };
        let sent = request(head, RequestKind::Main).unwrap();
        sent.to_string().matches("cache_control").count()
    };
    assert_eq!(marked(0), 1);
    assert_eq!(marked(3), 4);
    assert_eq!(marked(4), 4);
}
