//! `longhaul chat -p` where the window is full, and settings that act in it.

use longhaul_core::models::ModelTable;
use longhaul_sim::model::script::ReplyScript;
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{self, World as SimWorld};
use serde_json::{Value, json};

use crate::support::{Finish, Run, World};

const MODELS: &str = "[models.claude-haiku-4-5]\nwindow = 30_000\n";

/// Asks twice in print mode; replies use the turns one by one, with this many tokens at most.
async fn chat(world: &World, turns: &[Value], args: &[&str]) -> Run {
    let mut script = json!({"script": 1, "by": "calls", "helpers": "built-in"}).to_string();
    for turn in turns {
        script = format!("{script}\n{turn}");
    }
    let model = SimModel::new(ModelOptions {
        script: Some(ReplyScript::parse(&script).unwrap()),
        ..ModelOptions::default()
    });
    let sim = SimWorld::new(world::WorldOptions {
        models: ModelTable::builtin().extended_with(MODELS).unwrap(),
        ..world::WorldOptions::new(1, Box::new(model))
    });
    let address = "127.0.0.1:0".parse().unwrap();
    let server = SimServer::start(address, sim, SimServerOptions::default())
        .await
        .unwrap();
    world.write("models.toml", MODELS);
    let input = ["Tell me all about it.", "Again, and longer."].map(|text| {
        json!({"type": "user", "message": {"role": "user", "content": text}}).to_string()
    });
    let mut command = world.longhaul(["chat", "-p", "--input-format", "stream-json"]);
    command
        .args([
            "--output-format",
            "stream-json",
            "--model",
            "claude-haiku-4-5",
        ])
        .args(["--models", "models.toml", "--set", "compaction.notes=false"])
        .args(args)
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "any");
    let run = tokio::task::spawn_blocking(move || command.finish_with(input.join("\n").as_bytes()));
    run.await.unwrap()
}

fn words(count: usize) -> Value {
    json!({"text": "word ".repeat(count)})
}

#[tokio::test(flavor = "multi_thread")]
async fn o3_h6_f9_print_mode_withholds_a_reply_that_ran_out_of_room_and_tries_again() {
    let world = World::new();
    // A request for a summary counts as a call, too.
    let mut turns = vec![words(15_000), words(20_000)];
    turns.extend((0..4).map(|_| json!({"text": "In short: yes."})));
    let reactive = ["--set", "compaction.reactive_only=true"];
    let run = chat(&world, &turns, &reactive).await.ends(0);
    let told: Vec<Value> = (run.out.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of =
        |kind: &str| -> Vec<&Value> { told.iter().filter(|line| line["type"] == kind).collect() };
    let replies = of("assistant");
    assert_eq!(replies.len(), 2, "{}", run.out);
    let stops: Vec<&Value> = replies
        .iter()
        .map(|reply| &reply["message"]["stop_reason"])
        .collect();
    assert!(
        !stops.contains(&&json!("model_context_window_exceeded")),
        "{stops:?}"
    );
    assert_eq!(of("result")[1]["result"], "In short: yes.");
    let boundaries = of("system");
    assert!(
        boundaries
            .iter()
            .any(|line| line["subtype"] == "compact_boundary"),
        "{boundaries:?}"
    );
    // No user is present, and the summary says so.
    let id = of("result")[1]["session_id"].as_str().unwrap().to_owned();
    let shown = world
        .run(["show", &id[..8], "--request", "--say", "x"])
        .ends(0);
    assert!(
        shown.out.contains("You are working on your own"),
        "{}",
        shown.out
    );
}
