//! Sends a recorded session again, and adds up what it costs.
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jiff::Timestamp;
use longhaul::Clock;
use longhaul_core::message::Usage;
use longhaul_core::models::ModelTable;
use longhaul_core::money::Usd;
use longhaul_gateway::front::Gateway;
use serde_json::{Value, json};

use crate::details::Bill;
use crate::fidelity;
use crate::figures::{number, short};
use crate::forecast::record;
use crate::provider::Provider;
use crate::requests::{beside, is_bound_thinking, marked, marked_if_user, named};
use crate::route::{Between, Route};
use crate::session::Session;

/// How long a summary that was announced is waited for.
const PATIENCE: Duration = Duration::from_millis(1_600);

/// Sends a session.
pub(crate) async fn bill(session: &Session, model: &str, window: u64, between: &Between) -> Bill {
    let window = match between {
        Between::Gateway(..) | Between::ProviderCompacts => window,
        Between::Nothing | Between::ProviderClears | Between::Peer(_) => 20_000_000,
    };
    let text = format!("[models.{model}]\nwindow = {window}\n");
    let models = ModelTable::builtin().extended_with(&text).unwrap();
    let spec = models.resolve(model).spec.clone();
    let binds = spec.thinking.binding.may_bind();
    let route = Route::open(models, between).await;
    let mut client = HttpClient::builder(TokioExecutor::new());
    if matches!(between, Between::Peer(_)) {
        // When the recorded time jumps, a proxy may close what was idle for so long just as the next request comes.
        client.pool_max_idle_per_host(0);
    }
    let client: HttpClient<HttpConnector, Full<Bytes>> = client.build_http();
    let beside = beside(session, model, between, binds);
    let most = number("LONGHAUL_BILL_MOST", u64::MAX);
    // The messages that keep their bytes from now on, and the newest ones.
    let mut written = String::new();
    let mut recent: Vec<Value> = Vec::new();
    let mut thoughts: Vec<Value> = Vec::new();
    // The ids that the provider gave to the recorded calls.
    let mut ids: BTreeMap<String, Value> = BTreeMap::new();
    let mut bill = Bill::default();
    let (mut own, mut answers, mut sent) = (0, Usd::ZERO, 0);
    let mut last: Option<Timestamp> = None;
    for (at, (message, time)) in session.messages.iter().enumerate() {
        if message["role"] == "assistant" {
            let mut message = named(message, &ids);
            if let Some(content) = message["content"].as_array_mut() {
                content.splice(0..0, std::mem::take(&mut thoughts));
            }
            recent.push(message);
            continue;
        }
        let answer = session.messages.get(at + 1).map(|(answer, _)| answer);
        let Some(answer) = answer.filter(|_| (bill.requests as u64) < most) else {
            break;
        };
        let message = &named(message, &ids);
        route.provider.says(answer);
        sent = at + 1;
        let gap = last
            .zip(*time)
            .map_or(0, |(last, now)| now.duration_since(last).as_millis().max(0));
        last = time.or(last);
        route.advance(i64::try_from(gap).unwrap());
        // Agents set a breakpoint on their two newest messages.
        let newest = marked(message);
        let earlier: Vec<String> = recent.iter().map(marked_if_user).collect();
        let parts: Vec<&str> = [written.as_str()]
            .into_iter()
            .chain(earlier.iter().map(String::as_str))
            .chain([newest.as_str()])
            .filter(|part| !part.is_empty())
            .collect();
        let body = format!("{{\"messages\":[{}],{beside}", parts.join(","));
        let url = route.url.join("/v1/messages").unwrap();
        let request = http::Request::post(url.as_str())
            .header("x-api-key", "k")
            .header("anthropic-version", "2023-06-01")
            .header(
                "anthropic-beta",
                "context-management-2025-06-27,compact-2026-01-12",
            )
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        let asked = Instant::now();
        let reply = client.request(request).await.unwrap();
        let status = reply.status();
        let pays = reply
            .headers()
            .get("x-longhaul-economy")
            .is_some_and(|economy| {
                economy
                    .to_str()
                    .is_ok_and(|economy| economy.contains("summarize"))
            });
        let reply = reply.into_body().collect().await.unwrap().to_bytes();
        bill.waits.push(asked.elapsed().as_secs_f64() * 1_000.0);
        bill.requests += 1;
        if !status.is_success() {
            let said = String::from_utf8_lossy(&reply);
            let refusal = format!(
                "{}: request {}: {status} {said}",
                session.name, bill.requests
            );
            assert!(matches!(between, Between::Peer(_)), "{refusal}");
            bill.refused += 1;
            bill.refusal.get_or_insert(refusal);
        }
        let reply: Value = serde_json::from_slice(&reply).unwrap_or_default();
        if *between == Between::Nothing {
            let mut answer = answer.clone();
            answer["id"] = json!(format!("msg_{}", bill.requests));
            answer["model"] = json!(model);
            answer["usage"] = reply["usage"].clone();
            if let (Some(blocks), Some(given)) = (
                answer["content"].as_array_mut(),
                reply["content"].as_array(),
            ) {
                let thinks = |block: &&Value| is_bound_thinking(block, binds);
                blocks.splice(0..0, given.iter().filter(thinks).cloned());
            }
            let now = route.clock.now();
            record(&mut bill.recorded, now, &session.messages[at].0);
            record(&mut bill.recorded, now, &answer);
        }
        let output = reply["usage"]["output_tokens"].as_u64().unwrap_or(0);
        let usage = Usage {
            output,
            ..Usage::default()
        };
        answers += spec.cost_of_reply(&usage).unwrap();
        let content = reply["content"].as_array().cloned().unwrap_or_default();
        let calls = |blocks: &[Value]| -> Vec<Value> {
            let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
            calls.map(|call| call["id"].clone()).collect()
        };
        let recorded = calls(answer["content"].as_array().map_or(&[], Vec::as_slice));
        ids = recorded
            .iter()
            .map(Value::to_string)
            .zip(calls(&content))
            .collect();
        thoughts = content
            .into_iter()
            .filter(|block| block["type"] == "compaction" || is_bound_thinking(block, binds))
            .collect();
        for earlier in std::mem::take(&mut recent) {
            if !written.is_empty() {
                written.push(',');
            }
            written += &earlier.to_string();
        }
        recent.push(message.clone());
        let used =
            Usage::read(reply["usage"].to_string().as_bytes()).map_or(0, |usage| usage.prompt());
        if matches!(between, Between::Gateway(..)) && (pays || used * 2 > window) {
            let patience = if pays { PATIENCE } else { PATIENCE / 8 };
            settled(&route.provider, own + bill.requests, patience).await;
            own = route.provider.calls() - bill.requests;
        }
    }
    let server = &route.provider.server;
    bill.tokens = server.with_world(|world| world.usage_log().total);
    bill.cost = bill.tokens.cost_usd - answers;
    let seen = route.provider.seen();
    bill.largest = seen.largest;
    let sent = session.messages[..sent].iter().map(|(message, _)| message);
    bill.kept = fidelity::kept(&sent.collect::<Vec<_>>(), &seen.texts);
    if std::env::var_os("LONGHAUL_BILL_SHOW").is_some() {
        let name = between.name();
        println!("\n{name}: {:?}, answers {}", bill.tokens, short(answers));
        if let Some(gateway) = &route.gateway {
            show(gateway, &client).await;
        }
    }
    if let Some(gateway) = route.gateway {
        gateway.stop().await;
    }
    route.provider.server.stop().await;
    bill
}

/// Gives a summary that may be under way the time to arrive: a real client takes longer for its next request than this
/// one does.
async fn settled(provider: &Provider, known: usize, patience: Duration) {
    let began = Instant::now();
    while began.elapsed() < patience {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if provider.calls() > known {
            tokio::time::sleep(PATIENCE / 4).await;
            return;
        }
    }
}

/// Prints every compaction.
async fn show(gateway: &Gateway, client: &HttpClient<HttpConnector, Full<Bytes>>) {
    let get = async |path: String| -> Value {
        let request = http::Request::get(format!("http://{}{path}", gateway.addr()));
        let reply = client
            .request(request.body(Full::default()).unwrap())
            .await
            .unwrap();
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    };
    tokio::time::sleep(Duration::from_secs(2)).await;
    let sessions = get("/longhaul/api/sessions".to_owned()).await;
    for session in sessions["sessions"].as_array().into_iter().flatten() {
        let path = format!(
            "/longhaul/api/sessions/{}",
            session["session"].as_str().unwrap()
        );
        for made in get(path).await["compactions"]
            .as_array()
            .into_iter()
            .flatten()
        {
            println!(
                "    {} {} -> {} cost {} economy {} files {} notes {}",
                made["kind"],
                made["before_tokens"],
                made["after_tokens"],
                made["cost_usd"],
                made["report"]["economy"],
                made["report"]["files"],
                made["report"]["notes"]
            );
        }
    }
}
