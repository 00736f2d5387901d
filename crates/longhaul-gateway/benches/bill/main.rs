//! What recorded sessions cost through the gateway, by the books of the simulator (V3, V5, V9).
//!
//! Run `cargo bench -p longhaul-gateway --bench bill`. A client that never trims sends each long recorded session again,
//! at the recorded times, through a gateway to the simulator. The baseline is the same client without a gateway and with
//! a window without an end. That direct run is recorded as a transcript with the usage that the simulator billed, and
//! beside the bills stands what `longhaul replay` forecasts for the recording, and the best schedule in hindsight. Figures
//! are of prompts, summaries and clearings; what the model writes in its answers is left out, because it is the same for
//! all.
//!
//! Assumptions: the model answers what it answered in the recording, whatever it had in view; recorded thinking is left out
//! (its signatures are not the simulator's), and a model that binds thinking gets the simulator's own; the system prompt
//! is plain text of the recorded size; images are a line of text. `LONGHAUL_BILL_MODEL` and `LONGHAUL_BILL_WINDOW` choose
//! another model or window, `LONGHAUL_BILL_MOST` the most requests of a session, `LONGHAUL_BILL_ONLY` sessions by a part
//! of their path; `LONGHAUL_BILL_OURS` leaves out the provider's own ways, `LONGHAUL_BILL_WAYS` takes only these
//! (`clear,p-compact`), `LONGHAUL_BILL_SHOW` prints every compaction, `LONGHAUL_BILL_KEEP` names a folder that gets the
//! transcripts of the direct runs.
//! `LONGHAUL_PEERS` names other proxies to send the same through (`../peers/mod.rs`); they get a provider with a window
//! without an end, as the direct client does, because a request that is refused would cost them nothing.
//! `cargo test -p longhaul-gateway --bench bill` runs the same without an optimized build.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "a bench talks, reads files and measures time"
)]

mod details;
mod fidelity;
mod forecast;
#[path = "../peers/mod.rs"]
mod peers;
mod provider;
mod recorded_time;
mod session;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jiff::Timestamp;
use longhaul::Clock;
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::message::Usage;
use longhaul_core::models::ModelTable;
use longhaul_core::money::Usd;
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::InMemoryStore;
use serde_json::{Value, json};
use url::Url;

use details::{Bill, details};
use forecast::{Forecast, POLICIES, forecast, record};
use peers::Peer;
use provider::{CLIENTS_MAX_TOKENS, Provider};
use recorded_time::RecordedTime;
use session::{Session, read, tools};

/// Sessions of at least this size are long.
const LONG: u64 = 1_000_000;
const WINDOW: u64 = 200_000;
const GOALS: [(&str, f64); 2] = [("clear", 0.66), ("full", 0.48)];
const NEVER_ABOVE: f64 = 1.02;
/// How far a forecast may be from the bill.
const FORECAST_ERROR: f64 = 0.05;
/// How long a summary that was announced is waited for.
const PATIENCE: Duration = Duration::from_millis(1_600);

/// What stands between the client and the model.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Between {
    Nothing,
    ProviderClears,
    ProviderCompacts,
    Gateway(EconomyPolicy, ResultReduction),
    Peer(Peer),
}

impl Between {
    fn name(&self) -> &str {
        match self {
            Self::Nothing => "direct",
            Self::ProviderClears => "p-clear",
            Self::ProviderCompacts => "p-compact",
            Self::Gateway(policy, ResultReduction::Recallable) => match policy {
                EconomyPolicy::Off => "off-r",
                EconomyPolicy::Clear => "clear-r",
                EconomyPolicy::Full => "full-r",
            },
            Self::Gateway(policy, _) => policy.as_str(),
            Self::Peer(peer) => &peer.name,
        }
    }
}

fn main() -> ExitCode {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return ExitCode::SUCCESS;
    };
    let model = std::env::var("LONGHAUL_BILL_MODEL").unwrap_or("claude-sonnet-4-6".to_owned());
    let window = number("LONGHAUL_BILL_WINDOW", WINDOW);
    let long = files
        .iter()
        .filter(|path| std::fs::metadata(path).is_ok_and(|file| file.len() >= LONG));
    let only = std::env::var("LONGHAUL_BILL_ONLY").unwrap_or_default();
    let long: Vec<_> = long
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(all(&long, &model, window))
}

async fn all(files: &[&std::path::PathBuf], model: &str, window: u64) -> ExitCode {
    let with = |reduction| POLICIES.map(|policy| Between::Gateway(policy, reduction));
    let mut ways: Vec<Between> = with(ResultReduction::default()).into();
    ways.extend(with(ResultReduction::Recallable).into_iter().skip(1));
    if std::env::var_os("LONGHAUL_BILL_OURS").is_none() {
        ways.extend([Between::ProviderClears, Between::ProviderCompacts]);
    }
    ways.extend(peers::of_environment().into_iter().map(Between::Peer));
    if let Ok(wanted) = std::env::var("LONGHAUL_BILL_WAYS") {
        ways.retain(|way| wanted.split(',').any(|wanted| wanted == way.name()));
    }
    let ways = &ways;
    println!(
        "{model}, a window of {window} tokens; parts of what the session costs directly, without a limit of the window"
    );
    print!("  {:<13}{:>9}{:>9}", "session", "requests", "direct");
    for way in ways {
        print!("{:>width$}", way.name(), width = width_of(way));
    }
    println!("   forecast: off  clear   full  best: clear  full");
    let mut sums = vec![0.0; ways.len()];
    let mut bills: Vec<Vec<Bill>> = (0..=ways.len()).map(|_| Vec::new()).collect();
    let (mut dollars, mut whole) = (vec![0.0; ways.len()], 0.0);
    let mut missed = 0;
    for file in files {
        let session = read(file);
        let mut unmanaged = bill(&session, model, window, &Between::Nothing).await;
        let (requests, direct) = (unmanaged.requests, unmanaged.cost);
        let recorded = std::mem::take(&mut unmanaged.recorded);
        bills[0].push(unmanaged);
        print!("  {:<13}{requests:>9}{:>9}", session.name, short(direct));
        whole += direct.to_f64();
        let mut parts = Vec::new();
        for (column, way) in ways.iter().enumerate() {
            let bill = bill(&session, model, window, way).await;
            let part = bill.cost.to_f64() / direct.to_f64();
            dollars[column] += bill.cost.to_f64();
            bills[column + 1].push(bill);
            sums[column] += part;
            print!("{part:>width$.3}", width = width_of(way));
            parts.push(part);
            if matches!(
                way,
                Between::Gateway(EconomyPolicy::Clear | EconomyPolicy::Full, _)
            ) && part > NEVER_ABOVE
            {
                missed += 1;
            }
        }
        if let Ok(folder) = std::env::var("LONGHAUL_BILL_KEEP") {
            std::fs::write(format!("{folder}/{}.jsonl", session.name), &recorded).unwrap();
        }
        let Forecast { policies, best } = forecast(&recorded, model, window);
        print!("        ");
        for (policy, forecast) in POLICIES.into_iter().zip(policies) {
            let policy = Between::Gateway(policy, ResultReduction::default());
            let billed = ways.iter().zip(&parts).find(|(way, _)| **way == policy);
            let is_off =
                billed.is_some_and(|(_, part)| (forecast / part - 1.0).abs() > FORECAST_ERROR);
            print!(" {forecast:.3}{}", if is_off { "!" } else { " " });
        }
        println!("       {:.3} {:.3}", best[0], best[1]);
    }
    print!("  {:<22}{whole:>9.2}", "all");
    for (way, dollars) in ways.iter().zip(&dollars) {
        print!("{:>width$.3}", dollars / whole, width = width_of(way));
    }
    println!();
    print!("  {:<31}", "mean");
    for (way, sum) in ways.iter().zip(&sums) {
        let mean = sum / files.len() as f64;
        print!("{mean:>width$.3}", width = width_of(way));
        let goal = GOALS.iter().find(|(name, _)| *name == way.name());
        missed += usize::from(goal.is_some_and(|(_, goal)| mean > *goal));
    }
    println!();
    let names = std::iter::once("direct").chain(ways.iter().map(Between::name));
    details(names.zip(&bills), window);
    if missed == 0 || window != WINDOW {
        ExitCode::SUCCESS
    } else {
        println!("{missed} goals missed");
        ExitCode::FAILURE
    }
}

/// The width of a way's column.
fn width_of(way: &Between) -> usize {
    (way.name().len() + 2).max(10)
}

fn short(amount: Usd) -> String {
    format!("${:.2}", amount.to_f64())
}

fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |given| given.parse().unwrap())
}

/// The way of a session's requests: where the client sends them, and where they end.
struct Route {
    url: Url,
    gateway: Option<Gateway>,
    provider: Provider,
    clock: Arc<RecordedTime>,
}

impl Route {
    async fn open(models: ModelTable, between: &Between) -> Self {
        let clock = Arc::new(RecordedTime::default());
        let port = match between {
            Between::Peer(_) => peers::upstream_port(),
            _ => None,
        };
        let provider = Provider::start(&models, port).await;
        let upstream = Url::parse(&provider.server.url()).unwrap();
        let Between::Peer(peer) = between else {
            let store = Arc::new(InMemoryStore::new().unwrap());
            let choice = UpstreamChoice::Url(upstream);
            let mut options = GatewayOptions::new(choice, store, Tenants::passing());
            options.models = models;
            options.clock = Arc::clone(&clock) as Arc<dyn Clock>;
            match between {
                Between::Gateway(policy, reduction) => {
                    options.config.economy = *policy;
                    options.config.reduce = *reduction;
                }
                _ => options.policies.rules = vec!["off".parse().unwrap()],
            }
            let gateway = Gateway::start(options).await.unwrap();
            return Self {
                url: Url::parse(&format!("http://{}", gateway.addr())).unwrap(),
                gateway: Some(gateway),
                provider,
                clock,
            };
        };
        // Long enough after the session before it that nothing of that one is still in a cache.
        recorded_time::advance_peers(2 * 60 * 60 * 1_000);
        Self {
            url: peer.url.clone(),
            gateway: None,
            provider,
            clock,
        }
    }

    /// Lets time pass for everyone.
    fn advance(&self, millis: i64) {
        self.clock.advance(millis);
        let server = &self.provider.server;
        server.with_world(|world| world.advance(millis.unsigned_abs()));
        if self.gateway.is_none() {
            recorded_time::advance_peers(millis.unsigned_abs());
        }
    }
}

/// Sends a session.
async fn bill(session: &Session, model: &str, window: u64, between: &Between) -> Bill {
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

/// Whether a block is thinking that the client has to send again as it was.
fn is_bound_thinking(block: &Value, binds: bool) -> bool {
    let kind = block["type"].as_str();
    binds && kind.is_some_and(|kind| kind.contains("thinking"))
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

/// A message with the ids that the provider gave to its calls.
fn named(message: &Value, ids: &BTreeMap<String, Value>) -> Value {
    let mut message = message.clone();
    for block in message["content"].as_array_mut().into_iter().flatten() {
        let id = match block["type"].as_str() {
            Some("tool_use") => &mut block["id"],
            Some("tool_result") => &mut block["tool_use_id"],
            _ => continue,
        };
        if let Some(given) = ids.get(&id.to_string()) {
            *id = given.clone();
        }
    }
    message
}

/// A message with a cache breakpoint on its last block.
fn marked(message: &Value) -> String {
    let mut message = message.clone();
    if let Some(block) = message["content"]
        .as_array_mut()
        .and_then(|all| all.last_mut())
    {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    message.to_string()
}

fn marked_if_user(message: &Value) -> String {
    if message["role"] == "user" {
        marked(message)
    } else {
        message.to_string()
    }
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

/// The members of the body besides the messages.
fn beside(session: &Session, model: &str, between: &Between, binds: bool) -> String {
    let words = ["keep ", "rules ", "files ", "tests ", "short "];
    let prompt: String = (0..session.prefix)
        .map(|at| words[at as usize % 5])
        .collect();
    let schema = json!({"type": "object"});
    let tools: Vec<Value> = tools(session)
        .into_iter()
        .map(|name| json!({"name": name, "description": "", "input_schema": schema}))
        .collect();
    let mut body = json!({
        "model": model, "max_tokens": CLIENTS_MAX_TOKENS, "tools": tools,
        "system": [{"type": "text", "text": prompt, "cache_control": {"type": "ephemeral"}}],
    });
    if binds {
        body["thinking"] = json!({"type": "adaptive"});
    }
    match between {
        Between::ProviderClears => {
            body["context_management"] = json!({"edits": [{"type": "clear_tool_uses_20250919"}]});
        }
        Between::ProviderCompacts => {
            body["context_management"] = json!({"edits": [{"type": "compact_20260112"}]});
        }
        _ => {}
    }
    body.to_string().trim_start_matches('{').to_owned()
}
