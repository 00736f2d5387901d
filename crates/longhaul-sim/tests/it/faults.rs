//! Every fault as a client sees it, on the wire and in process.

use std::time::{Duration, Instant};

use longhaul_sim::call::ApiCall;
use longhaul_sim::faults::wire::{EventPace, WireStep, script};
use longhaul_sim::faults::{FaultPlan, InjectedFault};
use serde_json::Value;

use crate::house::{self, House, data, hello, hello_streamed};

#[tokio::test]
async fn refusals_have_their_status_envelope_and_headers() {
    let house = House::faulty("429(retry-after=7), 429(none), 529, 500").await;
    let table = [
        (429, "rate_limit_error", Some("7")),
        (429, "rate_limit_error", None),
        (529, "overloaded_error", None),
        (500, "api_error", None),
    ];
    for (status, kind, retry_after) in table {
        let response = house.messages(&hello_streamed()).await;
        assert_eq!(response.status(), status);
        let header = response.headers().get("retry-after");
        assert_eq!(header.map(|value| value.to_str().unwrap()), retry_after);
        if status == 429 {
            assert_eq!(
                response.headers()["anthropic-ratelimit-requests-remaining"],
                "0"
            );
        }
        let error: Value = response.json().await.unwrap();
        assert_eq!(error["error"]["type"], kind);
    }
    assert_eq!(house.messages(&hello()).await.status(), 200);
    // A call that a fault refused never reached the world.
    assert_eq!(house.get("/sim/books").await["total"]["requests"], 1);
}

#[tokio::test]
async fn the_openai_dialect_has_the_same_faults_in_its_own_words() {
    let house = House::faulty("429(3), 529, 500, error").await;
    let body = serde_json::json!({
        "model": "gpt-5", "stream": true, "messages": [{ "role": "user", "content": "Hello" }],
    });
    for (status, kind) in [
        (429, "requests"),
        (503, "service_unavailable_error"),
        (500, "server_error"),
    ] {
        let response = house.chat(&body).await;
        assert_eq!(response.status(), status);
        let error: Value = response.json().await.unwrap();
        assert_eq!(error["error"]["type"], kind);
    }
    let stream = house.chat(&body).await.text().await.unwrap();
    let events = data(&stream);
    assert_eq!(
        events.last().unwrap()["error"]["type"],
        "service_unavailable_error"
    );
    assert!(!stream.contains("[DONE]"));
}

#[tokio::test]
async fn the_first_byte_can_be_slow() {
    let house = House::faulty("slow(300ms)").await;
    let started = Instant::now();
    let response = house.messages(&hello_streamed()).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert!(response.text().await.unwrap().contains("message_stop"));
}

#[tokio::test]
async fn a_stream_can_stall_for_a_while_or_for_good() {
    let house = House::faulty("stall(after=2,for=300ms), stall(after=2)").await;
    let started = Instant::now();
    let whole = house
        .messages(&hello_streamed())
        .await
        .text()
        .await
        .unwrap();
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert!(whole.contains("message_stop"));

    let mut response = house.messages(&hello_streamed()).await;
    let mut seen = Vec::new();
    let reading = async {
        while let Some(chunk) = response.chunk().await.unwrap() {
            seen.extend_from_slice(&chunk);
        }
    };
    let silent = tokio::time::timeout(Duration::from_millis(500), reading).await;
    assert!(silent.is_err(), "the connection must stay open");
    let seen = String::from_utf8(seen).unwrap();
    assert!(seen.contains("message_start") && !seen.contains("message_stop"));
    drop(response);
    // When a client gives up, its reply ends too.
    for _ in 0..100 {
        if house.server.replies() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the stalled reply is still there");
}

#[tokio::test]
async fn a_connection_can_be_reset_within_a_reply() {
    for body in [hello_streamed(), hello()] {
        let house = House::faulty("reset").await;
        let mut response = house.messages(&body).await;
        assert_eq!(response.status(), 200);
        let mut seen = Vec::new();
        let error = loop {
            match response.chunk().await {
                Ok(Some(chunk)) => seen.extend_from_slice(&chunk),
                Ok(None) => panic!("the reply ended in good order"),
                Err(error) => break error,
            }
        };
        assert!(!seen.is_empty());
        assert!(is_reset(&error), "{error:?}");
    }
}

/// Whether the cause of an error, however deep, is a connection that was reset.
fn is_reset(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::ConnectionReset
        {
            return true;
        }
        cause = error.source();
    }
    false
}

#[tokio::test]
async fn a_stream_can_end_in_the_middle_of_an_event() {
    let house = House::faulty("truncate(after=4)").await;
    let stream = house
        .messages(&hello_streamed())
        .await
        .text()
        .await
        .unwrap();
    assert!(!stream.ends_with("\n\n"), "{stream}");
    assert!(!stream.contains("message_stop"));
    assert_eq!(stream.matches("\n\n").count(), 4);
}

#[tokio::test]
async fn json_can_be_malformed_in_an_event_and_in_a_body() {
    let house = House::faulty("malformed(after=4), malformed").await;
    let stream = house
        .messages(&hello_streamed())
        .await
        .text()
        .await
        .unwrap();
    let lines = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let bad: Vec<_> = lines
        .enumerate()
        .filter(|(_, data)| serde_json::from_str::<Value>(data).is_err())
        .map(|(index, _)| index)
        .collect();
    assert_eq!(bad, [4]);
    let body = house.messages(&hello()).await;
    assert_eq!(body.status(), 200);
    assert!(body.json::<Value>().await.is_err());
}

#[tokio::test]
async fn an_error_can_come_within_a_stream() {
    let house = House::faulty("error(after=5), error").await;
    let response = house.messages(&hello_streamed()).await;
    assert_eq!(response.status(), 200);
    let events = data(&response.text().await.unwrap());
    assert_eq!(events.len(), 6);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "error");
    assert_eq!(last["error"]["type"], "overloaded_error");
    assert_eq!(house.messages(&hello()).await.status(), 529);
}

#[tokio::test]
async fn faults_come_and_go_over_http() {
    let house = House::new().await;
    let (status, now) = house
        .control(
            "/sim/faults",
            r#"{"spec":"after 1: 529*2; every 100: 500"}"#,
        )
        .await;
    assert_eq!(status, 200);
    assert_eq!(
        now["pending"],
        serde_json::json!(["after 1: 529*2", "every 100: 500"])
    );
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(house.messages(&hello()).await.status().as_u16());
    }
    assert_eq!(statuses, [200, 529, 529, 200]);
    house.control("/sim/faults", r#"{"spec":"529*50"}"#).await;
    assert_eq!(house.messages(&hello()).await.status(), 529);
    let url = format!("{}/sim/faults", house.server.url());
    let cleared: Value = house
        .client
        .delete(url)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(cleared["pending"], serde_json::json!([]));
    assert_eq!(cleared["struck"], 3);
    assert_eq!(house.messages(&hello()).await.status(), 200);
}

#[tokio::test]
async fn a_rate_strikes_about_as_often_as_it_says() {
    let house = House::faulty("30%: 529").await;
    let mut struck = 0;
    for _ in 0..200 {
        struck += u32::from(house.messages(&hello()).await.status() == 529);
    }
    assert!((35..=85).contains(&struck), "{struck}");
}

#[test]
fn faults_work_without_a_network() {
    let plan = FaultPlan::parse("after 1: 529, truncate(2)", 0).unwrap();
    let mut world = house::world();
    let call = ApiCall {
        key: "k".to_owned(),
        version: "2023-06-01".to_owned(),
        body: hello_streamed().to_string().into(),
        ..ApiCall::default()
    };
    let mut told = Vec::new();
    for request in 1..=3 {
        let fault = plan.decide(request);
        if let Some(error) = fault.and_then(|fault: InjectedFault| fault.refusal()) {
            told.push(error.kind.to_owned());
            continue;
        }
        let reply = world.messages(&call).unwrap();
        let frames = reply
            .events()
            .iter()
            .map(|event| event.to_sse().into())
            .collect();
        let steps = script(frames, fault, EventPace::FAST, &Default::default());
        let sent = steps.iter().map(|step| match step {
            WireStep::Send(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        });
        told.push(sent.collect::<String>());
    }
    assert!(told[0].contains("message_stop"));
    assert_eq!(told[1], "overloaded_error");
    assert_eq!(told[2].matches("\n\n").count(), 2);
}

#[test]
fn a_scripts_faults_come_with_their_turns() {
    use longhaul_sim::model::script::ReplyScript;
    use longhaul_sim::model::{self, SimModel};
    use longhaul_sim::world::{World, WorldOptions};

    let script = concat!(
        "{\"text\": \"one\"}\n",
        "{\"fault\": \"429(retry-after=2)\"}\n",
        "{\"text\": \"two\", \"fault\": \"truncate\"}\n",
        "{\"text\": \"three\"}\n",
    );
    let options = model::SimModelOptions {
        script: Some(ReplyScript::parse(script).unwrap()),
        ..model::SimModelOptions::default()
    };
    let mut world = World::new(WorldOptions::new(1, Box::new(SimModel::new(options))));
    let call = ApiCall {
        key: "k".to_owned(),
        version: "2023-06-01".to_owned(),
        body: serde_json::to_vec(&hello()).unwrap().into(),
        ..ApiCall::default()
    };
    let said = |reply: &longhaul_sim::reply::ApiReply| reply.message["content"][0]["text"].clone();
    let first = world.exchange(&call).unwrap();
    assert_eq!((said(&first), first.fault), ("one".into(), None));
    let refused = world.exchange(&call).unwrap_err();
    assert_eq!((refused.status, refused.retry_after), (429, Some(2)));
    let spoiled = world.exchange(&call).unwrap();
    assert_eq!(said(&spoiled), "two");
    assert!(matches!(
        spoiled.fault,
        Some(InjectedFault::Truncate { .. })
    ));
    assert_eq!(said(&world.exchange(&call).unwrap()), "three");
}

#[tokio::test]
async fn the_model_can_be_told_to_misbehave_while_it_runs() {
    use longhaul_sim::model::{self, SimModel};
    use longhaul_sim::server::{SimServer, SimServerOptions};
    use longhaul_sim::world::{self, World};

    let model = Box::new(SimModel::new(model::SimModelOptions::default()));
    let world = World::new(world::WorldOptions::new(1, model));
    let listen = "127.0.0.1:0".parse().unwrap();
    let server = SimServer::start(listen, world, SimServerOptions::default())
        .await
        .unwrap();
    let house = House {
        server,
        client: house::http_client(),
    };
    let (status, _) = house
        .control("/sim/faults", r#"{"misbehave": "any:refuse"}"#)
        .await;
    assert_eq!(status, 200);
    let reply: Value = house.messages(&hello()).await.json().await.unwrap();
    assert_eq!(reply["stop_reason"], "refusal");
    let (status, answer) = house
        .control("/sim/faults", r#"{"misbehave": "nonsense"}"#)
        .await;
    assert_eq!(status, 400);
    assert!(answer["error"].as_str().unwrap().contains("misbehavior"));
    assert_eq!(house.control("/sim/faults", "{}").await.0, 400);
}
