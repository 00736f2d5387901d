//! The client's own cache breakpoints are those that the API would see: what only looks like one, in the input of a call
//! or in the schema of a tool, is the client's data (B2, V5).

use longhaul_core::models::ModelTable;
use longhaul_core::prompt::Ttl;
use longhaul_gateway::branch::{RecognitionRequest, RecognizedBody, Tenant};
use longhaul_gateway::breakpoints::ClientBreakpoints;
use longhaul_gateway::front::Gateway;
use longhaul_provider::Dialect;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::economy::script::Script;
use super::lines::Bench;
use super::long::gateway;
use super::managed::{body, talk};
use super::support::{body_of, exchange, header, options, post};

const HEADERS: &str =
    "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";

/// An object with a name that is a breakpoint elsewhere.
fn data(name: &str, lifetime: &str) -> Value {
    json!({name: {"type": "ephemeral", "ttl": lifetime}})
}

fn tool(name: &str, lifetime: &str) -> Value {
    let schema = json!({"type": "object", "properties": data(name, lifetime)});
    json!({"name": "Proxy", "description": "Sends a request.", "input_schema": schema})
}

async fn ask(gateway: &Gateway, messages: &[Value]) -> (String, Value) {
    let mut request = body(messages);
    request["tools"] = json!([tool("cache_control", "1h")]);
    let request = post("/v1/messages", HEADERS, &request.to_string());
    let answer = exchange(gateway.addr(), &request).await;
    let reply = serde_json::from_str(body_of(&answer)).unwrap();
    (answer, reply)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b2_a_client_whose_tools_speak_of_cache_control_gets_breakpoints_like_any_other() {
    let gateway = gateway(ModelTable::builtin(), |_| {}).await;
    let mut messages = talk(20);
    let call = json!({"type": "tool_use", "id": "t0", "name": "Proxy", "input": data("cache_control", "1h")});
    let result = json!({"type": "tool_result", "tool_use_id": "t0", "content": "It was sent."});
    messages.push(json!({"role": "assistant", "content": [call]}));
    messages.push(json!({"role": "user", "content": [result]}));
    let (mut marks, mut read) = (Vec::new(), Vec::new());
    for turn in 0..3 {
        let (answer, reply) = ask(&gateway, &messages).await;
        assert_eq!(reply["type"], "message", "{answer}");
        marks.push(header(&answer, "x-longhaul-marks").unwrap());
        read.push(reply["usage"]["cache_read_input_tokens"].as_u64().unwrap());
        messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": format!("Done {turn}.")}]}));
        messages.push(json!({"role": "user", "content": [{"type": "text", "text": format!("Go on with {turn}.")}]}));
        super::support::caught_up(gateway.addr(), turn + 1).await;
    }
    assert_eq!(marks, ["none", "managed", "managed"]);
    assert!(read[2] > 1_000, "{read:?}");
    gateway.stop().await;
}

/// The decisions by price for a conversation whose calls and tools have this name in their data.
async fn decisions(name: &str, lifetime: &str) -> Vec<String> {
    let script = Script::SONNET;
    let upstream = script.upstream().await;
    let gateway = upstream.gateway(options(upstream.url.clone())).await;
    let mut decisions = Vec::new();
    for turn in 0..40 {
        let mut body = script.body(turn);
        body["tools"]
            .as_array_mut()
            .unwrap()
            .push(tool(name, lifetime));
        for message in body["messages"].as_array_mut().unwrap() {
            if let Some(input) = message.pointer_mut("/content/1/input") {
                input["headers"] = data(name, lifetime);
            }
        }
        let answer = script.send_body(&gateway, &body).await;
        decisions.extend(header(&answer, "x-longhaul-economy"));
    }
    gateway.stop().await;
    decisions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v5_prices_take_the_lifetime_that_the_breakpoints_have_and_not_one_in_the_clients_data() {
    let other = decisions("cache_contral", "1w").await;
    assert!(!other.is_empty());
    assert_eq!(decisions("cache_control", "1h").await, other);
}

/// Where a client writes a breakpoint, or something that looks like one.
#[derive(Debug, Clone, Copy)]
enum Mark {
    Nowhere,
    OnBlock,
    ForAnHour,
    InInput,
}

fn mark() -> impl Strategy<Value = Mark> {
    prop_oneof![
        Just(Mark::Nowhere),
        Just(Mark::OnBlock),
        Just(Mark::ForAnHour),
        Just(Mark::InInput),
    ]
}

fn text_with(mark: Mark, text: &str) -> Value {
    let mut block = json!({"type": "text", "text": text});
    match mark {
        Mark::OnBlock => block["cache_control"] = json!({"type": "ephemeral"}),
        Mark::ForAnHour => block["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"}),
        Mark::Nowhere | Mark::InInput => {}
    }
    block
}

fn message(at: usize, mark: Mark) -> Value {
    let role = ["user", "assistant"][at % 2];
    let mut content = vec![text_with(mark, &format!("Message {at}. ").repeat(40))];
    if let Mark::InInput = mark {
        let input = json!({"a": data("cache_control", "1h"), "cache_control": {}});
        content.push(
            json!({"type": "tool_use", "id": format!("t{at}"), "name": "Proxy", "input": input}),
        );
    }
    json!({"role": role, "content": content})
}

/// A body with its request prefix before or after its messages.
fn request(messages: &[Mark], system: Mark, prefix_first: bool) -> String {
    let list = messages.iter().enumerate();
    let list: Vec<Value> = list.map(|(at, mark)| message(at, *mark)).collect();
    let messages = format!(r#""messages":{}"#, Value::from(list));
    let prefix = format!(
        r#""tools":[{}],"system":[{}]"#,
        tool("cache_control", "1h"),
        text_with(system, "Rules.")
    );
    match prefix_first {
        true => format!(r#"{{"model":"m",{prefix},{messages}}}"#),
        false => format!(r#"{{"model":"m",{messages},{prefix}}}"#),
    }
}

fn read(bench: &Bench, body: &str) -> RecognizedBody {
    let request = RecognitionRequest {
        tenant: Tenant(1),
        dialect: Dialect::Anthropic,
        body: body.as_bytes(),
    };
    let recognized = bench.recognizer.read(request).unwrap();
    bench.recognizer.place(request, &recognized, None);
    recognized
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn b2_what_is_known_of_an_earlier_request_has_its_breakpoints(
        marks in prop::collection::vec(mark(), 2..12),
        // What a request changes of the marks before it, how many messages it has, and its request prefix.
        requests in prop::collection::vec(
            (any::<prop::sample::Index>(), mark(), any::<prop::sample::Index>(), mark(), any::<bool>()), 1..8),
    ) {
        let bench = Bench::new();
        let mut marks = marks;
        for (at, changed, length, system, prefix_first) in requests {
            let at = at.index(marks.len());
            marks[at] = changed;
            let sent = &marks[..=length.index(marks.len())];
            let body = request(sent, system, prefix_first);
            let known = read(&bench, &body).breakpoints;
            let all: Vec<Value> = sent.iter().map(|mark| text_with(*mark, "x")).chain([text_with(system, "x")]).collect();
            let expected = ClientBreakpoints::in_content(Value::from(all).to_string().as_bytes());
            prop_assert_eq!(known, expected, "{}", body);
            prop_assert_eq!(known, read(&Bench::new(), &body).breakpoints);
            let hour = sent.iter().chain([&system]).any(|mark| matches!(mark, Mark::ForAnHour));
            prop_assert_eq!(known.longest() == Some(Ttl::OneHour), hour);
        }
    }
}
