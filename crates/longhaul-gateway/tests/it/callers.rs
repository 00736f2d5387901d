//! Which agent calls, how a gateway proves whose it is, and what is answered to clients that want another protocol.

use longhaul_gateway::calling_agent::{AgentRunId, CallingAgent};
use longhaul_gateway::front::Gateway;
use longhaul_gateway::proof::GatewayProof;
use serde_json::{Value, json};

use super::support::{
    self, REPLY, answering, body_of, caught_up, exchange, gateway, get, options, post,
};

fn parsed(answer: &str) -> Value {
    serde_json::from_str(body_of(answer)).unwrap()
}

#[tokio::test]
async fn x8_the_path_that_names_an_agent_is_for_the_gateway_alone() {
    let (url, got) = answering(REPLY).await;
    let gateway = gateway(url).await;
    let body = support::body(&json!([{"role": "user", "content": "hi"}]));
    let caller = CallingAgent::new("claude", AgentRunId(7));
    let path = format!("{}/v1/messages?beta=true", caller.path());
    let answer = exchange(gateway.addr(), &post(&path, "", &body)).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // Without the path, all that is known is what the client calls itself.
    let named = post("/v1/messages", "user-agent: tool/1.0\r\n", &body);
    exchange(gateway.addr(), &named).await;
    caught_up(gateway.addr(), 2).await;
    let sent: Vec<String> = got
        .lock()
        .unwrap()
        .iter()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .collect();
    assert!(
        sent[0].starts_with("POST /v1/messages?beta=true HTTP/1.1"),
        "{}",
        sent[0]
    );
    assert!(!sent[0].contains("claude/"), "{}", sent[0]);
    let told = parsed(&get(gateway.addr(), "/longhaul/api/savings?by=agent").await);
    let keys: Vec<&str> = told["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["key"].as_str().unwrap())
        .collect();
    assert_eq!(keys.len(), 2);
    assert!(
        keys.contains(&"claude") && keys.contains(&"tool"),
        "{keys:?}"
    );
    assert_eq!(told["total"]["calls"], 2);
    let run = parsed(&get(gateway.addr(), "/longhaul/api/savings?run=7&since=0").await);
    assert_eq!(run["total"]["calls"], 1);
    assert_eq!(run["lost"]["results"], 0);
    for wrong in ["by=colour", "since=soon", "run=x", "what=1"] {
        let answer = get(gateway.addr(), &format!("/longhaul/api/savings?{wrong}")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{wrong}: {answer}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_gateway_for_one_agent_knows_it_without_a_path() {
    let (url, _) = answering(REPLY).await;
    let mut options = options(url);
    options.caller = Some(CallingAgent::new("mine", AgentRunId(9)));
    let gateway = Gateway::start(options).await.unwrap();
    let body = support::body(&json!([{"role": "user", "content": "hi"}]));
    exchange(gateway.addr(), &post("/v1/messages", "", &body)).await;
    caught_up(gateway.addr(), 1).await;
    let told = parsed(&get(gateway.addr(), "/longhaul/api/savings?by=agent&run=9").await);
    assert_eq!(told["rows"][0]["key"], "mine");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_gateway_proves_itself_by_its_secret_and_only_if_it_has_one() {
    let (url, _) = answering(REPLY).await;
    let plain = gateway(url.clone()).await;
    let challenge = GatewayProof::challenge().unwrap();
    let path = format!("/longhaul/proof?challenge={challenge}");
    assert!(get(plain.addr(), &path).await.starts_with("HTTP/1.1 404"));
    plain.stop().await;
    let proof = GatewayProof::draw().unwrap();
    let mut options = options(url);
    options.proof = Some(proof.clone());
    // Also where sessions are shown only to those who have the token.
    options.token = Some(longhaul_provider::Secret::new("sesame"));
    let gateway = Gateway::start(options).await.unwrap();
    let answer = parsed(&get(gateway.addr(), &path).await);
    let (pid, port) = (std::process::id(), gateway.addr().port());
    assert!(proof.accepts(pid, port, &challenge, answer["proof"].as_str().unwrap()));
    assert!(!answer.to_string().contains(&proof.to_hex()));
    for wrong in ["", "?challenge=", "?challenge=zz", "?challenge=00"] {
        let answer = get(gateway.addr(), &format!("/longhaul/proof{wrong}")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{wrong}: {answer}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_client_that_wants_a_websocket_is_told_to_use_plain_http() {
    let (url, got) = answering(REPLY).await;
    let gateway = gateway(url).await;
    let wants = "GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    let answer = exchange(gateway.addr(), wants.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 426"), "{answer}");
    assert!(answer.contains("over plain HTTP"), "{answer}");
    assert!(got.lock().unwrap().is_empty());
    gateway.stop().await;
}
