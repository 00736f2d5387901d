//! Stopping: the conversation is valid afterwards, and the strict simulator accepts the next turn.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use longhaul::{Boxed, Clock, Model, OnStream};
use longhaul_agent::agent::{Agent, AgentBuilder, SessionChoice};
use longhaul_agent::event::{AgentEvent, PromptOutcome};
use longhaul_agent::tool::{ToolAccess, ToolCallOutput, Toolbox};
use longhaul_core::engine::{
    CompactFailure, CompactRequest, CompactionPhase, Event, ModelRequest, Urgency,
};
use longhaul_provider::{CancellationToken, Client, Error, Reply};
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;

use super::house::{House, Toy, calls, client, long, say, text, texts, work};

async fn goes_on(house: &House, agent: &mut Agent, events: &mut UnboundedReceiver<AgentEvent>) {
    let _ = agent.canceller();
    let (ended, _) = say(agent, events, "Go on.").await;
    assert_eq!(
        ended,
        PromptOutcome::Done,
        "the strict world takes the next request"
    );
    assert!(
        texts(&house.last_body())
            .iter()
            .any(|text| text == "Go on.")
    );
}

#[tokio::test]
async fn q1_stopped_while_the_model_speaks() {
    let stalls = json!({"text": "A long story of many words.", "fault": "stall(after=4)"});
    let house = House::scripted_by("calls", &[stalls, text("Yes.")]).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let cancel = agent.canceller();
    let stop = |event: &AgentEvent| {
        if let AgentEvent::Text(_) = event {
            cancel.cancel();
        }
    };
    let (ended, _) = work(&mut agent, &mut events, "Tell me.", stop, || None).await;
    assert_eq!(ended, PromptOutcome::Cancelled);
    goes_on(&house, &mut agent, &mut events).await;
    let seen = texts(&house.last_body());
    assert!(
        seen.iter()
            .any(|text| text == "[Request interrupted by user]")
    );
    assert!(
        !seen.iter().any(|text| text.contains("long story")),
        "half a reply is none"
    );
}

#[tokio::test]
async fn q1_stopped_while_tools_run() {
    let turn = calls(&[
        ("Quick", json!({})),
        ("Slow", json!({})),
        ("Later", json!({})),
    ]);
    let mut house = House::scripted(&[turn, text("Yes.")]).await;
    let waits =
        |_, call: longhaul_agent::tool::CallContext| -> longhaul::Boxed<'static, ToolCallOutput> {
            Box::pin(async move {
                (call.progress)("at it");
                call.cancel.cancelled().await;
                ToolCallOutput::error("ended")
            })
        };
    let writes = || ToolAccess::Writes(PathBuf::from("/x"));
    house.toolbox = Toolbox::default()
        .with(Toy::echo("Quick", writes()))
        .with(Toy::new("Slow", writes(), waits))
        .with(Toy::echo("Later", writes()));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let cancel = agent.canceller();
    let stop = |event: &AgentEvent| {
        if let AgentEvent::ToolProgress { .. } = event {
            cancel.cancel();
        }
    };
    let (ended, told) = work(&mut agent, &mut events, "Go.", stop, || None).await;
    assert_eq!(ended, PromptOutcome::Cancelled);
    let results = told
        .iter()
        .filter(|event| matches!(event, AgentEvent::ToolEnded { .. }));
    assert_eq!(results.count(), 3, "every call has a result");
    goes_on(&house, &mut agent, &mut events).await;
    let seen = texts(&house.last_body());
    let has = |part: &str| seen.iter().any(|text| text.contains(part));
    assert!(
        has("Quick saw") && has("stopped this call") && has("was not run"),
        "{seen:?}"
    );
    assert!(has("[Request interrupted by user for tool use]"));
    assert!(!has("Later saw"));
}

#[tokio::test]
async fn y7_a_result_is_on_disk_while_the_next_call_runs() {
    let turn = calls(&[("Quick", json!({"what": "x"})), ("Slow", json!({}))]);
    let mut house = House::scripted(&[turn, text("Yes.")]).await;
    let transcript: Arc<std::sync::Mutex<PathBuf>> = Arc::default();
    let read = transcript.clone();
    let looks = move |_, _| -> longhaul::Boxed<'static, ToolCallOutput> {
        let read = read.clone();
        Box::pin(async move {
            let path = read.lock().unwrap().clone();
            for _ in 0..500 {
                if std::fs::read_to_string(&path)
                    .unwrap()
                    .contains("Quick saw")
                {
                    return ToolCallOutput::text("there", "there");
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            ToolCallOutput::error("the result is not on disk")
        })
    };
    let writes = || ToolAccess::Writes(PathBuf::from("/x"));
    house.toolbox = Toolbox::default()
        .with(Toy::echo("Quick", writes()))
        .with(Toy::new("Slow", writes(), looks));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    *transcript.lock().unwrap() = agent.place().transcript.clone();
    let (ended, _) = say(&mut agent, &mut events, "Go.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let seen = texts(&house.last_body());
    assert!(seen.iter().any(|text| text == "there"), "{seen:?}");
}

#[tokio::test]
async fn q1_a_compaction_that_is_stopped_changes_nothing() {
    let turns = [long(), text("Two."), text("Three.")];
    let mut house = House::scripted(&turns).await;
    house.config.window_cap = Some(20_000);
    // Notes that are taken in the background write to the transcript, too.
    house.config.switches.notes = false;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, &"A long request. ".repeat(200)).await;
    say(&mut agent, &mut events, "And more.").await;
    let transcript = agent.place().transcript.clone();
    let before = std::fs::read(&transcript).unwrap();
    agent.canceller().cancel();
    let stopped = agent.compact(CompactRequest::default()).await.unwrap_err();
    assert_eq!(
        stopped.kind,
        CompactFailure::Cancelled,
        "before it has begun"
    );
    let cancel = agent.canceller();
    let mut phases = Vec::new();
    let stopped = {
        let mut compaction = Box::pin(agent.compact(CompactRequest::default()));
        loop {
            tokio::select! {
                biased;
                event = events.recv() => if let Some(AgentEvent::Engine(Event::Phase(phase))) = event {
                    if phase == Some(CompactionPhase::Compacting) {
                        cancel.cancel();
                    }
                    phases.push(phase);
                },
                stopped = &mut compaction => break stopped.unwrap_err(),
            }
        }
    };
    assert_eq!(stopped.kind, CompactFailure::Cancelled, "while it goes on");
    assert_eq!(std::fs::read(&transcript).unwrap(), before);
    while let Ok(event) = events.try_recv() {
        if let AgentEvent::Engine(Event::Phase(phase)) = event {
            phases.push(phase);
        }
    }
    assert!(phases.contains(&Some(CompactionPhase::Compacting)) && phases.last() == Some(&None));
    goes_on(&house, &mut agent, &mut events).await;
}

#[tokio::test]
async fn q1_a_question_that_is_open_ends_with_the_work() {
    let turn = calls(&[("Change", json!({}))]);
    let mut house = House::scripted(&[turn, text("Yes.")]).await;
    house.toolbox = Toolbox::default().with(Toy::echo("Change", ToolAccess::Other));
    house.gate = Some(Arc::new(super::house::Rules {
        ask: vec!["Change"],
        ..Default::default()
    }));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let cancel = agent.canceller();
    let ended = {
        let mut open = Vec::new();
        let mut work = Box::pin(agent.prompt("Go."));
        loop {
            tokio::select! {
                biased;
                event = events.recv() => if let Some(AgentEvent::Asks(question)) = event {
                    open.push(question);
                    cancel.cancel();
                },
                ended = &mut work => break ended,
            }
        }
    };
    assert_eq!(ended, PromptOutcome::Cancelled);
    goes_on(&house, &mut agent, &mut events).await;
}

/// Answers requests that the user waits for, and never any others.
struct NothingInTheBackground(Client);

impl Model for NothingInTheBackground {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        match request.urgency {
            Urgency::Awaited => Model::send(&self.0, request, on_stream, cancel),
            Urgency::Background => Box::pin(std::future::pending()),
        }
    }
}

/// A clock that stands still, so that nothing times out.
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

#[tokio::test]
async fn s6_a_stop_ends_a_compaction_that_waits_for_notes() {
    let mut house = House::scripted(&[long()]).await;
    house.config.notes.start_tokens = 1_000;
    // Notes are taken whether or not they are expected to pay.
    house.config.economy = longhaul::EconomyPolicy::Off;
    let model = Arc::new(NothingInTheBackground(client(&house.server)));
    let builder = AgentBuilder::new(model, &house.model, house.cwd(), house.env())
        .session(|session| session.config(house.config.clone()).clock(Stopped));
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    say(&mut agent, &mut events, "Tell me.").await;
    assert!(agent.has_background_work(), "notes are being taken");
    let cancel = agent.canceller();
    let stop = async {
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    let compaction = agent.compact(CompactRequest::default());
    // The limit is reached only if the compaction is not stopped.
    let ended = tokio::time::timeout(Duration::from_secs(20), async {
        tokio::join!(compaction, stop).0
    });
    let stopped = ended.await.expect("the stop ends the wait").unwrap_err();
    assert_eq!(stopped.kind, CompactFailure::Cancelled);
    assert!(agent.has_background_work(), "the notes go on");
}
