//! Properties of any request, and of any sequence of requests.

use std::collections::BTreeSet;

use bytes::Bytes;
use longhaul_core::models::ModelTable;
use longhaul_gateway::breakpoints::{BreakpointMode, ReplacedMessages, check};
use longhaul_sim::call::ApiCall;
use longhaul_sim::request::{Endpoint, MessagesRequest};
use longhaul_sim::validate::validate;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Desk, Sent, hour, markers, model, user};

/// One exchange: what the user says, how many calls the model makes, whether a reminder comes with it.
#[derive(Debug, Clone)]
struct Turn {
    text: String,
    calls: usize,
    reminder: bool,
}

fn turn() -> impl Strategy<Value = Turn> {
    ("[a-z\"\\\\\u{e4}\n]{1,9}", 0_usize..13, any::<bool>()).prop_map(|(text, calls, reminder)| {
        Turn {
            text: format!("x{text}"),
            calls,
            reminder,
        }
    })
}

/// How a client writes one of its requests.
#[derive(Debug, Clone)]
struct Guise {
    /// The blocks that have a breakpoint, and whether it is of one hour.
    marks: Vec<(prop::sample::Index, bool)>,
    /// Whether texts are lists: one bit per message.
    lists: u64,
    pretty: bool,
    automatic: bool,
}

fn guise() -> impl Strategy<Value = Guise> {
    let marks = prop::collection::vec(any::<(prop::sample::Index, bool)>(), 0..7);
    (marks, any::<u64>(), any::<bool>(), any::<bool>()).prop_map(
        |(marks, lists, pretty, automatic)| Guise {
            marks,
            lists,
            pretty,
            automatic,
        },
    )
}

#[derive(Debug, Clone)]
enum System {
    None,
    Text,
    Blocks(usize),
}

fn system() -> impl Strategy<Value = System> {
    prop_oneof![
        Just(System::None),
        Just(System::Text),
        (1_usize..4).prop_map(System::Blocks)
    ]
}

/// The request after this many turns, which the API accepts apart from its breakpoints. It ends with what the next turn
/// begins with.
fn plain(turns: &[Turn], count: usize, system: &System, lists: u64) -> Value {
    let text = |said: &str, at: usize| match lists >> (at % 64) & 1 {
        1 => json!([{"type": "text", "text": said}]),
        _ => json!(said),
    };
    let mut messages: Vec<Value> = Vec::new();
    for (number, turn) in turns.iter().take(count).enumerate() {
        messages.push(user(text(&turn.text, messages.len())));
        if turn.reminder {
            messages.push(json!({"role": "system", "content": "a reminder"}));
        }
        let ids: Vec<String> = (0..turn.calls)
            .map(|call| format!("t{number}_{call}"))
            .collect();
        if !ids.is_empty() {
            let calls = ids.iter().map(
                |id| json!({"type": "tool_use", "id": id, "name": "n", "input": {"cache_control": 1}}),
            );
            messages.push(model(calls.collect::<Vec<_>>()));
            let results = ids.iter().map(|id| {
                let content = text("r", id.len() + number);
                json!({"type": "tool_result", "tool_use_id": id, "content": content})
            });
            messages.push(user(results.collect::<Vec<_>>()));
        }
        messages.push(model(text("done", messages.len())));
    }
    let next = turns.get(count).map_or("and now?", |next| &next.text);
    messages.push(user(text(next, messages.len())));
    let mut body = json!({
        "model": "claude-opus-4-8", "max_tokens": 99, "messages": messages,
        "tools": [{"name": "n", "input_schema": {"type": "object"}}],
    });
    match system {
        System::None => {}
        System::Text => body["system"] = json!("rules"),
        System::Blocks(count) => {
            body["system"] = (0..*count)
                .map(|at| json!({"type": "text", "text": format!("rule {at}")}))
                .collect();
        }
    }
    body
}

/// Everything that may have a breakpoint.
fn bearers(body: &mut Value) -> Vec<&mut Value> {
    fn below(value: &mut Value) -> Vec<&mut Value> {
        let items = value.as_array_mut().map(|items| items.iter_mut());
        items.into_iter().flatten().collect()
    }
    let fields = body.as_object_mut().unwrap();
    let mut all = Vec::new();
    for (name, value) in fields {
        match name.as_str() {
            "tools" | "system" => all.extend(below(value)),
            "messages" => {
                for message in below(value) {
                    all.extend(below(&mut message["content"]));
                }
            }
            _ => {}
        }
    }
    all
}

/// The request in the form in which the client writes it this time.
fn dressed(turns: &[Turn], count: usize, system: &System, guise: &Guise) -> String {
    let mut body = plain(turns, count, system, guise.lists);
    if guise.automatic {
        body["cache_control"] = json!({"type": "ephemeral"});
    }
    let mut all = bearers(&mut body);
    for (index, long) in &guise.marks {
        let at = index.index(all.len());
        let short = json!({"type": "ephemeral", "ttl": "5m"});
        let inner = all[at].get_mut("content").filter(|_| *long);
        let inner = inner.and_then(|content| content.get_mut(0));
        let mark = if *long { hour() } else { short };
        match inner {
            Some(part) => part["cache_control"] = mark,
            None => all[at]["cache_control"] = mark,
        }
    }
    if guise.pretty {
        serde_json::to_string_pretty(&body).unwrap()
    } else {
        body.to_string()
    }
}

/// The body without breakpoints, and with every text as a list of blocks.
fn said(mut body: Value) -> Value {
    fn as_list(value: &mut Value) {
        if let Some(text) = value.as_str() {
            *value = json!([{"type": "text", "text": text}]);
        }
    }
    body.as_object_mut().unwrap().remove("cache_control");
    if body.get("system").is_some() {
        as_list(&mut body["system"]);
    }
    for message in body["messages"].as_array_mut().unwrap() {
        as_list(&mut message["content"]);
    }
    for bearer in bearers(&mut body) {
        bearer.as_object_mut().unwrap().remove("cache_control");
        if bearer["type"] == "tool_result" {
            as_list(&mut bearer["content"]);
            for part in bearer["content"].as_array_mut().unwrap() {
                part.as_object_mut().unwrap().remove("cache_control");
            }
        }
    }
    body
}

fn taken(text: &str) -> Result<(), String> {
    let call = ApiCall {
        version: "2023-06-01".to_owned(),
        ..ApiCall::default()
    };
    let betas = BTreeSet::new();
    let request = MessagesRequest::read(text.as_bytes(), Endpoint::Messages, &betas, &call.version);
    let request = request.map_err(|error| error.message)?;
    let spec = ModelTable::builtin().resolve(&request.model).spec;
    validate(&request, &spec, &call).map_err(|error| error.message)
}

/// The bytes of each message.
fn elements(text: &str) -> Vec<String> {
    let outline = longhaul_gateway::body::read(text.as_bytes()).unwrap();
    let elements = outline.elements.iter();
    elements
        .map(|element| text[element.span.clone()].to_owned())
        .collect()
}

/// The position of the last breakpoint in the messages.
fn end_of(sent: &Sent) -> String {
    sent.markers().last().unwrap().replace(" 1h", "")
}

/// Any JSON, made of names that have a meaning here.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        Just(json!({"type": "ephemeral", "ttl": "1h"})),
        prop::sample::select(vec![
            "text",
            "tool_result",
            "thinking",
            "user",
            "",
            "ephemeral"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let names = [
            "cache_control",
            "content",
            "source",
            "type",
            "text",
            "role",
            "input",
            "ttl",
        ];
        let name = prop::sample::select(names.map(str::to_owned).to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Removes everything called a breakpoint, at any depth.
fn bare(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(bare);
        }
        Value::Array(items) => items.iter_mut().for_each(bare),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("LONGHAUL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(96),
    ))]

    #[test]
    fn b2_what_is_sent_says_the_same_and_is_taken(
        turns in prop::collection::vec(turn(), 0..5),
        system in system(),
        guise in guise(),
    ) {
        let body = dressed(&turns, turns.len(), &system, &guise);
        let sent = Desk::new(BreakpointMode::Manage).send(&body);
        prop_assert_eq!(said(sent.json()), said(serde_json::from_str(&body).unwrap()));
        prop_assert_eq!(check(sent.text.as_bytes()), Ok(sent.markers().len()));
        prop_assert_eq!(taken(&sent.text), Ok(()));
        let markers = sent.markers();
        prop_assert!((2..=3).contains(&markers.len()), "{:?}", markers);
        let hours = markers.iter().filter(|place| place.ends_with("1h")).count();
        prop_assert!(hours == 0 || hours == markers.len());
        // A request with these breakpoints needs no further change.
        let again = Desk::new(BreakpointMode::Manage).send(&sent.text);
        prop_assert!(again.exact, "{} {}", sent.text, again.text);
    }

    #[test]
    fn b2_the_check_says_what_the_offline_world_says(
        turns in prop::collection::vec(turn(), 0..3),
        system in system(),
        guise in guise(),
    ) {
        let body = dressed(&turns, turns.len(), &system, &guise);
        let (mine, theirs) = (check(body.as_bytes()), taken(&body));
        prop_assert_eq!(mine.is_ok(), theirs.is_ok(), "{:?} {:?} {}", mine, theirs, body);
    }

    #[test]
    fn b2_a_valid_request_stays_valid_when_its_beginning_is_replaced(
        turns in prop::collection::vec(turn(), 1..5),
        system in system(),
        guise in guise(),
        cut in any::<prop::sample::Index>(),
    ) {
        let body = dressed(&turns, turns.len(), &system, &guise);
        let value: Value = serde_json::from_str(&body).unwrap();
        let messages = value["messages"].as_array().unwrap();
        // After the assistant's last message no result is left without its call.
        let ends: Vec<usize> = (0..messages.len())
            .filter(|at| messages[*at]["role"] == "assistant" && messages[*at].to_string().contains("done"))
            .collect();
        let replaced = ReplacedMessages {
            elements: 0..ends[cut.index(ends.len())] + 1,
            text: Bytes::from_static(br#"{"role":"user","content":"in short"},{"role":"assistant","content":"yes"}"#),
 marked_after: None,
};
        let kept = Desk::new(BreakpointMode::Keep).send_behind(&body, Some(&replaced));
        let mut expected = value.clone();
        let list = expected["messages"].as_array_mut().unwrap();
        list.splice(replaced.elements.clone(), [user("in short"), model("yes")]);
        // A breakpoint that would be lost is set at the end of the replacement.
        prop_assert_eq!(said(kept.json()), said(expected));
        if check(body.as_bytes()).is_ok() {
            prop_assert!(check(kept.text.as_bytes()).is_ok());
            prop_assert_eq!(taken(&kept.text), Ok(()));
        }
        let managed = Desk::new(BreakpointMode::Manage).send_behind(&body, Some(&replaced));
        prop_assert_eq!(said(managed.json()), said(kept.json()));
        prop_assert_eq!(taken(&managed.text), Ok(()));
    }

    #[test]
    fn b2_a_conversation_that_goes_on_is_bridged_latched_and_leaves_no_marker_behind(
        turns in prop::collection::vec(turn(), 2..7),
        system in system(),
        guises in prop::collection::vec(guise(), 6),
    ) {
        let mut desk = Desk::new(BreakpointMode::Manage);
        let mut before: Option<(String, bool)> = None;
        for (count, guise) in (1..=turns.len()).zip(guises) {
            let body = dressed(&turns, count, &system, &guise);
            let sent = desk.send(&body);
            prop_assert_eq!(said(sent.json()), said(serde_json::from_str(&body).unwrap()));
            prop_assert_eq!(taken(&sent.text), Ok(()));
            let markers = sent.markers();
            let long = markers[0].ends_with("1h");
            prop_assert!(markers.iter().all(|place| place.ends_with("1h") == long));
            // Positions of the conversation, in order.
            let value = said(sent.json());
            let places: Vec<String> = (value["messages"].as_array().unwrap().iter().enumerate())
                .flat_map(|(at, message)| {
                    let blocks = message["content"].as_array().unwrap().len();
                    (0..blocks).map(move |block| format!("{at}.{block}"))
                })
                .collect();
            let position = |place: &String| places.iter().position(|each| each == place).unwrap();
            let end = end_of(&sent);
            prop_assert_eq!(position(&end), places.len() - 1);
            let inside: Vec<String> = markers.iter().map(|place| place.replace(" 1h", ""))
                .filter(|place| places.contains(place)).collect();
            match &before {
                Some((written, was_long)) => {
                    prop_assert_eq!(long, *was_long);
                    let far = position(&end) - position(written) - 1 > 15;
                    let expected = if far { vec![written.clone(), end.clone()] } else { vec![end.clone()] };
                    prop_assert_eq!(inside, expected);
                    prop_assert_eq!(sent.did.bridges, usize::from(far));
                }
                None => prop_assert_eq!(inside, vec![end.clone()]),
            }
            before = Some((end, long));
        }
    }

    #[test]
    fn b1_a_message_without_a_marker_has_the_same_bytes_in_every_request(
        turns in prop::collection::vec(turn(), 2..7),
        system in system(),
        guises in prop::collection::vec(guise(), 6),
        lists in any::<u64>(),
    ) {
        // The client moves its breakpoints and writes everything else as before.
        let mut desk = Desk::new(BreakpointMode::Manage);
        let bare = elements(&plain(&turns, turns.len(), &system, lists).to_string());
        for (count, guise) in (1..=turns.len()).zip(guises) {
            let guise = Guise { lists, pretty: false, ..guise };
            let sent = desk.send(&dressed(&turns, count, &system, &guise));
            let list = elements(&sent.text);
            let end = list.len() - 1;
            for (at, element) in list.iter().enumerate().take(end) {
                let is_bare = markers(&json!({"messages": [serde_json::from_str::<Value>(element).unwrap()]})).is_empty();
                prop_assert!(!is_bare || *element == bare[at], "{} {}", element, bare[at]);
            }
        }
    }

    #[test]
    fn m2_of_any_json_only_markers_are_changed(
        system in anything(),
        tools in anything(),
        contents in prop::collection::vec(anything(), 1..5),
        pretty in any::<bool>(),
    ) {
        let messages: Vec<Value> = contents.into_iter().map(user).collect();
        let mut body = json!({"system": system, "model": "m", "tools": tools, "messages": messages});
        let text = if pretty { serde_json::to_string_pretty(&body).unwrap() } else { body.to_string() };
        let mut sent = Desk::new(BreakpointMode::Manage).send(&text).json();
        for value in [&mut body, &mut sent] {
            bare(value);
            let said = &mut value["messages"];
            let contents = said.as_array_mut().unwrap().iter_mut().map(|message| &mut message["content"]);
            contents.filter(|content| content.is_string()).for_each(|content| {
                *content = json!([{"type": "text", "text": content.as_str().unwrap()}]);
            });
            if let Some(text) = value["system"].as_str() {
                value["system"] = json!([{"type": "text", "text": text}]);
            }
        }
        prop_assert_eq!(sent, body);
    }
}
