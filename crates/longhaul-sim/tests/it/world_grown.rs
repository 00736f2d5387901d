//! A conversation that is read and checked only where it grew is answered as one that is read whole.
use bytes::Bytes;
use longhaul_sim::call::{ApiCall, ApiError};
use longhaul_sim::reply::ApiReply;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::*;
use crate::reply_forms::with_tools;

/// What a client does between two calls.
#[derive(Debug, Clone)]
enum Step {
    Say(usize),
    Edit(usize),
    Drop(usize),
    System(usize),
    Mark(usize),
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_usize..600).prop_map(Step::Say),
        1 => (0_usize..40).prop_map(Step::Edit),
        1 => (0_usize..40).prop_map(Step::Drop),
        1 => (0_usize..3).prop_map(Step::System),
        2 => (0_usize..40).prop_map(Step::Mark),
        1 => (0_u64..400_000).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_conversation_read_from_where_it_grew_is_the_same_as_one_read_anew(steps in steps()) {
        let (mut grown, mut anew) = (world(), world());
        let mut said = vec![(words(900), 0)];
        let (mut system, mut marked) = (0, 0);
        for (nth, step) in steps.into_iter().enumerate() {
            let length = said.len();
            match step {
                Step::Say(tokens) => said.push((words(tokens + 1), nth)),
                Step::Edit(at) => said[at % length].1 = 1_000 + nth,
                Step::Drop(at) => said.truncate(1 + at % length),
                Step::System(kind) => system = kind,
                Step::Mark(at) => marked = at,
                Step::Wait(ms) => {
                    grown.advance(ms);
                    anew.advance(ms);
                }
            }
            // The conversation must end with the user.
            let end = said.len() - usize::from(said.len() % 2 == 0);
            let messages: Vec<Value> = said[..end].iter().enumerate().map(|(at, (text, salt))| {
                let role = ["user", "assistant"][at % 2];
                let mark = (at == end - 1 || at == marked % end).then(marker);
                json!({ "role": role, "content": [block(&format!("{salt} {text}"), mark)] })
            }).collect();
            let body = json!({
                "model": "claude-opus-5", "max_tokens": 100, "messages": messages,
                "system": format!("system {system}"),
            });
            let plain = body.to_string();
            // White space at the front, so that nothing is the same byte for byte.
            let spaced = format!("{{{}{}", " ".repeat(nth + 1), &plain[1..]);
            let one = grown.exchange(&ApiCall { body: Bytes::from(plain), ..call(&body) }).unwrap();
            let other = anew.exchange(&ApiCall { body: Bytes::from(spaced), ..call(&body) }).unwrap();
            prop_assert_eq!(&one.message, &other.message);
            prop_assert_eq!(&one.verdict, &other.verdict);
        }
    }

    #[test]
    fn a_mistake_is_found_where_a_conversation_grew_as_in_one_read_anew(turns in proptest::collection::vec(turn(), 1..25)) {
        let (mut grown, mut anew) = (world(), world());
        let mut messages = vec![json!({ "role": "user", "content": words(900) })];
        for (nth, turn) in turns.into_iter().enumerate() {
            let length = messages.len();
            let id = format!("toolu_{}", turn.id.unwrap_or(1_000 + nth));
            messages.push(json!({ "role": "assistant", "content": [
                { "type": "text", "text": words(30) },
                { "type": "tool_use", "id": id, "name": "Read", "input": {} },
            ] }));
            let mut result = json!({ "type": "tool_result", "tool_use_id": id, "content": words(200) });
            match turn.slip {
                Slip::None => {}
                Slip::Orphan => result["tool_use_id"] = json!("toolu_other"),
                Slip::Marker => result["cache_control"] = marker(),
                Slip::Hour => result["cache_control"] = hour(),
                Slip::Empty => result = json!({ "type": "text", "text": "" }),
                Slip::Inner => result["content"] = json!([block("inner", Some(marker()))]),
            }
            messages.push(json!({ "role": "user", "content": [result] }));
            let mut body = with_tools(json!({ "model": "claude-opus-5", "max_tokens": 100, "messages": messages }));
            if turn.slip == Slip::None {
                body["cache_control"] = marker();
            }
            let plain = body.to_string();
            let spaced = format!("{{{}{}", " ".repeat(nth + 1), &plain[1..]);
            let one = grown.exchange(&ApiCall { body: Bytes::from(plain), ..call(&body) });
            let other = anew.exchange(&ApiCall { body: Bytes::from(spaced), ..call(&body) });
            let said = |reply: Result<ApiReply, ApiError>| reply.map(|reply| (reply.message, reply.verdict));
            let (one, other) = (said(one), said(other));
            prop_assert_eq!(&one, &other);
            // In half of the cases a mistake stays.
            if one.is_err() && nth % 2 == 0 {
                messages.truncate(length);
            }
        }
    }
}

/// A call and its result, and what is wrong with them.
#[derive(Debug, Clone)]
struct Mistake {
    id: Option<usize>,
    slip: Slip,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Slip {
    None,
    Orphan,
    Marker,
    Hour,
    Empty,
    Inner,
}

fn turn() -> impl Strategy<Value = Mistake> {
    let id = prop_oneof![6 => Just(None), 1 => (0_usize..3).prop_map(Some)];
    let slip = prop_oneof![
        8 => Just(Slip::None),
        1 => Just(Slip::Orphan),
        3 => Just(Slip::Marker),
        1 => Just(Slip::Hour),
        1 => Just(Slip::Empty),
        1 => Just(Slip::Inner),
    ];
    (id, slip).prop_map(|(id, slip)| Mistake { id, slip })
}
