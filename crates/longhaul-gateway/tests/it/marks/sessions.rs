//! Whole sessions with the simulator, by clients that set breakpoints well, badly or not at all: what is read from the
//! cache and what it costs, with their own breakpoints and with the gateway's. `--nocapture` shows the table.

use bytes::Bytes;
use longhaul_gateway::breakpoints::{BreakpointMode, ReplacedMessages};
use longhaul_sim::call::ApiCall;
use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::usage_log::UsageTotals;
use longhaul_sim::world::{World, WorldOptions};
use serde_json::{Value, json};

use super::{Desk, hour, marker, model, user};

/// Gives brief answers: the test writes what the model did.
struct Brief;

impl ReplyModel for Brief {
    fn reply(&mut self, _: &ModelTurn<'_>) -> ReplyDraft {
        ReplyDraft {
            content: vec![DraftBlock::Text("Done.".to_owned())],
            stop: DraftStop::Natural,
        }
    }
}

const TURNS: usize = 60;
/// One turn in this many has thirty parallel calls.
const MANY_EVERY: usize = 8;
const MANY: usize = 30;
/// A turn before which the user said something, so that no result is left without its call.
const REPLACED_AT: usize = 33;

fn words(count: usize, seed: usize) -> String {
    let words = [
        "river", "stone", "light", "paper", "garden", "window", "north", "cloud",
    ];
    let list = (0..count).map(|nth| words[(nth * 7 + nth / 8 + seed) % 8]);
    list.collect::<Vec<_>>().join(" ")
}

/// How a client sets breakpoints in a body that has none.
type Marking = fn(&mut Value);

fn block(body: &mut Value, message: usize) -> &mut Value {
    let blocks = body["messages"][message]["content"].as_array_mut().unwrap();
    blocks.last_mut().unwrap()
}

fn last(body: &mut Value) -> &mut Value {
    let end = body["messages"].as_array().unwrap().len() - 1;
    block(body, end)
}

const CLIENTS: [(&str, Marking); 7] = [
    ("no markers", |_| {}),
    ("system alone", |body| {
        body["system"][2]["cache_control"] = marker();
    }),
    ("four on the first messages", |body| {
        for message in 0..body["messages"].as_array().unwrap().len().min(4) {
            block(body, message)["cache_control"] = marker();
        }
    }),
    ("an hour behind five minutes", |body| {
        body["system"][2]["cache_control"] = marker();
        last(body)["cache_control"] = hour();
    }),
    ("automatic caching", |body| {
        body["cache_control"] = marker();
    }),
    ("system twice and the end", |body| {
        body["system"][1]["cache_control"] = marker();
        body["system"][2]["cache_control"] = marker();
        last(body)["cache_control"] = marker();
    }),
    ("the same for an hour", |body| {
        body["system"][1]["cache_control"] = hour();
        body["system"][2]["cache_control"] = hour();
        last(body)["cache_control"] = hour();
    }),
];

/// A message of a client that writes a text without a breakpoint as a string.
fn flipped(message: &mut Value) {
    let only = match message["content"].as_array().map(Vec::as_slice) {
        Some([only]) if only.as_object().unwrap().len() == 2 && only["type"] == "text" => {
            only["text"].clone()
        }
        _ => return,
    };
    message["content"] = only;
}

/// The course of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    /// Some turns have many parallel calls.
    Many,
    /// No turn has many parallel calls.
    Few,
    /// From the middle on, a short text replaces the first half.
    Replaced,
}

/// A session; returns the part of each call's prompt that was read from the cache, and the totals.
fn session(marks: BreakpointMode, marking: Marking, course: Course) -> (Vec<f64>, UsageTotals) {
    let mut world = World::new(WorldOptions::new(7, Box::new(Brief)));
    let mut desk = Desk::new(marks);
    let text = |text: String| json!([{"type": "text", "text": text}]);
    let mut messages = vec![user(text(words(50, 1)))];
    let mut shares = Vec::new();
    let mut replaced = None;
    for turn in 0..TURNS {
        let mut body = json!({
            "model": "claude-opus-5-5", "max_tokens": 200, "messages": messages,
            "system": [{"type": "text", "text": "billing"}, {"type": "text", "text": words(3_000, 2)},
                {"type": "text", "text": words(1_000, 3)}],
            "tools": [{"name": "read", "description": words(500, 4), "input_schema": {"type": "object"}}],
        });
        marking(&mut body);
        body["messages"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(flipped);
        if course == Course::Replaced && turn == REPLACED_AT {
            replaced = Some(ReplacedMessages {
                elements: 0..messages.len() - 1,
                text: Bytes::from_static(
                    br#"{"role":"user","content":"in short"},{"role":"assistant","content":"yes"}"#,
                ),
                marked_after: None,
            });
        }
        let sent = desk.send_behind(&body.to_string(), replaced.as_ref());
        let call = ApiCall {
            key: "k".to_owned(),
            version: "2023-06-01".to_owned(),
            body: Bytes::from(sent.text),
            ..ApiCall::default()
        };
        let answered = world.exchange(&call);
        assert!(
            marks == BreakpointMode::Keep || answered.is_ok(),
            "{answered:?}"
        );
        shares.push(world.usage_log().last().unwrap().tokens.hit_rate);
        // A pause for thought; sometimes a longer one, within five minutes.
        world.advance(if turn % 10 == 9 { 200_000 } else { 15_000 });
        let many = course == Course::Many && turn % MANY_EVERY == MANY_EVERY - 1;
        let calls = if many { MANY } else { turn % 4 };
        let ids: Vec<String> = (0..calls).map(|call| format!("t{turn}_{call}")).collect();
        if ids.is_empty() {
            messages.push(model(text(words(40, turn))));
            messages.push(user(text(words(60, turn + 1))));
            continue;
        }
        let calls = ids
            .iter()
            .map(|id| json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": id}}));
        messages.push(model(calls.collect::<Vec<_>>()));
        let results = ids.iter().enumerate().map(|(at, id)| {
            json!({"type": "tool_result", "tool_use_id": id, "content": words(150, turn + at)})
        });
        messages.push(user(results.collect::<Vec<_>>()));
    }
    (shares, world.usage_log().total)
}

#[test]
fn b2_managed_markers_read_what_was_written_whoever_the_client_is() {
    println!("| client | read, its own markers | cost | read, managed | cost |");
    for (name, marking) in CLIENTS {
        let (_, own) = session(BreakpointMode::Keep, marking, Course::Many);
        let (shares, ours) = session(BreakpointMode::Manage, marking, Course::Many);
        let refused = own.errors == own.requests;
        assert_eq!(ours.errors, 0, "{name}");
        // Every call but the first reads from the cache, including those after thirty parallel calls.
        for (turn, share) in shares.iter().enumerate().skip(1) {
            let many = turn % MANY_EVERY == 0;
            assert!(
                *share > if many { 0.35 } else { 0.8 },
                "{name}: {turn} {share}"
            );
        }
        assert!(ours.hit_rate > 0.9, "{name}: {}", ours.hit_rate);
        let (was, is) = (own.cost_usd.to_f64(), ours.cost_usd.to_f64());
        assert!(refused || is <= was, "{name}: {was} {is}");
        if refused {
            println!(
                "| {name} | refused | – | {:.1} % | ${is:.2} |",
                100.0 * ours.hit_rate
            )
        } else {
            println!(
                "| {name} | {:.1} % | ${was:.2} | {:.1} % | ${is:.2} |",
                100.0 * own.hit_rate,
                100.0 * ours.hit_rate
            )
        }
    }
}

#[test]
fn b2_clients_that_mark_well_neither_gain_nor_lose() {
    for (name, marking) in CLIENTS.into_iter().skip(4) {
        let (_, own) = session(BreakpointMode::Keep, marking, Course::Few);
        let (_, ours) = session(BreakpointMode::Manage, marking, Course::Few);
        assert_eq!(own, ours, "{name}");
    }
}

#[test]
fn b2_behind_what_stands_for_the_beginning_the_cache_is_warm_again_at_once() {
    for (name, marking) in CLIENTS {
        let (shares, ours) = session(BreakpointMode::Manage, marking, Course::Replaced);
        assert_eq!(ours.errors, 0, "{name}");
        for (turn, share) in shares.iter().enumerate().skip(1) {
            // Even the first request with the replacement reads system and tools.
            assert!(*share > 0.8, "{name}: {turn} {share}");
        }
        let (_, own) = session(BreakpointMode::Keep, marking, Course::Replaced);
        let refused_before = session(BreakpointMode::Keep, marking, Course::Few).1.errors;
        assert!(own.errors <= refused_before, "{name}");
    }
}
