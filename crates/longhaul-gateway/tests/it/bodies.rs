//! Outlines of bodies: what is found, which bodies have none, and that resuming in the middle finds the same.

use longhaul_gateway::body::{BodyRole, NotAConversation, ReadResumePoint, read, read_from};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn x8_the_parts_of_a_body_are_found_where_they_lie() {
    let body = r#" { "model" : "claude-\u006fpus-5-5", "system": "be brief",
        "messages" : [ {"role":"user","content":"a \" ] } b"} , {"content":[{"type":"text","text":"ä"}],"role":"assistant"} ],
        "tools":[{"name":"Read"}], "stream": true, "metadata":{"user_id":"x"}, "thread":null } "#;
    let outline = read(body.as_bytes()).unwrap();
    assert_eq!(outline.model(body.as_bytes()), "claude-opus-5-5");
    let at = |span: &std::ops::Range<usize>| &body[span.clone()];
    assert_eq!(
        at(outline.members.system.as_ref().unwrap()),
        r#""be brief""#
    );
    assert_eq!(
        at(outline.members.tools.as_ref().unwrap()),
        r#"[{"name":"Read"}]"#
    );
    assert_eq!(
        at(outline.members.metadata.as_ref().unwrap()),
        r#"{"user_id":"x"}"#
    );
    assert!(outline.members.streams);
    assert!(!outline.members.threaded);
    assert!(at(&outline.list).starts_with('[') && at(&outline.list).ends_with(']'));
    let [first, second] = &outline.elements[..] else {
        panic!("two messages: {outline:?}");
    };
    assert_eq!(first.role, BodyRole::User);
    assert_eq!(at(first.content.as_ref().unwrap()), r#""a \" ] } b""#);
    assert_eq!(second.role, BodyRole::Assistant);
    assert_eq!(
        at(second.content.as_ref().unwrap()),
        r#"[{"type":"text","text":"ä"}]"#
    );
    assert_eq!(
        at(&second.span),
        r#"{"content":[{"type":"text","text":"ä"}],"role":"assistant"}"#
    );
}

#[test]
fn x8_what_is_no_conversation_is_said_to_be_none() {
    let other = |body: &str| read(body.as_bytes()) == Err(NotAConversation::OtherShape);
    assert!(other("{}"));
    assert!(other(r#"{"model":"m"}"#));
    assert!(other(r#"{"model":"m","messages":[]}"#));
    assert!(other(r#"{"model":"m","messages":{}}"#));
    assert!(other(r#"{"model":"m","messages":["hi"]}"#));
    assert!(other(r#"{"model":"m","messages":[{"content":"hi"}]}"#));
    assert!(other(r#"{"messages":[{"role":"user","content":"hi"}]}"#));
    assert!(other(
        r#"{"model":7,"messages":[{"role":"user","content":"hi"}]}"#
    ));
    let twice = r#"{"model":"m","messages":[{"role":"user"}],"messages":[{"role":"user"}]}"#;
    assert!(other(twice));
    let damaged = |body: &str| matches!(read(body.as_bytes()), Err(NotAConversation::Damaged(_)));
    assert!(damaged(""));
    assert!(damaged("hello"));
    assert!(damaged(r#"{"model":"m","messages":[{"role":"user"}]"#));
    assert!(damaged(r#"{"model":"m","messages":[{"role":"user"}]} x"#));
    assert!(damaged(r#"{"model":"m",,"messages":[{"role":"user"}]}"#));
    assert_eq!(
        read(b"{\"model\":\"\xff\"}"),
        Err(NotAConversation::NotUtf8)
    );
}

fn message() -> impl Strategy<Value = Value> {
    let text = "[ -~äß\u{1F600}\n\"\\\\]{0,40}";
    let content = prop_oneof![
        text.prop_map(Value::from),
        text.prop_map(|text| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}])),
        text.prop_map(|text| json!([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": text}]}])),
    ];
    let role = prop_oneof![Just("user"), Just("assistant"), Just("system")];
    (role, content).prop_map(|(role, content)| json!({"role": role, "content": content}))
}

proptest! {
    #[test]
    fn x8_a_reading_from_the_middle_finds_what_a_whole_one_finds(
        messages in prop::collection::vec(message(), 1..8),
        pretty in any::<bool>(),
        behind in any::<bool>(),
        cut in any::<prop::sample::Index>(),
    ) {
        // With a member before or after the messages: serde_json sorts keys.
        let extra = if behind { "system" } else { "a" };
        let value = json!({"model": "m", "messages": messages, extra: [{"x": "]"}], "stream": true});
        let body = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let whole = read(body.as_bytes()).unwrap();
        prop_assert_eq!(whole.len(), messages.len());
        for (element, message) in whole.elements.iter().zip(&messages) {
            let found: Value = serde_json::from_str(&body[element.span.clone()]).unwrap();
            prop_assert_eq!(&found, message);
            let content: Value = serde_json::from_str(&body[element.content.clone().unwrap()]).unwrap();
            prop_assert_eq!(&content, &message["content"]);
        }
        let cut = cut.index(messages.len());
        let from = ReadResumePoint {
            at: whole.elements[cut].span.end,
            elements: cut + 1,
            list: whole.list.start,
            before: whole.before.clone(),
        };
        let rest = read_from(body.as_bytes(), &from).unwrap();
        prop_assert_eq!(rest.known, cut + 1);
        prop_assert_eq!(&rest.elements[..], &whole.elements[cut + 1..]);
        prop_assert_eq!(&rest.members, &whole.members);
        prop_assert_eq!(&rest.list, &whole.list);
    }

    #[test]
    fn x8_no_bytes_make_a_reading_fail_otherwise_than_by_saying_so(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    #[test]
    fn x8_a_cut_body_is_no_conversation(at in any::<prop::sample::Index>()) {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi \" there"}]}).to_string();
        prop_assert!(read(&body.as_bytes()[..at.index(body.len())]).is_err());
    }
}

proptest! {
    /// The client's next body begins like the last one, and may end in any way.
    #[test]
    fn x8_whatever_stands_behind_a_known_beginning_both_readings_agree(
        messages in prop::collection::vec(message(), 1..5),
        cut in any::<prop::sample::Index>(),
        tail in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            "[]{},:\" a-z0-9]{0,40}".prop_map(String::into_bytes),
            Just(br#",{"role":"user","content":"x"}],"model":"n","system":null,"stream":true}"#.to_vec()),
            Just(br#"],"messages":[]}"#.to_vec()),
        ],
    ) {
        let body = json!({"model": "m", "messages": messages, "stream": true}).to_string();
        let known = read(body.as_bytes()).unwrap();
        let cut = cut.index(messages.len());
        let from = ReadResumePoint {
            at: known.elements[cut].span.end,
            elements: cut + 1,
            list: known.list.start,
            before: known.before.clone(),
        };
        for ending in [tail.as_slice(), &body.as_bytes()[from.at..]] {
            let next = [&body.as_bytes()[..from.at], ending].concat();
            match (read(&next), read_from(&next, &from)) {
                (Ok(whole), Ok(rest)) => {
                    prop_assert_eq!(&rest.elements[..], &whole.elements[cut + 1..]);
                    prop_assert_eq!((rest.members, rest.before, rest.list), (whole.members, whole.before, whole.list));
                }
                (whole, rest) => prop_assert!(whole.is_err() && rest.is_err(), "{whole:?} {rest:?}"),
            }
        }
    }
}
