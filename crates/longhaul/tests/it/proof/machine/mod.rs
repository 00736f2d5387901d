//! The engine under any sequence of inputs and outcomes: it never gets stuck, loses nothing, sends nothing that the API
//! rejects, and what is on disk is what is in memory.

mod steps;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use longhaul::{Boxed, EconomyPolicy, Model, NoWorkspace, OnStream, Session};
use longhaul_core::config::Config;
use longhaul_core::engine::{
    CompactRequest, Effect, EffectFailure, EffectFailureKind, EffectId, EffectOutcome, Engine,
    EngineConfig, EngineInput, EngineResume, Event, HookOutcome, ModelReply, ModelRequest,
    NewEntry, Pivot, SessionIdentity, SummaryReply, ToolOutput, UuidSequence,
};
use longhaul_core::message::EntryKind;
use longhaul_core::models::ModelTable;
use longhaul_core::summary::{PivotDirection, SummaryStop};
use longhaul_core::window::{WindowInput, WindowStatus};
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply};
use longhaul_sim::call::ApiCall;
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::world::{self, World};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::place::{MODELS, prompt};
use crate::session::house::settings;
use steps::{How, Kind, Step, policy, step};

const SYSTEM: &str = "You work on a small code base. Be brief.";
const WINDOW: u64 = 12_000;

struct Machine {
    engine: Engine,
    world: World,
    now: Timestamp,
    pending: Vec<Effect>,
    given: Vec<EffectId>,
    events: Vec<Event>,
    transcript: Vec<u8>,
    said: Vec<String>,
    rejected: Vec<String>,
    last_sent: Option<Vec<u8>>,
    /// Calls that are to have a result, and those that have one.
    calls: usize,
    finished: usize,
}

fn engine_of(model: &str, economy: EconomyPolicy) -> Engine {
    let spec = ModelTable::builtin().resolve(model).spec;
    let window = WindowStatus::new(&WindowInput {
        window: WINDOW,
        max_output: spec.max_output,
        used: 0,
        settings: Config::default().window_settings(),
    });
    let identity = SessionIdentity {
        session_id: "session".into(),
        version: "0".into(),
        ..SessionIdentity::default()
    };
    let config = EngineConfig {
        transcript: Some("/t/session.jsonl".into()),
        economy,
        ..EngineConfig::new(
            identity,
            (*spec).clone(),
            window.unwrap(),
            &Config::default(),
        )
    };
    let head = prompt(model, SYSTEM).request_prefix(&spec).unwrap();
    Engine::new(config, UuidSequence::new(1), head, EngineResume::default())
}

impl Machine {
    fn new(model: &str, economy: EconomyPolicy) -> Self {
        let sim = SimModel::new(model::SimModelOptions::default());
        Self {
            engine: engine_of(model, economy),
            world: World::new(world::WorldOptions::new(5, Box::new(sim))),
            now: Timestamp::constant(1_800_000_000, 0),
            pending: Vec::new(),
            given: Vec::new(),
            events: Vec::new(),
            transcript: Vec::new(),
            said: Vec::new(),
            rejected: Vec::new(),
            last_sent: None,
            calls: 0,
            finished: 0,
        }
    }

    fn input(&mut self, input: EngineInput) {
        self.calls += match &input {
            EngineInput::Turn | EngineInput::Compact(_) => 1,
            // Entries that are added while an effect is running wait for its end; nobody waits for them.
            EngineInput::Add(_) => usize::from(self.engine.is_idle()),
            _ => 0,
        };
        self.engine.handle(input, self.now);
        while let Some(effect) = self.engine.poll() {
            match effect {
                Effect::Notify(event) => self.events.push(event),
                Effect::Finish(_) => self.finished += 1,
                Effect::Cancel { id } => self.pending.retain(|effect| effect_id(effect) != id),
                other => self.pending.push(other),
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Say(length) => {
                let text = format!(
                    "Words {} {}",
                    self.said.len(),
                    "never forget it. ".repeat(usize::from(*length) / 4)
                );
                self.said.push(text.clone());
                self.input(EngineInput::Add(vec![NewEntry::text(text)]));
            }
            Step::Answer(length) => {
                let outputs: Vec<ToolOutput> = self
                    .open_calls()
                    .into_iter()
                    .map(|id| ToolOutput::text(id, "let x = 1;\n".repeat(usize::from(*length) / 8)))
                    .collect();
                if !outputs.is_empty() {
                    self.input(EngineInput::Add(vec![NewEntry::ToolResults(outputs)]));
                }
            }
            Step::Turn => self.input(EngineInput::Turn),
            Step::Compact(kind) => {
                let request = self.request(*kind);
                self.input(EngineInput::Compact(request));
            }
            Step::Cancel => self.input(EngineInput::Cancel),
            Step::Wake => self.input(EngineInput::Wake),
            Step::Later(seconds) => {
                self.now += SignedDuration::from_secs(i64::from(*seconds));
                self.world.advance(u64::from(*seconds) * 1_000);
            }
            Step::Back(seconds) => {
                self.now -= SignedDuration::from_secs(i64::from(*seconds));
            }
            Step::Economy(policy) => self.input(EngineInput::Economy(*policy)),
            Step::Perform(at, how) => {
                if !self.pending.is_empty() {
                    let at = usize::from(*at) % self.pending.len();
                    let effect = self.pending.remove(at);
                    self.perform(effect, *how);
                }
            }
            Step::Again(at) => {
                if !self.given.is_empty() {
                    let id = self.given[usize::from(*at) % self.given.len()];
                    let outcome = EffectOutcome::Persisted { offset: 0 };
                    self.input(EngineInput::Done { id, outcome });
                }
            }
        }
    }

    /// Calls of the newest reply that have no result.
    fn open_calls(&self) -> Vec<String> {
        let views = self.engine.live().views();
        let text: String = views
            .clone()
            .map(|entry| String::from_utf8_lossy(entry.line).into_owned())
            .collect();
        let newest = views.filter(|entry| entry.facets.kind == EntryKind::Assistant);
        let Some(newest) = newest.last() else {
            return Vec::new();
        };
        let message: Value = serde_json::from_slice(newest.line).unwrap();
        let blocks = message["message"]["content"].as_array().unwrap().iter();
        blocks
            .filter(|block| block["type"] == "tool_use")
            .map(|block| block["id"].as_str().unwrap().to_owned())
            .filter(|id| !text.contains(&format!("\"tool_use_id\":\"{id}\"")))
            .collect()
    }

    fn request(&self, kind: Kind) -> CompactRequest {
        let pivot = |at: u8, direction| {
            let entries = self.engine.live().entries();
            let at = usize::from(at) % entries.len().max(1);
            entries.get(at).map(|kept| Pivot {
                uuid: {
                    let view = kept.entry.view();
                    view.text(view.facets.uuid).into_owned()
                },
                direction,
            })
        };
        let whole = CompactRequest::default();
        match kind {
            Kind::Whole => whole,
            Kind::Local => CompactRequest {
                local: true,
                ..whole
            },
            Kind::Preview => CompactRequest {
                preview: true,
                ..whole
            },
            Kind::Approved => CompactRequest {
                approved: Some("All is well.".into()),
                ..whole
            },
            Kind::UpTo(at) => CompactRequest {
                pivot: pivot(at, PivotDirection::UpTo),
                ..whole
            },
            Kind::From(at) => CompactRequest {
                pivot: pivot(at, PivotDirection::From),
                ..whole
            },
        }
    }

    fn perform(&mut self, effect: Effect, how: How) {
        let id = effect_id(&effect);
        let failed = |kind| EffectOutcome::Failed(EffectFailure::of(kind, "it failed"));
        let outcome = match how {
            How::Well => self.well(effect),
            How::Transient => failed(EffectFailureKind::Transient),
            How::TooLong(gap) => failed(EffectFailureKind::TooLong {
                gap: gap.map(u64::from),
            }),
            How::Cancelled => failed(EffectFailureKind::Cancelled),
            How::Badly => failed(EffectFailureKind::Other),
            How::Otherwise => match effect {
                Effect::Archive { .. } => EffectOutcome::Persisted { offset: 0 },
                _ => EffectOutcome::Archived,
            },
        };
        self.given.push(id);
        self.input(EngineInput::Done { id, outcome });
    }

    fn well(&mut self, effect: Effect) -> EffectOutcome {
        match effect {
            Effect::Persist { lines, .. } => {
                let offset = self.transcript.len() as u64;
                for line in lines {
                    self.transcript.extend_from_slice(&line);
                    self.transcript.push(b'\n');
                }
                EffectOutcome::Persisted { offset }
            }
            Effect::Archive { .. } => EffectOutcome::Archived,
            Effect::Gather { .. } => EffectOutcome::Gathered(Box::default()),
            Effect::TakeNotes { .. } => EffectOutcome::Noted(Box::default()),
            Effect::ReadNotes { .. } => EffectOutcome::NotesRead(Box::default()),
            Effect::RunHooks { .. } => EffectOutcome::HooksRan(HookOutcome::default()),
            Effect::Send { request, .. } => {
                self.last_sent = Some(request.body.concat());
                match self.ask(&request) {
                    Some(reply) => EffectOutcome::Replied(Box::new(ModelReply {
                        message: to_raw_value(&reply.message).unwrap(),
                        usage: reply.usage,
                        request_id: Some(reply.request_id),
                        applied: Default::default(),
                        ending: Default::default(),
                    })),
                    None => rejected(),
                }
            }
            Effect::Summarize { request, .. } => match self.ask(&request) {
                Some(reply) => {
                    let blocks = reply.message["content"].as_array().unwrap().clone();
                    let of =
                        |kind: &str| blocks.iter().filter(|block| block["type"] == kind).count();
                    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
                    EffectOutcome::Summarized(Box::new(SummaryReply {
                        message: None,
                        text: texts.collect(),
                        calls: of("tool_use"),
                        stop: match reply.message["stop_reason"].as_str() {
                            Some("end_turn") => SummaryStop::Finished,
                            Some("tool_use") => SummaryStop::ToolUse,
                            Some("model_context_window_exceeded") => SummaryStop::WindowFull,
                            _ => SummaryStop::CutOff,
                        },
                        usage: Some(reply.usage),
                    }))
                }
                None => rejected(),
            },
            Effect::Notify(_) | Effect::Cancel { .. } | Effect::Finish(_) => {
                unreachable!("told or taken away before")
            }
        }
    }

    /// The simulator's answer. A request that it rejects is recorded.
    fn ask(&mut self, request: &ModelRequest) -> Option<longhaul_sim::reply::ApiReply> {
        let call = ApiCall {
            key: "k".into(),
            version: "2023-06-01".into(),
            betas: request.betas.iter().cloned().collect::<BTreeSet<_>>(),
            session: None,
            body: Bytes::from(request.body.concat()),
        };
        match self.world.exchange(&call) {
            Ok(reply) => Some(reply),
            Err(error) => {
                self.rejected.push(error.message);
                None
            }
        }
    }

    /// Performs everything successfully.
    fn drain(&mut self) {
        for _ in 0..200 {
            if self.pending.is_empty() {
                assert_eq!(self.finished, self.calls, "each call has one result");
                return;
            }
            let effect = self.pending.remove(0);
            self.perform(effect, How::Well);
        }
        panic!("it never comes to rest");
    }

    fn replies(&self) -> usize {
        let events = self.events.iter();
        events
            .filter(|event| matches!(event, Event::Replied { .. }))
            .count()
    }
}

fn rejected() -> EffectOutcome {
    EffectOutcome::Failed(EffectFailure::other("rejected"))
}

fn effect_id(effect: &Effect) -> EffectId {
    match effect {
        Effect::Persist { id, .. }
        | Effect::Archive { id, .. }
        | Effect::Send { id, .. }
        | Effect::Summarize { id, .. }
        | Effect::Gather { id, .. }
        | Effect::RunHooks { id, .. }
        | Effect::TakeNotes { id, .. }
        | Effect::ReadNotes { id }
        | Effect::Cancel { id } => *id,
        Effect::Notify(_) | Effect::Finish(_) => EffectId(0),
    }
}

/// A model that only records its requests.
#[derive(Clone, Default)]
struct Looking(Arc<Mutex<Vec<Vec<u8>>>>);

impl Model for Looking {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        _: OnStream<'a>,
        _: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        self.0.lock().unwrap().push(request.body.concat());
        Box::pin(async { Err(Error::new(ErrorClass::Cancelled, "only looking")) })
    }
}

struct At(Timestamp);

impl longhaul::Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// The next request of a session that resumes the transcript.
fn resumed(machine: &Machine, model: &str) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, &machine.transcript).unwrap();
    let looking = Looking::default();
    let mut session = Session::builder()
        .model(looking.clone())
        .prompt(prompt(model, SYSTEM))
        .transcript(&path)
        .config(settings(WINDOW))
        .economy(machine.engine.economy())
        .workspace(NoWorkspace)
        .clock(At(machine.now))
        .open()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let _ = runtime.block_on(session.turn());
    looking.0.lock().unwrap().first().cloned()
}

fn holds(model: &str, economy: EconomyPolicy, steps: &[Step]) {
    let mut machine = Machine::new(model, economy);
    for step in steps {
        machine.step(step);
    }
    machine.drain();
    assert!(machine.engine.is_idle(), "nothing is awaited");

    // A turn is possible.
    machine.step(&Step::Later(3));
    machine.step(&Step::Say(20));
    machine.drain();
    let replies = machine.replies();
    machine.step(&Step::Turn);
    let compacts = machine
        .pending
        .iter()
        .any(|effect| !matches!(effect, Effect::Send { .. } | Effect::Persist { .. }));
    // The pause after a summary that came to nothing is not on disk.
    let has_failed = |event: &Event| matches!(event, Event::CompactFailed { .. });
    let rests =
        machine.engine.economy() == EconomyPolicy::Full && machine.events.iter().any(has_failed);
    let resumed = resumed(&machine, model);
    machine.drain();
    assert_eq!(
        machine.replies(),
        replies + 1,
        "{:?}",
        machine.events.last()
    );
    assert_eq!(machine.rejected, Vec::<String>::new());

    // What is on disk is what is in memory.
    if !compacts && !rests {
        let (live, resumed) = (machine.last_sent.clone().unwrap(), resumed.unwrap());
        let at = live
            .iter()
            .zip(&resumed)
            .take_while(|(a, b)| a == b)
            .count();
        let around = |body: &[u8]| {
            let part = &body[at.saturating_sub(300)..(at + 300).min(body.len())];
            String::from_utf8_lossy(part).into_owned()
        };
        assert!(
            live == resumed,
            "at {at}:\n{}\n\nresumed:\n{}",
            around(&live),
            around(&resumed)
        );
    }

    // Nothing that was said is lost, and nothing is there twice.
    let transcript = String::from_utf8(machine.transcript.clone()).unwrap();
    for text in &machine.said {
        let content = format!("\"content\":{}", Value::from(text.as_str()));
        assert_eq!(transcript.matches(&content).count(), 1, "{text}");
    }
    for event in &machine.events {
        if let Event::Compacted(done) = event {
            assert!(done.after < done.before, "{done:?}");
        }
    }
}

fn cases() -> u32 {
    let asked = std::env::var("LONGHAUL_CASES").ok();
    asked.map_or(60, |cases| cases.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn z3_v5_any_sequence_of_inputs_and_outcomes_leaves_a_conversation_that_goes_on(
        model in 0..MODELS.len(),
        economy in policy(),
        steps in proptest::collection::vec(step(), 0..120),
    ) {
        holds(MODELS[model], economy, &steps);
    }
}
