//! Tests when a request can be made and what it consists of: the next request, a token count, a fork beside the
//! conversation, and what a prefix entry must be to be read.

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::message::Entry;
use longhaul_core::models::ThinkingBinding;
use longhaul_core::prompt::{
    LatchedSettings, NewEntryStamp, PlacedEntry, PrefixReason, PriorRendering, PushOutcome,
    RenderingReplay, RenderingStart, RequestAssembly, RequestKind, RequestNotReady, RequestPrefix,
    Ttl,
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

fn replied(uuid: &str, content: Value) -> Entry {
    entry(&json!({"type": "assistant", "uuid": uuid, "sessionId": "s",
        "message": {"role": "assistant", "content": content}}))
}

fn thought(uuid: &str, thinking: &str) -> Entry {
    replied(
        uuid,
        json!([{"type": "thinking", "thinking": thinking, "signature": "sig"},
            {"type": "text", "text": "Well."}]),
    )
}

fn called(uuid: &str) -> Entry {
    replied(
        uuid,
        json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]),
    )
}

fn prefix() -> RequestPrefix {
    RequestPrefix {
        system: raw(&json!([{"type": "text", "text": "Be brief."}])),
        tools: raw(&json!([{"name": "Read"}, {"name": "Write"}])),
        user_context: None,
        latched: LatchedSettings {
            ttl: Some(Ttl::FiveMinutes),
            betas: Vec::new(),
            cache_references: false,
            thinking_stripped_through: None,
            most_images: 20,
            body: raw(&json!({"model": "m", "max_tokens": 100})),
        },
    }
}

fn begun(head: RequestPrefix, history: &[Entry]) -> RequestAssembly {
    let start = RenderingStart {
        before: PriorRendering::None,
        head,
        reason: PrefixReason::First,
        binding: ThinkingBinding::None,
    };
    RequestAssembly::begin(start, history.iter().map(Entry::view))
}

/// Returns the lines that must be on disk before a request.
fn lines(assembly: &RequestAssembly) -> Vec<Bytes> {
    let stamp = NewEntryStamp {
        session_id: "s",
        uuid: "h1",
        parent: None,
        timestamp: Timestamp::constant(1_800_000_000, 0),
    };
    assembly.entries_before_request(stamp).unwrap()
}

/// Returns a rendering whose prefix is on disk. Calls are left open.
fn on_disk(history: &[Entry]) -> RequestAssembly {
    let mut assembly = begun(prefix(), history);
    let lines = lines(&assembly);
    assembly.persisted(&lines[..1]).unwrap();
    assembly
}

fn parsed(slices: &[Bytes]) -> Value {
    serde_json::from_slice(&slices.concat()).unwrap()
}

fn roles(body: &Value) -> Vec<&str> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.map(|one| one["role"].as_str().unwrap()).collect()
}

#[test]
fn f7_a_forks_message_joins_the_users_or_follows_the_reply() {
    let fork = RequestKind::Fork { text: "Summarize." };
    let mut assembly = on_disk(&[said("u1", "Hello?")]);
    let body = parsed(&assembly.request(fork, None).unwrap().slices);
    assert_eq!(roles(&body), ["user"]);
    assert_eq!(body["messages"][0]["content"][1]["text"], "Summarize.");
    let mut assembly = on_disk(&[said("u1", "Hello?"), thought("a1", "Hm.")]);
    let body = parsed(&assembly.request(fork, None).unwrap().slices);
    assert_eq!(roles(&body), ["user", "assistant", "user"]);
    assert_eq!(body["messages"][2]["content"][0]["text"], "Summarize.");
}

#[test]
fn o1_a_conversation_that_ends_with_a_reply_asks_nothing() {
    let mut assembly = on_disk(&[said("u1", "Hello?"), thought("a1", "Hm.")]);
    assert!(matches!(
        assembly.request(RequestKind::Main, None),
        Err(RequestNotReady::NothingAsked)
    ));
}

#[test]
fn b1_no_further_fields_add_nothing_to_a_request() {
    let mut assembly = on_disk(&[said("u1", "Hello?")]);
    let plain = assembly.request(RequestKind::Main, None).unwrap();
    let empty = raw(&json!({}));
    let with = assembly.request(RequestKind::Main, Some(&empty)).unwrap();
    assert_eq!(plain.to_vec(), with.to_vec());
    assert!(!plain.is_empty() && plain.len() == plain.to_vec().len());
}

#[test]
fn t1_a_request_for_a_token_count_has_only_the_fields_that_are_counted() {
    let mut assembly = on_disk(&[said("u1", "Hello?")]);
    let body = parsed(&assembly.count_tokens().unwrap());
    assert_eq!(body["model"], "m");
    assert_eq!(roles(&body), ["user"]);
    for uncounted in ["max_tokens", "stream"] {
        assert!(body[uncounted].is_null(), "{body}");
    }
    assert!(!body["messages"].to_string().contains("cache_control"));
}

#[test]
fn z2_nothing_is_counted_while_a_call_is_open_or_nothing_was_said() {
    let mut open = on_disk(&[said("u1", "Hello?"), called("a1")]);
    assert!(matches!(
        open.count_tokens(),
        Err(RequestNotReady::OpenCalls(1))
    ));
    assert!(matches!(
        on_disk(&[]).count_tokens(),
        Err(RequestNotReady::Empty)
    ));
}

#[test]
fn m7_nothing_follows_a_prefix_that_is_not_on_disk() {
    let mut assembly = begun(prefix(), &[said("u1", "Hello?")]);
    assembly.freeze();
    assert!(assembly.fork(None, None).is_none());
    let more = said("u2", "And?");
    assert_eq!(assembly.push(more.view()), PushOutcome::HeadFirst);
    let lines = lines(&assembly);
    assembly.persisted(&lines).unwrap();
    assert!(assembly.fork(None, None).is_some());
    assert_eq!(assembly.push(more.view()), PushOutcome::Pushed);
}

#[test]
fn s3_a_reply_with_an_open_call_is_not_frozen() {
    let mut assembly = on_disk(&[said("u1", "Hello?")]);
    assembly.request(RequestKind::Main, None).unwrap();
    let _ = assembly.push(called("a1").view());
    assembly.freeze();
    let fork = assembly.fork(None, None).unwrap().body();
    let body = String::from_utf8(fork.concat()).unwrap();
    assert!(!body.contains("tool_use"), "{body}");
}

/// Returns a boundary that says up to where thinking is not sent.
fn stripping(through: &str) -> Entry {
    entry(
        &json!({"type": "system", "subtype": "compact_boundary", "uuid": "b1",
        "compactMetadata": {"thinkingStrippedThrough": through}}),
    )
}

#[test]
fn n2_thinking_that_a_boundary_ends_is_not_sent_in_a_new_rendering() {
    let history = [
        stripping("a1"),
        said("u1", "Hello?"),
        thought("a1", "First."),
        said("u2", "And?"),
        thought("a2", "Second."),
        said("u3", "So?"),
    ];
    let mut assembly = on_disk(&history);
    let body = assembly.request(RequestKind::Main, None).unwrap().to_vec();
    let body = String::from_utf8(body).unwrap();
    assert!(
        !body.contains("First.") && body.contains("Second."),
        "{body}"
    );
}

#[test]
fn n2_y2_a_resumed_rendering_ends_thinking_where_its_prefix_says_and_else_where_a_boundary_does() {
    let resumed = |own: Option<&str>| {
        let history = [
            stripping("a1"),
            said("u1", "Hello?"),
            thought("a1", "First."),
            said("u2", "And?"),
            thought("a2", "Second."),
            said("u3", "So?"),
        ];
        let mut head = prefix();
        head.latched.thinking_stripped_through = own.map(str::to_owned);
        // This is how another program may write a prefix: it does not repeat what the boundary says.
        let line = json!({"type": "request-head", "sessionId": "s", "system": head.system,
            "tools": head.tools, "userContext": "", "settings": head.latched});
        let line = entry(&line);
        let view: Vec<PlacedEntry<'_>> = history
            .iter()
            .enumerate()
            .map(|(at, entry)| PlacedEntry {
                offset: at as u64,
                entry: entry.view(),
            })
            .collect();
        let placed = PlacedEntry {
            offset: 100,
            entry: line.view(),
        };
        let replay = RenderingReplay::of(placed, &view).unwrap();
        assert_eq!(replay.prefix.user_context, None, "an empty text is none");
        let mut assembly = RequestAssembly::resume(replay, |at| view[at].entry);
        let body = assembly.request(RequestKind::Main, None).unwrap().to_vec();
        let body = String::from_utf8(body).unwrap();
        (body.contains("First."), body.contains("Second."))
    };
    assert_eq!(resumed(None), (false, true));
    assert_eq!(resumed(Some("a2")), (false, false));
}

#[test]
fn y2_only_a_prefix_entry_with_settings_is_read_as_a_prefix() {
    let part = |line: Value| {
        let entry = entry(&line);
        RequestPrefix::from_entry(entry.view()).unwrap_err().part
    };
    assert_eq!(
        part(json!({"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Hi."}})),
        "type"
    );
    let latched = json!({"ttl": "5m", "body": [1]});
    assert_eq!(
        part(
            json!({"type": "request-head", "sessionId": "s", "system": [], "tools": [],
            "settings": latched})
        ),
        "settings"
    );
}

#[test]
fn u4_a_replay_carries_cache_edits_only_where_references_are_sent() {
    let line = begun(prefix(), &[said("u1", "Hello?")]);
    let line = Entry::read(lines(&line)[0].clone()).unwrap();
    let hello = said("u1", "Hello?");
    let view = [PlacedEntry {
        offset: 0,
        entry: hello.view(),
    }];
    let placed = PlacedEntry {
        offset: 100,
        entry: line.view(),
    };
    let mut replay = RenderingReplay::of(placed, &view).unwrap();
    replay.cache_edits = vec!["t1".into()];
    assert!(replay.more_fields().is_none());
    replay.prefix.latched.cache_references = true;
    let fields = replay.more_fields().unwrap();
    assert!(fields.get().contains("\"t1\""), "{fields}");
}

#[test]
fn b5_the_tools_of_a_prefix_are_known_by_name_and_a_prefix_may_have_none() {
    assert_eq!(prefix().tool_names(), ["Read", "Write"]);
    let without = RequestPrefix {
        tools: raw(&Value::Null),
        ..prefix()
    };
    assert!(without.tool_names().is_empty());
}
