//! Sub-agents.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use longhaul::hooks::fake::FakeHooks;
use longhaul::hooks::{HookEventName, HookFuture, HookInvocation, HookResponse, Hooks};
use longhaul::session::SessionBuilder;
use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::{AgentEvent, ApprovalAnswer, PromptOutcome};
use longhaul_agent::tool::{ToolAccess, ToolCallOutput, Toolbox};
use longhaul_sim::model::{DraftBlock, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::request::ApiRole;
use serde_json::{Value, json};

use super::house::{House, Rules, Toy, say, texts, work};

/// The main conversation starts an agent; the agent makes calls and reports.
struct Boss {
    background: bool,
    /// The number of calls that the agent makes.
    calls: usize,
    made: usize,
}

impl ReplyModel for Boss {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let request = format!("{:?}", turn.request);
        let replies = turn
            .request
            .messages
            .iter()
            .filter(|said| said.role == ApiRole::Assistant)
            .count();
        let text = |text: String| ReplyDraft {
            content: vec![DraftBlock::Text(text)],
            ..ReplyDraft::default()
        };
        if request.contains("<analysis>") && !request.contains("SUBTASK-DONE") {
            return text("<summary>1. Request: find the thing. SUBTASK goes on.</summary>".into());
        }
        let call = |name: &str, input: Value| ReplyDraft {
            content: vec![DraftBlock::ToolUse {
                name: name.into(),
                input,
            }],
            ..ReplyDraft::default()
        };
        let is_sub = request.contains("looks things up in a code base for another agent");
        match (is_sub, replies) {
            (true, _) if self.made < self.calls => {
                self.made += 1;
                call("Read", json!({"what": format!("file {}", self.made)}))
            }
            (true, _) => text("I found it in src/thing.rs.".into()),
            (false, 0) => call(
                "Task",
                json!({"description": "find it", "prompt": "Find the thing.",
                "subagent_type": "Explore", "run_in_background": self.background}),
            ),
            (false, made) => text(format!("Main says {made}.")),
        }
    }
}

async fn house(background: bool, calls: usize) -> House {
    let mut house = House::with(Boss {
        background,
        calls,
        made: 0,
    })
    .await;
    let reads = ToolAccess::Reads(PathBuf::from("/x"));
    house.toolbox = Toolbox::default()
        .with(Toy::new("Read", reads, |input, _| {
            Box::pin(async move {
                ToolCallOutput::text(
                    format!("{input}: {}", "let x = compute(1, 2);\n".repeat(150)),
                    "150 lines",
                )
            })
        }))
        .with(Toy::echo("Change", ToolAccess::Other));
    house.hooks = Some(Arc::new(FakeHooks::default()));
    // The results of these tests are alike, and the window is to fill up.
    house.config.reduce = longhaul_core::config::ResultReduction::Off;
    house
}

fn transcripts(transcript: &Path) -> Vec<PathBuf> {
    let folder = transcript.with_extension("").join("subagents");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
        .collect()
}

#[tokio::test]
async fn q1_a_sub_agent_works_on_its_own_and_reports() {
    let house = house(false, 2).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, told) = say(&mut agent, &mut events, "Where is the thing?").await;
    assert_eq!(ended, PromptOutcome::Done);
    assert!(
        texts(&house.last_body())
            .iter()
            .any(|text| text.contains("I found it in src/thing.rs."))
    );
    let bodies = house.bodies();
    let sub = bodies
        .iter()
        .find(|body| body["system"].to_string().contains("for another agent"))
        .unwrap();
    let names: Vec<&str> = sub["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["Read"],
        "only what its kind may use, and no agents of its own"
    );
    assert!(
        !texts(sub)
            .iter()
            .any(|text| text.contains("Where is the thing?"))
    );
    let files = transcripts(&agent.place().transcript);
    assert_eq!(files.len(), 1);
    let first = std::fs::read_to_string(&files[0]).unwrap();
    let lines: Vec<Value> = first
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lines: Vec<&Value> = lines
        .iter()
        .filter(|line| line.get("uuid").is_some())
        .collect();
    assert!(
        lines
            .iter()
            .all(|line| line["isSidechain"] == true && line["sessionId"] == agent.session_id())
    );
    let id = lines[0]["agentId"].as_str().unwrap();
    assert!(files[0].ends_with(format!("agent-{id}.jsonl")));
    let progress = told
        .iter()
        .filter(|event| matches!(event, AgentEvent::ToolProgress { .. }));
    assert!(progress.count() >= 2);
    let events = house.hooks.as_ref().unwrap().events();
    assert!(
        events.contains(&HookEventName::SubagentStart)
            && events.contains(&HookEventName::SubagentStop)
    );
    // There are five requests in all: the usage of the sub-agent counts.
    assert_eq!(bodies.len(), 5);
    let outputs = agent.spent().usage.output;
    assert!(outputs > 0 && agent.spent().cost.is_some());
}

#[tokio::test]
async fn c2_a_sub_agents_compaction_leaves_the_main_conversation_alone() {
    let mut house = house(false, 14).await;
    house.config.window_cap = Some(20_000);
    house.config.switches.micro = false;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, told) = say(&mut agent, &mut events, "Where is the thing?").await;
    assert_eq!(ended, PromptOutcome::Done, "{told:?}");
    let files = transcripts(&agent.place().transcript);
    let sub = std::fs::read_to_string(&files[0]).unwrap();
    assert!(
        sub.contains("compact_boundary"),
        "it compacted its own window"
    );
    let main = std::fs::read_to_string(&agent.place().transcript).unwrap();
    assert!(!main.contains("compact_boundary"));
    assert!(!told.iter().any(|event| matches!(
        event,
        AgentEvent::Engine(longhaul_core::engine::Event::Compacted(_))
    )));
    assert!(
        texts(&house.last_body())
            .iter()
            .any(|text| text.contains("I found it in src/thing.rs."))
    );
}

/// Where hooks may put long output, by event.
#[derive(Default)]
struct Overflows(Mutex<Vec<(HookEventName, Option<PathBuf>)>>);

impl Hooks for Overflows {
    fn run<'a>(&'a self, call: &'a HookInvocation) -> HookFuture<'a> {
        let heard = (call.input.event.name(), call.overflow.clone());
        self.0.lock().unwrap().push(heard);
        Box::pin(std::future::ready(HookResponse::default()))
    }
}

#[tokio::test]
async fn x2_k1_a_sub_agents_compaction_names_the_recall_tool_and_keeps_long_output_of_hooks() {
    let mut house = house(false, 14).await;
    house.config.window_cap = Some(20_000);
    house.config.switches.micro = false;
    house.toolbox = (house.toolbox.clone()).with(Toy::echo("recall", ToolAccess::Nothing));
    let hooks = Arc::new(Overflows::default());
    let heard = hooks.clone();
    let builder = house.builder().session(|session| session.hooks(hooks));
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    say(&mut agent, &mut events, "Where is the thing?").await;
    let heard = heard.0.lock().unwrap();
    let folder = agent.place().session_folder().join("hooks");
    let mut compactions = heard
        .iter()
        .filter(|(event, _)| *event == HookEventName::PreCompact);
    assert!(
        compactions.all(|(_, overflow)| *overflow == Some(folder.clone())),
        "{heard:?}"
    );
    assert!(
        heard
            .iter()
            .any(|(event, _)| *event == HookEventName::PreCompact)
    );
    let files = transcripts(&agent.place().transcript);
    let sub = std::fs::read_to_string(&files[0]).unwrap();
    let summary = sub.lines().find(|line| line.contains("isCompactSummary"));
    assert!(summary.unwrap().contains("recall"), "{summary:?}");
}

#[tokio::test]
async fn u4_a_sub_agents_old_results_are_deleted_from_the_cache_too() {
    let mut house = house(false, 14).await;
    house.config.economy = longhaul::EconomyPolicy::Off;
    let builder = house.builder().session(SessionBuilder::with_cache_edits);
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    let (ended, _) = say(&mut agent, &mut events, "Where is the thing?").await;
    assert_eq!(ended, PromptOutcome::Done);
    let deleted = (house.bodies().iter())
        .filter(|body| body["system"].to_string().contains("for another agent"))
        .filter_map(|body| Some(body["cache_edits"].as_array()?.len()))
        .max();
    assert!(deleted.is_some_and(|most| most >= 7), "{deleted:?}");
}

#[tokio::test]
async fn q1_escape_at_a_sub_agents_question_stops_everything() {
    let mut house = house(false, 2).await;
    house.gate = Some(Arc::new(Rules {
        ask: vec!["Read"],
        ..Rules::default()
    }));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let _ = agent.canceller();
    let no = || Some(ApprovalAnswer::No(None));
    let said = "Where is the thing?";
    let (ended, told) = work(&mut agent, &mut events, said, |_| {}, no).await;
    assert_eq!(ended, PromptOutcome::Cancelled, "{told:?}");
    let sent = house.bodies().len();
    assert_eq!(sent, 2, "the main model does not go on");
    let _ = agent.canceller();
    let (ended, _) = say(&mut agent, &mut events, "Go on.").await;
    assert_eq!(ended, PromptOutcome::Done, "the conversation is valid");
}

#[tokio::test]
async fn r4_an_agent_in_the_background_reports_with_a_later_turn() {
    let house = house(true, 1).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, mut told) = say(&mut agent, &mut events, "Where is the thing?").await;
    assert_eq!(ended, PromptOutcome::Done);
    let is_done = |event: &AgentEvent| matches!(event, AgentEvent::Notice(text) if text.contains("is done: find it"));
    while !told.iter().any(is_done) {
        told.push(events.recv().await.unwrap());
    }
    while agent.running_agents() > 0 {
        tokio::task::yield_now().await;
    }
    say(&mut agent, &mut events, "And?").await;
    let seen = texts(&house.last_body()).join("\n");
    assert!(
        seen.contains("has started in the background")
            && seen.contains("I found it in src/thing.rs."),
        "{seen}"
    );
}
