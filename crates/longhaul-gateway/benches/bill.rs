//! What recorded sessions cost through the gateway, by the books of the simulator (V3, V5, V9).
//!
//! Run `cargo bench -p longhaul-gateway --bench bill`. A client that never trims sends each long recorded session again,
//! at the recorded times, through a gateway to the simulator. The baseline is the same client without a gateway and with
//! a window without an end. Beside the books stands what `longhaul replay` forecasts for the same session. Figures are
//! of prompts, summaries and clearings; what the model writes in its answers is left out, because it is the same for
//! all.
//!
//! Assumptions: the model's recorded messages are sent whatever the simulator answers; recorded thinking is left out
//! (its signatures are not the simulator's), and a model that binds thinking gets the simulator's own; the system prompt
//! is plain text of the recorded size; images are a line of text. `LONGHAUL_BILL_MODEL` and `LONGHAUL_BILL_WINDOW` choose
//! another model or window, `LONGHAUL_BILL_MOST` the most requests of a session, `LONGHAUL_BILL_ONLY` sessions by a part
//! of their path; `LONGHAUL_BILL_OURS` leaves out the provider's own ways, `LONGHAUL_BILL_SHOW` prints every compaction.
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

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jiff::{SignedDuration, Timestamp};
use longhaul::Clock;
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::economy::replay::{
    PricedConversation, ReplayDriver, ReplayTerms, ReplayWindow, SessionRecording,
    SessionRecordingReader, simulate,
};
use longhaul_core::message::Usage;
use longhaul_core::models::ModelTable;
use longhaul_core::money::Usd;
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::InMemoryStore;
use serde_json::{Value, json};

/// Sessions of at least this size are long.
const LONG: u64 = 1_000_000;
const WINDOW: u64 = 200_000;
const GOALS: [(&str, f64); 2] = [("clear", 0.66), ("full", 0.48)];
const NEVER_ABOVE: f64 = 1.02;

/// What stands between the client and the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Nothing,
    ProviderClears,
    ProviderCompacts,
    Gateway(EconomyPolicy),
}

impl Between {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "direct",
            Self::ProviderClears => "p-clear",
            Self::ProviderCompacts => "p-compact",
            Self::Gateway(policy) => policy.as_str(),
        }
    }
}

/// A clock that the bench advances.
#[derive(Debug, Default)]
struct RecordedTime(AtomicI64);

impl Clock for RecordedTime {
    fn now(&self) -> Timestamp {
        let millis = self.0.load(Ordering::Relaxed);
        Timestamp::constant(1_800_000_000, 0) + SignedDuration::from_millis(millis)
    }
}

/// A message of a transcript: its id, its role, its blocks, and when it was written.
type TranscriptMessage = (Option<String>, &'static str, Vec<Value>, Option<Timestamp>);

/// A session as its client sent it.
struct Session {
    name: String,
    /// Messages with alternating roles, and when each was written.
    messages: Vec<(Value, Option<Timestamp>)>,
    /// The tokens of the system prompt and the tools.
    prefix: u64,
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
    let mut ways = vec![
        Between::Gateway(EconomyPolicy::Off),
        Between::Gateway(EconomyPolicy::Clear),
        Between::Gateway(EconomyPolicy::Full),
    ];
    if std::env::var_os("LONGHAUL_BILL_OURS").is_none() {
        ways.extend([Between::ProviderClears, Between::ProviderCompacts]);
    }
    let ways = &ways;
    println!(
        "{model}, a window of {window} tokens; parts of what the session costs directly, without a limit of the window"
    );
    print!("  {:<13}{:>9}{:>9}", "session", "requests", "direct");
    for way in ways {
        print!("{:>10}", way.name());
    }
    println!("   forecast: off  clear   full");
    let mut sums = vec![0.0; ways.len()];
    let mut missed = 0;
    for file in files {
        let session = read(file);
        let (requests, direct) = bill(&session, model, window, Between::Nothing).await;
        print!("  {:<13}{requests:>9}{:>9}", session.name, short(direct));
        let mut parts = Vec::new();
        for (way, sum) in ways.iter().zip(&mut sums) {
            let (_, cost) = bill(&session, model, window, *way).await;
            let part = cost.to_f64() / direct.to_f64();
            *sum += part;
            print!("{part:>10.3}");
            parts.push(part);
            if matches!(
                way,
                Between::Gateway(EconomyPolicy::Clear | EconomyPolicy::Full)
            ) && part > NEVER_ABOVE
            {
                missed += 1;
            }
        }
        let forecast = forecast(file, model, window);
        print!("        ");
        for ((part, forecast), _) in parts.iter().zip(forecast).zip(0..) {
            print!(" {forecast:.3}");
            let off = (forecast / part - 1.0).abs();
            print!("{}", if off > 0.05 { "!" } else { " " });
        }
        println!();
    }
    print!("  {:<31}", "mean");
    for (way, sum) in ways.iter().zip(&sums) {
        let mean = sum / files.len() as f64;
        print!("{mean:>10.3}");
        let goal = GOALS.iter().find(|(name, _)| *name == way.name());
        missed += usize::from(goal.is_some_and(|(_, goal)| mean > *goal));
    }
    println!();
    if missed == 0 || window != WINDOW {
        ExitCode::SUCCESS
    } else {
        println!("{missed} goals missed");
        ExitCode::FAILURE
    }
}

fn short(amount: Usd) -> String {
    format!("${:.2}", amount.to_f64())
}

fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |given| given.parse().unwrap())
}

/// Reads a session by its sizes.
fn recording(path: &Path) -> SessionRecording {
    let mut reader = SessionRecordingReader::new();
    let bytes = std::fs::read(path).unwrap();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        reader.line(number, 0, line);
    }
    reader.finish(&longhaul_core::micro::ClearableTools::default())
}

/// What `longhaul replay` forecasts: the parts of append-only under each policy.
fn forecast(path: &Path, model: &str, window: u64) -> [f64; 3] {
    let session = recording(path);
    let table = ModelTable::builtin();
    let terms = ReplayTerms::of(&session, &table, Some(model), Some(Default::default()));
    let terms = terms.in_window(ReplayWindow::Tokens(window));
    let conversations: Vec<PricedConversation> = session
        .conversations
        .iter()
        .map(|conversation| PricedConversation::new(conversation, &terms).unwrap())
        .collect();
    let total = |driver: ReplayDriver<'_>| -> f64 {
        let runs = conversations.iter().map(|one| simulate(one, driver));
        runs.map(|run| run.prompt_side().to_f64()).sum()
    };
    let whole = total(ReplayDriver::AppendOnly);
    [
        EconomyPolicy::Off,
        EconomyPolicy::Clear,
        EconomyPolicy::Full,
    ]
    .map(|policy| total(ReplayDriver::Policy(policy)) / whole)
}

/// Sends a session; returns the number of requests and what was billed for everything but the answers.
async fn bill(session: &Session, model: &str, window: u64, between: Between) -> (usize, Usd) {
    let clock = Arc::new(RecordedTime::default());
    let store = Arc::new(InMemoryStore::new().unwrap());
    let mut options = GatewayOptions::new(UpstreamChoice::Simulated, store, Tenants::passing());
    let window = match between {
        Between::Gateway(_) | Between::ProviderCompacts => window,
        Between::Nothing | Between::ProviderClears => 20_000_000,
    };
    let text = format!("[models.{model}]\nwindow = {window}\n");
    options.models = ModelTable::builtin().extended_with(&text).unwrap();
    options.clock = Arc::clone(&clock) as Arc<dyn Clock>;
    match between {
        Between::Gateway(policy) => options.config.economy = policy,
        _ => options.policies.rules = vec!["off".parse().unwrap()],
    }
    let spec = options.models.resolve(model).spec;
    let binds = spec.thinking.binding.may_bind();
    let gateway = Gateway::start(options).await.unwrap();
    let client: HttpClient<HttpConnector, Full<Bytes>> =
        HttpClient::builder(TokioExecutor::new()).build_http();
    let beside = beside(session, model, between, binds);
    let most = number("LONGHAUL_BILL_MOST", u64::MAX);
    // The messages that keep their bytes from now on, and the newest ones.
    let mut written = String::new();
    let mut recent: Vec<Value> = Vec::new();
    let mut thoughts: Vec<Value> = Vec::new();
    let (mut requests, mut own, mut answers) = (0, 0, Usd::ZERO);
    let mut last: Option<Timestamp> = None;
    for (at, (message, time)) in session.messages.iter().enumerate() {
        if message["role"] == "assistant" {
            let mut message = message.clone();
            if let Some(content) = message["content"].as_array_mut() {
                content.splice(0..0, std::mem::take(&mut thoughts));
            }
            recent.push(message);
            continue;
        }
        let is_answered = session.messages.get(at + 1).is_some();
        if !is_answered || requests as u64 >= most {
            break;
        }
        let gap = last
            .zip(*time)
            .map_or(0, |(last, now)| now.duration_since(last).as_millis().max(0));
        last = time.or(last);
        let gap = i64::try_from(gap).unwrap();
        clock.0.fetch_add(gap, Ordering::Relaxed);
        let simulated = gateway.simulated().unwrap();
        simulated.with_world(|world| world.advance(gap.unsigned_abs()));
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
        let request = http::Request::post(format!("http://{}/v1/messages", gateway.addr()))
            .header("x-api-key", "k")
            .header("anthropic-version", "2023-06-01")
            .header(
                "anthropic-beta",
                "context-management-2025-06-27,compact-2026-01-12",
            )
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
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
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        assert!(
            status.is_success(),
            "{}: request {requests}: {reply}",
            session.name
        );
        requests += 1;
        let output = reply["usage"]["output_tokens"].as_u64().unwrap_or(0);
        let usage = Usage {
            output,
            ..Usage::default()
        };
        answers += spec.cost_of_reply(&usage).unwrap();
        let content = reply["content"].as_array().cloned().unwrap_or_default();
        thoughts = content
            .into_iter()
            .filter(|block| {
                let kind = block["type"].as_str().unwrap();
                kind == "compaction" || (binds && kind.contains("thinking"))
            })
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
        if matches!(between, Between::Gateway(_)) && (pays || used * 2 > window) {
            settled(&gateway, own + requests).await;
            own = calls(&gateway) - requests;
        }
    }
    let total = gateway
        .simulated()
        .unwrap()
        .with_world(|world| world.usage_log().total.cost_usd);
    if std::env::var_os("LONGHAUL_BILL_SHOW").is_some() {
        let simulated = gateway.simulated().unwrap();
        let all = simulated.with_world(|world| world.usage_log().total);
        println!("\n{}: {all:?}, answers {}", between.name(), short(answers));
        show(&gateway, &client).await;
    }
    gateway.stop().await;
    (requests, total - answers)
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
                "    {} {} -> {} cost {} economy {}",
                made["kind"],
                made["before_tokens"],
                made["after_tokens"],
                made["cost_usd"],
                made["report"]["economy"]
            );
        }
    }
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

/// How many calls the simulator has answered.
fn calls(gateway: &Gateway) -> usize {
    let simulated = gateway.simulated().unwrap();
    let requests = simulated.with_world(|world| world.usage_log().total.requests);
    usize::try_from(requests).unwrap()
}

/// Gives a summary that may be under way the time to arrive: a real client takes longer for its next request than this
/// one does.
async fn settled(gateway: &Gateway, known: usize) {
    for _ in 0..15 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if calls(gateway) > known {
            tokio::time::sleep(Duration::from_millis(60)).await;
            return;
        }
    }
}

/// The members of the body besides the messages.
fn beside(session: &Session, model: &str, between: Between, binds: bool) -> String {
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
        "model": model, "max_tokens": 8_000, "tools": tools,
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

/// The names of the tools that a session calls.
fn tools(session: &Session) -> Vec<String> {
    let blocks = session
        .messages
        .iter()
        .filter_map(|(message, _)| message["content"].as_array())
        .flatten();
    let names = blocks.filter(|block| block["type"] == "tool_use");
    let names: std::collections::BTreeSet<String> = names
        .map(|call| call["name"].as_str().unwrap().to_owned())
        .collect();
    names.into_iter().collect()
}

/// Reads a transcript as the messages of a client that never trims.
fn read(path: &Path) -> Session {
    let name = path.file_stem().unwrap().to_string_lossy();
    let mut all: Vec<TranscriptMessage> = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if line["isSidechain"] == true || line["isCompactSummary"] == true {
            continue;
        }
        let time = line["timestamp"]
            .as_str()
            .and_then(|time| time.parse().ok());
        let message = &line["message"];
        let blocks = blocks(&message["content"]);
        match line["type"].as_str() {
            Some("assistant") => {
                let id = message["id"].as_str().map(str::to_owned);
                let same = all.iter_mut().rev().find(|one| one.1 == "assistant");
                match same.filter(|same| same.0 == id && id.is_some()) {
                    Some(same) => same.2.extend(blocks),
                    None => all.push((id, "assistant", blocks, time)),
                }
            }
            Some("user") => match all.last_mut() {
                Some(last) if last.1 == "user" => last.2.extend(blocks),
                _ => all.push((None, "user", blocks, time)),
            },
            _ => {}
        }
    }
    Session {
        name: name.chars().take(12).collect(),
        messages: valid(all),
        prefix: recording(path).conversations[0].prefix,
    }
}

/// A message's content as blocks that any provider takes: no thinking, no pictures.
fn blocks(content: &Value) -> Vec<Value> {
    let plain = |block: &Value| match block["type"].as_str() {
        Some("text") => block["text"]
            .as_str()
            .is_some_and(|text| !text.trim().is_empty())
            .then(|| json!({"type": "text", "text": block["text"]})),
        Some("tool_use") => Some(
            json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": block["input"]}),
        ),
        Some("tool_result") => {
            let text = match &block["content"] {
                Value::String(text) => text.clone(),
                Value::Array(parts) => parts
                    .iter()
                    .map(|part| part["text"].as_str().unwrap_or("[a picture]"))
                    .collect::<Vec<_>>()
                    .join("\n"),
                _ => String::new(),
            };
            let text = if text.is_empty() {
                "(nothing)".to_owned()
            } else {
                text
            };
            Some(
                json!({"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": text}),
            )
        }
        Some("thinking" | "redacted_thinking") => None,
        _ => Some(json!({"type": "text", "text": "[a picture]"})),
    };
    match content {
        Value::String(text) if !text.trim().is_empty() => {
            vec![json!({"type": "text", "text": text})]
        }
        Value::Array(blocks) => blocks.iter().filter_map(plain).collect(),
        _ => Vec::new(),
    }
}

/// Makes a list that the API accepts: roles alternate, and each call has its result in the next message.
fn valid(all: Vec<TranscriptMessage>) -> Vec<(Value, Option<Timestamp>)> {
    let mut done: Vec<(&'static str, Vec<Value>, Option<Timestamp>)> = Vec::new();
    for (_, role, blocks, time) in all {
        if blocks.is_empty() {
            continue;
        }
        match done.last_mut() {
            Some(last) if last.0 == role => last.1.extend(blocks),
            _ => done.push((role, blocks, time)),
        }
    }
    if done.first().is_some_and(|first| first.0 == "assistant") {
        done.remove(0);
    }
    let mut open: Vec<Value> = Vec::new();
    for (role, blocks, _) in &mut done {
        if *role == "assistant" {
            let mut seen = std::collections::BTreeSet::new();
            blocks.retain(|block| {
                block["type"] != "tool_use" || seen.insert(block["id"].to_string())
            });
            let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
            open = calls.map(|call| call["id"].clone()).collect();
            continue;
        }
        let (mut results, rest): (Vec<Value>, Vec<Value>) = std::mem::take(blocks)
            .into_iter()
            .partition(|block| block["type"] == "tool_result");
        let mut answered = Vec::new();
        results.retain(|result| {
            let call = &result["tool_use_id"];
            let first = open.contains(call) && !answered.contains(call);
            answered.push(call.clone());
            first
        });
        for call in open.drain(..).filter(|call| !answered.contains(call)) {
            results.push(
                json!({"type": "tool_result", "tool_use_id": call, "content": "(no result)"}),
            );
        }
        results.extend(rest);
        if results.is_empty() {
            results.push(json!({"type": "text", "text": "Go on."}));
        }
        *blocks = results;
    }
    done.into_iter()
        .map(|(role, blocks, time)| (json!({"role": role, "content": blocks}), time))
        .collect()
}
