//! With a model: the offline world over a real connection, well-behaved and not.

use std::process::Command;
use std::sync::Arc;

use longhaul::{FileWorkspace, Prompt, Session};
use longhaul_core::config::Config;
use longhaul_core::engine::ToolOutput;
use longhaul_provider::{Client, ClientConfig, Dialect};
use longhaul_sim::faults::FaultPlan;
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::server::{SimServer, SimServerOptions, TimeSource};
use longhaul_sim::world;
use serde_json::{Value, json};

use super::{Found, holds, lines, talk};
use crate::support::{Finish, Run, World};

struct House {
    server: Arc<SimServer>,
    world: World,
}

impl House {
    async fn new(misbehave: &str, faults: &str) -> Self {
        let model = SimModel::new(model::SimModelOptions {
            misbehavior: match misbehave {
                "" => Default::default(),
                spec => spec.parse().unwrap(),
            },
            ..model::SimModelOptions::default()
        });
        let options = SimServerOptions {
            time: TimeSource::Virtual,
            faults: match faults {
                "" => FaultPlan::default(),
                spec => FaultPlan::parse(spec, 1).unwrap(),
            },
            ..SimServerOptions::default()
        };
        let model = world::World::new(world::WorldOptions::new(5, Box::new(model)));
        let address = "127.0.0.1:0".parse().unwrap();
        let server = SimServer::start(address, model, options).await.unwrap();
        Self {
            server: Arc::new(server),
            world: World::new(),
        }
    }

    fn longhaul(&self, args: &[&str]) -> Command {
        let mut command = self.world.longhaul(args);
        command
            .env("ANTHROPIC_BASE_URL", self.server.url())
            .env("ANTHROPIC_API_KEY", "test-key");
        command
    }

    /// Runs while the server answers.
    async fn run(&self, args: &[&str]) -> Run {
        let mut command = self.longhaul(args);
        tokio::task::spawn_blocking(move || command.finish())
            .await
            .unwrap()
    }

    fn requests(&self) -> u64 {
        self.server
            .with_world(|world| world.usage_log().total.requests)
    }
}

const COMPACT: [&str; 5] = ["compact", "a.jsonl", "--json", "--output", "b.jsonl"];

#[tokio::test(flavor = "multi_thread")]
async fn f1_a_model_sums_up_and_what_it_costs_is_told() {
    let house = House::new("", "").await;
    let file = house.world.write("a.jsonl", lines(&talk(30, 60)));
    let run = house.run(&COMPACT).await.ends(0);
    let told = run.json();
    assert_eq!(told["summariser"], "plain", "{told}");
    assert_eq!(told["model"], "claude-opus-4-8");
    assert!(told["cost_usd"].as_f64().unwrap() > 0.0, "{told}");
    assert!(run.err.contains("Asking claude-opus-4-8"), "{}", run.err);
    let out = house.world.root().join("b.jsonl");
    holds("model", &file, &out, &told);
    // A file without a prefix entry gets none (M7).
    assert!(
        !std::fs::read_to_string(out)
            .unwrap()
            .contains("\"type\":\"longhaul")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn f5_a_part_is_summed_up_by_a_model_of_choice() {
    let house = House::new("", "").await;
    let file = house.world.write("a.jsonl", lines(&talk(40, 60)));
    let out = house.world.root().join("b.jsonl");
    for way in [
        ["--keep", "10"],
        ["--from", "00000020"],
        ["--up-to", "00000020"],
    ] {
        let mut args = COMPACT.to_vec();
        args.extend(way);
        args.extend([
            "--force",
            "--model",
            "claude-haiku-4-5",
            "--instructions",
            "Keep names.",
        ]);
        let run = house.run(&args).await.ends(0);
        let told = run.json();
        assert_eq!(
            (&told["summariser"], &told["model"]),
            (&json!("plain"), &json!("claude-haiku-4-5"))
        );
        holds(way[0], &file, &out, &told);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn y1_whatever_the_model_does_wrong_the_conversation_is_compacted() {
    let wrong = [
        "empty", "refuse", "tool", "error", "silent", "cut", "untagged", "long",
    ];
    for misbehave in wrong {
        let house = House::new(&format!("summary:{misbehave}*9"), "").await;
        let file = house.world.write("a.jsonl", lines(&talk(30, 60)));
        let run = house.run(&COMPACT).await;
        assert_eq!(run.code, 0, "{misbehave}: {run:?}");
        let told = run.json();
        if told["summariser"] == "local" && misbehave != "long" {
            assert!(
                run.err.contains("without a model instead"),
                "{misbehave}: {}",
                run.err
            );
        }
        holds(misbehave, &file, &house.world.root().join("b.jsonl"), &told);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn y1_a_summary_that_is_cut_off_is_completed_instead_of_thrown_away() {
    let house = House::new("summary:cut*9", "").await;
    let file = house.world.write("a.jsonl", lines(&talk(30, 60)));
    let run = house.run(&COMPACT).await.ends(0);
    let told = run.json();
    assert_eq!(told["summariser"], "plain", "{told}");
    assert!(run.err.contains("summary was cut off"), "{}", run.err);
    let out = house.world.root().join("b.jsonl");
    holds("cut", &file, &out, &told);
    let said = Found::at(&out).said();
    let parts = said.split_once("The summary was cut off here.");
    let (by_model, extracts) = parts.expect("the place is marked");
    assert!(by_model.contains("1. "), "{by_model}");
    assert!(extracts.contains("9. Next step"), "{extracts}");
}

#[tokio::test(flavor = "multi_thread")]
async fn y1_a_provider_that_fails_is_no_reason_to_fail() {
    for faults in ["error*50", "truncate*50", "reset*50"] {
        let house = House::new("", faults).await;
        let file = house.world.write("a.jsonl", lines(&talk(30, 60)));
        let run = house.run(&COMPACT).await.ends(0);
        assert!(
            run.err.contains("without a model instead"),
            "{faults}: {}",
            run.err
        );
        holds(
            faults,
            &file,
            &house.world.root().join("b.jsonl"),
            &run.json(),
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l1_a_conversation_too_long_for_the_model_is_shortened_or_summed_up_without_it() {
    let house = House::new("", "").await;
    // Far more than the window of the model that is asked.
    let file = house.world.write("a.jsonl", lines(&talk(400, 400)));
    let mut args = COMPACT.to_vec();
    args.extend(["--model", "claude-haiku-4-5"]);
    let run = house.run(&args).await.ends(0);
    assert!(run.err.contains("too long"), "{}", run.err);
    assert!(house.requests() > 1);
    holds(
        "too long",
        &file,
        &house.world.root().join("b.jsonl"),
        &run.json(),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn y6_a_preview_by_a_model_writes_nothing() {
    let house = House::new("", "").await;
    let bytes = lines(&talk(30, 60));
    let file = house.world.write("a.jsonl", &bytes);
    let told = house
        .run(&["compact", "a.jsonl", "--preview", "--json"])
        .await
        .ends(0)
        .json();
    assert_eq!(told["summariser"], "plain");
    assert!(told["summary"].as_str().unwrap().len() > 100);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    assert!(!house.world.home().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_a_model_cannot_be_named() {
    let world = World::new();
    world.write("a.jsonl", lines(&talk(30, 60)));
    let run = world.run([
        "compact",
        "a.jsonl",
        "--model",
        "claude-haiku-4-5",
        "--output",
        "b.jsonl",
    ]);
    run.fails(&["no key or address to reach a model", "ANTHROPIC_API_KEY"]);
}

fn tool(name: &str, field: &str) -> Value {
    json!({"name": name, "description": format!("{name} works on the project."),
        "input_schema": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}})
}

fn open(house: &House) -> Session {
    let url = house.server.url();
    let config = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
        "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "ANTHROPIC_API_KEY" => Some("test-key".to_owned()),
        _ => None,
    });
    let tools = vec![tool("Read", "file_path"), tool("Bash", "command")];
    let prompt = Prompt::new("claude-opus-4-8", "You work on a small code base.").with_tools(tools);
    // Without background requests, so that the conversation's requests can be counted.
    let mut settings = Config::default();
    settings.switches.notes = false;
    settings.background = false;
    Session::builder()
        .model(Client::new(config.unwrap()).unwrap())
        .config(settings)
        .prompt(prompt)
        .transcript(house.world.root().join("home/projects/-p/2222.jsonl"))
        .cwd(house.world.root())
        .workspace(FileWorkspace)
        .seed(house.requests().into())
        .open()
        .unwrap()
}

async fn exchange(session: &mut Session, turn: usize) {
    session
        .say(format!("Request {turn}: what does src/part_{turn}.rs do?"))
        .await
        .unwrap();
    for _ in 0..4 {
        let reply = session.turn().await.unwrap();
        let outputs: Vec<ToolOutput> = reply
            .tool_calls()
            .map(|call| ToolOutput {
                tool_use_id: call.id.to_string(),
                content: json!("let value = compute();\n".repeat(40)),
                is_error: false,
            })
            .collect();
        if outputs.is_empty() {
            return;
        }
        session.results(outputs).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m7_a_session_with_heads_is_summed_up_behind_its_cache_and_goes_on() {
    let house = House::new("", "").await;
    let file = house.world.root().join("home/projects/-p/2222.jsonl");
    let mut session = open(&house);
    for turn in 0..8 {
        exchange(&mut session, turn).await;
    }
    drop(session);
    for (round, way) in [&["--keep", "5"][..], &[], &["--local"]]
        .into_iter()
        .enumerate()
    {
        let before = house
            .world
            .write("before.jsonl", std::fs::read(&file).unwrap());
        let mut args = vec!["compact", "2222", "--force", "--json"];
        args.extend(way);
        let told = house.run(&args).await.ends(0).json();
        let by = if way == ["--local"] { "local" } else { "fork" };
        assert_eq!(told["summariser"], by, "{told}");
        holds(by, &before, &file, &told);
        let text = std::fs::read_to_string(&file).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert!(
            last.get("uuid").is_none() && last.get("system").is_some(),
            "the head comes last: {last}"
        );
        // The conversation continues where it was.
        let mut session = open(&house);
        for turn in 0..4 {
            exchange(&mut session, 100 + round * 10 + turn).await;
        }
        assert!(Found::at(&file).said().contains("Request 0: what does"));
    }
    // Both are taken back, and the conversation continues once more.
    for _ in 0..3 {
        house
            .run(&["compact", "2222", "--force", "--undo"])
            .await
            .ends(0);
        let mut session = open(&house);
        exchange(&mut session, 999).await;
    }
    house
        .run(&["compact", "2222", "--force", "--undo"])
        .await
        .ends(1);
}

/// A slow model, while another program continues the conversation.
struct Slow(std::path::PathBuf);

impl longhaul::Model for Slow {
    fn send<'a>(
        &'a self,
        _: longhaul_core::engine::ModelRequest,
        _: longhaul::OnStream<'a>,
        _: longhaul_provider::CancellationToken,
    ) -> longhaul::Boxed<'a, Result<longhaul_provider::Reply, longhaul_provider::Error>> {
        let mut bytes = std::fs::read(&self.0).unwrap();
        bytes.extend_from_slice(b"{\"type\":\"user\"}\n");
        std::fs::write(&self.0, bytes).unwrap();
        let class = longhaul_provider::ErrorClass::Invalid;
        Box::pin(async move { Err(longhaul_provider::Error::new(class, "no")) })
    }
}

#[tokio::test]
async fn y7_what_another_program_wrote_meanwhile_is_not_cut_off() {
    use longhaul::recorded::{
        CompactionTarget, RecordedTranscript, RecordingOptions, SummaryProvider,
    };
    use longhaul_core::engine::{CompactFailure, CompactRequest};
    let world = World::new();
    let file = world.write("a.jsonl", lines(&talk(30, 60)));
    let around = RecordingOptions {
        config: Default::default(),
        models: longhaul_core::models::ModelTable::builtin(),
        asked: Some(SummaryProvider {
            model: Arc::new(Slow(file.clone())),
            id: None,
        }),
        keep: CompactionTarget::Appended {
            archive: world.root().join("archive.db"),
            known_as: file.clone(),
        },
        observer: Arc::new(longhaul::session::SilentObserver),
        env: None,
    };
    let mut session = RecordedTranscript::read(&file)
        .unwrap()
        .open(around)
        .unwrap();
    let error = session
        .compact(CompactRequest::default())
        .await
        .unwrap_err();
    assert_eq!(error.kind, CompactFailure::ApiError);
    let bytes = std::fs::read(&file).unwrap();
    let local = CompactRequest {
        local: true,
        ..CompactRequest::default()
    };
    let error = session.compact(local).await.unwrap_err();
    assert_eq!(error.kind, CompactFailure::NotPersisted);
    assert!(error.message.contains("written to meanwhile"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

/// A model that keeps the newest request it was asked, as text.
struct Listening(SimModel, Arc<std::sync::Mutex<String>>);

impl model::ReplyModel for Listening {
    fn reply(&mut self, turn: &model::ModelTurn<'_>) -> model::ReplyDraft {
        *self.1.lock().unwrap() = format!("{:?}", turn.request.messages.last());
        self.0.reply(turn)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f4_what_the_recorded_folders_memory_file_says_about_compactions_is_asked_for() {
    let asked: Arc<std::sync::Mutex<String>> = Arc::default();
    let sim = Listening(
        SimModel::new(model::SimModelOptions::default()),
        asked.clone(),
    );
    let sim = world::World::new(world::WorldOptions::new(5, Box::new(sim)));
    let address = "127.0.0.1:0".parse().unwrap();
    let server = SimServer::start(address, sim, SimServerOptions::default())
        .await
        .unwrap();
    let house = House {
        server: Arc::new(server),
        world: World::new(),
    };
    let folder = house.world.root().join("project");
    let text = "# Compact Instructions\n\nKeep every port number.\n";
    house.world.write("project/CLAUDE.md", text);
    let recorded = String::from_utf8(lines(&talk(30, 60))).unwrap();
    let recorded = recorded.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["cwd"] = json!(folder);
        format!("{line}\n")
    });
    house.world.write("a.jsonl", recorded.collect::<String>());
    house.run(&COMPACT).await.ends(0);
    let asked = asked.lock().unwrap();
    assert!(asked.contains("Keep every port number."), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn f7_x1_the_model_of_summaries_and_words_for_rules_are_settings_of_compact_too() {
    let house = House::new("", "").await;
    house.world.write("a.jsonl", lines(&talk(30, 60)));
    let mut args = COMPACT.to_vec();
    args.extend(["--set", "compaction.summary_model=claude-haiku-4-5"]);
    let told = house.run(&args).await.ends(0).json();
    assert_eq!(told["model"], "claude-haiku-4-5", "{told}");
    let total = |words: &str| {
        let set = format!("rules.words={words}");
        let args = [
            "compact",
            "a.jsonl",
            "--local",
            "--preview",
            "--json",
            "--set",
            &set,
        ];
        let told = house.world.run(args).ends(0).json();
        told["report"]["rules"]["total"].as_u64().unwrap()
    };
    // Every message of the user says it.
    assert!(total("look at part") > total("nothing like it"));
}
