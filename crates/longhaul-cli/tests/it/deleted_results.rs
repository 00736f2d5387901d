//! Results that the provider was asked to leave out of its cache (U4), as `show` and `inspect` report them.

use std::sync::{Arc, Mutex};

use longhaul::{Boxed, Model, NoWorkspace, OnStream, Prompt, Session};
use longhaul_core::config::Config;
use longhaul_core::engine::{ModelRequest, ToolOutput};
use longhaul_provider::{CancellationToken, Client, ClientConfig, Dialect, Error, Reply};
use longhaul_sim::model::script::ReplyScript;
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world;
use serde_json::json;

use crate::support::World;

/// A client that records what it sends.
struct Recorder(Client, Arc<Mutex<Vec<String>>>);

impl Model for Recorder {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let body = String::from_utf8(request.body.concat()).unwrap();
        self.1.lock().unwrap().push(body);
        Model::send(&self.0, request, on_stream, cancel)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn u4_y2_requests_are_shown_with_their_cache_edits_and_such_clearings_are_counted() {
    let mut script = json!({"script": 1, "by": "calls", "helpers": "built-in"}).to_string();
    for _ in 0..20 {
        let turn = json!({"tools": [{"name": "Read", "input": {"file_path": "a.csv"}}]});
        script = format!("{script}\n{turn}");
    }
    let model = SimModel::new(ModelOptions {
        script: Some(ReplyScript::parse(&script).unwrap()),
        ..ModelOptions::default()
    });
    let sim = world::World::new(world::WorldOptions {
        // The next request can read what a reply wrote to the cache, however soon it comes.
        pace: SimServerOptions::world_pace(SimServerOptions::default().pace),
        ..world::WorldOptions::new(5, Box::new(model))
    });
    let address = "127.0.0.1:0".parse().unwrap();
    let server = SimServer::start(address, sim, SimServerOptions::default())
        .await
        .unwrap();
    let url = server.url();
    let config = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
        "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "ANTHROPIC_API_KEY" => Some("test-key".to_owned()),
        _ => None,
    });
    let world = World::new();
    let file = world.root().join("a.jsonl");
    let sent: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut settings = Config::default();
    settings.switches.notes = false;
    // The oldest are deleted at U4's own trigger.
    settings.economy = longhaul::EconomyPolicy::Off;
    // The results are identical, and none refers to another.
    settings.reduce = longhaul_core::config::ResultReduction::Off;
    let tool = json!({"name": "Read", "description": "Reads.", "input_schema": {"type": "object",
        "properties": {"file_path": {"type": "string"}}}});
    let mut session = Session::builder()
        .model(Recorder(
            Client::new(config.unwrap()).unwrap(),
            sent.clone(),
        ))
        .prompt(Prompt::new("claude-sonnet-4-6", "Be brief.").with_tools(vec![tool]))
        .transcript(&file)
        .config(settings)
        .workspace(NoWorkspace)
        .with_cache_edits()
        .open()
        .unwrap();
    session.say("Read them.").await.unwrap();
    let dense = (0..300).map(|n| format!("{},{}", n * 7919 % 9973, n * 31 % 89));
    let dense = dense.collect::<Vec<_>>().join("\n");
    for _ in 0..14 {
        let reply = session.turn().await.unwrap();
        let results = reply.tool_calls().map(|call| ToolOutput {
            tool_use_id: call.id.to_string(),
            content: json!(dense),
            is_error: false,
        });
        session.results(results.collect()).await.unwrap();
    }
    let shown = world.run(["show", "a.jsonl", "--request"]).ends(0);
    session.turn().await.unwrap();
    let next = sent.lock().unwrap().last().unwrap().clone();
    let edits = shown.json()["cache_edits"].clone();
    assert_eq!(edits.as_array().map(Vec::len), Some(7));
    assert!(shown.out.trim_end() == next, "{edits}");

    let report = world.run(["inspect", "a.jsonl", "--json"]).ends(0).json();
    let clearings = report["clearings"].as_array().unwrap();
    assert_eq!(clearings.len(), 1, "{clearings:?}");
    assert_eq!(
        (&clearings[0]["way"], &clearings[0]["results"]),
        (&json!("cache_edits"), &json!(7))
    );
    let last = std::fs::read_to_string(&file).unwrap();
    let measured = last.lines().rev().find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["message"]["usage"]["cache_deleted_input_tokens"].as_u64()
    });
    assert_eq!(clearings[0]["tokens_saved"].as_u64(), measured);
    assert_eq!(report["categories"]["cleared_results"], 7);
    assert_eq!(report["cache_breaks"].as_array().unwrap().len(), 0);
    world
        .run(["inspect", "a.jsonl"])
        .ends(0)
        .prints("7 tool results deleted from the provider's cache");
}
