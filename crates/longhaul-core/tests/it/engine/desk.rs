//! A shell around an engine that does what a test tells it, and records what it was asked.

use std::collections::VecDeque;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use longhaul_core::config::{Config, ResultReduction};
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::engine::{
    CacheEditSupport, CallResult, CompactionHook, Effect, EffectFailure, EffectFailureKind,
    EffectOutcome, Engine, EngineConfig, EngineInput, EngineResume, Event, HookOutcome, ModelReply,
    ModelRequest, NewEntry, NotesConfig, NotesOnDisk, NotesRun, NotesRunOutcome, PrefixRecording,
    ReplyDelivery, ReplyEnding, SessionIdentity, SummarizerSetting, SummaryModel, SummaryReply,
    SummaryTiming, ToolOutput, UuidSequence,
};
use longhaul_core::message::Usage;
use longhaul_core::micro::PressureOwner;
use longhaul_core::micro::native::ProviderClearing;
use longhaul_core::models::ModelTable;
use longhaul_core::prompt::{
    LatchedSettings, OnPrefixMismatch, RequestParameters, RequestPrefix, ThinkingChoice, Ttl,
};
use longhaul_core::rehydrate::{FileText, RestoreInput, RestoreSourceResult};
use longhaul_core::summary::SummaryStop;
use longhaul_core::window::{
    AutoCompact, QuerySource, Switches, WindowInput, WindowOwner, WindowSettings, WindowStatus,
};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// What the model does next.
pub(crate) enum Answer {
    /// The model says this, and the provider measured so many tokens of prompt.
    Says(&'static str, u64),
    /// The model calls a tool.
    Calls(&'static str, &'static str, u64),
    /// The model calls tools, each by its name, with an id, on a file.
    CallsOn(&'static [(&'static str, &'static str, &'static str)]),
    /// The model says something, and so many tokens were read from the cache. The second figure is how many tokens the
    /// provider reports as left out on request.
    Reads(u64, Option<u64>),
    /// The model says something after the provider cleared so many results of so many tokens.
    Cleared(u64, u64, u64),
    /// The model says something, and its prompt is billed like this.
    Bills(Usage),
    /// The model says this, and then the window is full.
    RunsOut(&'static str, u64),
    Fails(EffectFailureKind),
}

/// What a summarizer does next.
pub(crate) enum Sum {
    Writes(&'static str),
    Ends(SummaryStop, &'static str),
    Fails(EffectFailureKind),
    /// The provider summarizes by itself, and its reply has this content.
    Provider(Value),
}

pub(crate) struct Desk {
    pub(crate) engine: Engine,
    pub(crate) now: Timestamp,
    pub(crate) transcript: Vec<Bytes>,
    /// The names of the effects, in order.
    pub(crate) asked: Vec<String>,
    /// The results of the calls.
    pub(crate) results: Vec<CallResult>,
    pub(crate) events: Vec<Event>,
    pub(crate) sent: Vec<ModelRequest>,
    pub(crate) summaries_sent: Vec<ModelRequest>,
    pub(crate) answers: VecDeque<Answer>,
    pub(crate) sums: VecDeque<Sum>,
    pub(crate) pre_compact: HookOutcome,
    pub(crate) session_start: HookOutcome,
    pub(crate) post_compact: HookOutcome,
    pub(crate) files: Vec<RestoreSourceResult<FileText>>,
    pub(crate) disk_full: bool,
    pub(crate) archive_broken: bool,
    pub(crate) no_archive: bool,
    /// The request prefix that the host wants after the next compaction.
    pub(crate) new_head: Option<RequestPrefix>,
    /// The first effect whose name begins with this stops the shell.
    pub(crate) hold: Option<&'static str>,
    pub(crate) held: Option<Effect>,
    /// Effects whose names begin with this are left for later, while the others continue.
    pub(crate) aside: Option<&'static str>,
    pub(crate) set_aside: Vec<Effect>,
    /// The session's notes, the outcome of taking them, and the requests for it.
    pub(crate) notes: NotesOnDisk,
    pub(crate) notes_taken: NotesRunOutcome,
    pub(crate) notes_runs: Vec<NotesRun>,
    offset: u64,
    replies: u32,
}

pub(crate) const GOOD: &str = "<analysis>walked through it</analysis><summary>\n1. Request: build a parser.\n2. Concepts: none.\n3. Files: src/a.rs.\n4. Errors: none.\n5. Solving: none.\n6. Messages: see below.\n7. Pending: none.\n8. Current: the parser.\n9. Next: go on.\n</summary>";

/// Returns a long text for the model to say.
pub(crate) fn long() -> &'static str {
    Box::leak(
        "Here is what I know about it. "
            .repeat(400)
            .into_boxed_str(),
    )
}

pub(crate) struct Setting {
    pub(crate) model: &'static str,
    pub(crate) window: u64,
    pub(crate) switches: Switches,
    pub(crate) cache_edits: CacheEditSupport,
    pub(crate) pressure: PressureOwner,
    pub(crate) summarizer: SummarizerSetting,
    pub(crate) source: QuerySource,
    pub(crate) owner: WindowOwner,
    pub(crate) notes: Option<NotesConfig>,
    pub(crate) preparation: SummaryTiming,
    pub(crate) delivery: ReplyDelivery,
    pub(crate) prefixes: PrefixRecording,
    pub(crate) summary_model: Option<&'static str>,
    pub(crate) reduce: ResultReduction,
    pub(crate) economy: EconomyPolicy,
    pub(crate) recall_tool: Option<&'static str>,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            model: "claude-opus-4-6",
            window: 20_000,
            switches: Switches::default(),
            cache_edits: CacheEditSupport::Unsupported,
            pressure: PressureOwner::Ours,
            summarizer: SummarizerSetting::Ours,
            source: QuerySource::MAIN,
            owner: WindowOwner::Proactive,
            notes: None,
            preparation: SummaryTiming::WhenFull,
            delivery: ReplyDelivery::Streamed,
            prefixes: PrefixRecording::Written,
            summary_model: None,
            reduce: ResultReduction::Off,
            economy: EconomyPolicy::Off,
            recall_tool: None,
        }
    }
}

pub(crate) fn head(model: &str) -> RequestPrefix {
    let spec = ModelTable::builtin().resolve(model).spec;
    let body = RequestParameters {
        model,
        spec: &spec,
        max_tokens: 4_000,
        think: ThinkingChoice::Default,
        on_mismatch: OnPrefixMismatch::Refuse,
        effort: None,
        more: Default::default(),
    }
    .to_body()
    .unwrap();
    let marker = json!({"type": "ephemeral"});
    RequestPrefix {
        system: to_raw_value(&json!([{"type":"text","text":"Be brief.","cache_control":marker}]))
            .unwrap(),
        tools: to_raw_value(&json!([{"name":"Read","input_schema":{"type":"object"}}])).unwrap(),
        user_context: None,
        latched: LatchedSettings::new(Some(Ttl::FiveMinutes), body.betas, &spec, body.json),
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(Setting::default())
    }

    pub(crate) fn with(setting: Setting) -> Self {
        Self::resumed(setting, EngineResume::default())
    }

    pub(crate) fn resumed(setting: Setting, resume: EngineResume) -> Self {
        let spec = ModelTable::builtin().resolve(setting.model).spec;
        let automatic = setting.switches.automatic && setting.switches.compaction;
        let window = WindowStatus::new(&WindowInput {
            window: setting.window,
            max_output: spec.max_output,
            used: 0,
            settings: WindowSettings {
                auto_compact: if automatic {
                    AutoCompact::On
                } else {
                    AutoCompact::Off
                },
                ..WindowSettings::default()
            },
        })
        .unwrap();
        let identity = SessionIdentity {
            session_id: "s".into(),
            cwd: "/p".into(),
            version: "0".into(),
            ..SessionIdentity::default()
        };
        let config = EngineConfig {
            source: setting.source,
            owner: setting.owner,
            switches: setting.switches,
            delivery: setting.delivery,
            prefixes: setting.prefixes,
            cache_edits: setting.cache_edits,
            pressure: setting.pressure,
            summarizer: setting.summarizer,
            transcript: Some("/t/s.jsonl".into()),
            notes: setting.notes,
            preparation: setting.preparation,
            recall_tool: setting.recall_tool.map(str::to_owned),
            reduce: setting.reduce,
            economy: setting.economy,
            summary_model: setting.summary_model.map(|id| SummaryModel {
                id: id.into(),
                spec: (*ModelTable::builtin().resolve(id).spec).clone(),
            }),
            ..EngineConfig::new(identity, (*spec).clone(), window, &Config::default())
        };
        let engine = Engine::new(config, UuidSequence::new(1), head(setting.model), resume);
        Self {
            engine,
            now: Timestamp::constant(1_800_000_000, 0),
            transcript: Vec::new(),
            asked: Vec::new(),
            events: Vec::new(),
            results: Vec::new(),
            sent: Vec::new(),
            summaries_sent: Vec::new(),
            answers: VecDeque::new(),
            sums: VecDeque::new(),
            pre_compact: HookOutcome::default(),
            session_start: HookOutcome::default(),
            post_compact: HookOutcome::default(),
            files: Vec::new(),
            disk_full: false,
            archive_broken: false,
            no_archive: false,
            new_head: None,
            hold: None,
            held: None,
            aside: None,
            set_aside: Vec::new(),
            notes: NotesOnDisk::default(),
            notes_taken: NotesRunOutcome::default(),
            notes_runs: Vec::new(),
            offset: 0,
            replies: 0,
        }
    }

    pub(crate) fn later(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    pub(crate) fn input(&mut self, input: EngineInput) {
        self.engine.handle(input, self.now);
        self.run();
    }

    pub(crate) fn run(&mut self) {
        while let Some(effect) = self.engine.poll() {
            let name = name(&effect);
            if !matches!(effect, Effect::Notify(_) | Effect::Finish(_)) {
                self.asked.push(name.clone());
            }
            if self.hold.is_some_and(|hold| name.starts_with(hold)) {
                self.hold = None;
                self.held = Some(effect);
                return;
            }
            if self.aside.is_some_and(|aside| name.starts_with(aside)) {
                self.set_aside.push(effect);
                continue;
            }
            self.perform(effect);
        }
    }

    /// Performs the effects that were left for later, and from now on all effects as they come.
    pub(crate) fn catch_up(&mut self) {
        self.aside = None;
        for effect in std::mem::take(&mut self.set_aside) {
            self.perform(effect);
        }
        self.run();
    }

    /// Performs the effects that were held back.
    pub(crate) fn release(&mut self) {
        if let Some(effect) = self.held.take() {
            self.perform(effect);
            self.run();
        }
    }

    fn perform(&mut self, effect: Effect) {
        let (id, outcome) = match effect {
            Effect::Notify(event) => return self.events.push(event),
            Effect::Finish(result) => return self.results.push(result),
            Effect::Cancel { .. } => return,
            Effect::Persist { id, .. } if self.disk_full => (id, failed(EffectFailureKind::Other)),
            Effect::Persist { id, lines } => {
                let offset = self.offset;
                self.offset += lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>();
                self.transcript.extend(lines);
                (id, EffectOutcome::Persisted { offset })
            }
            Effect::Archive { id, .. } if self.archive_broken => {
                (id, failed(EffectFailureKind::Other))
            }
            Effect::Archive { id, .. } if self.no_archive => (id, EffectOutcome::NoArchive),
            Effect::Archive { id, .. } => (id, EffectOutcome::Archived),
            Effect::Send { id, request } => {
                self.sent.push(request);
                let answer = self
                    .answers
                    .pop_front()
                    .unwrap_or(Answer::Says("fine", 1_000));
                (id, self.answer(answer))
            }
            Effect::Summarize { id, request, .. } => {
                self.summaries_sent.push(request);
                let sum = self.sums.pop_front().unwrap_or(Sum::Writes(GOOD));
                (id, summed(sum))
            }
            Effect::TakeNotes { id, run } => {
                self.notes_runs.push(*run);
                let taken = self.notes_taken.clone();
                (id, EffectOutcome::Noted(Box::new(taken)))
            }
            Effect::ReadNotes { id } => {
                (id, EffectOutcome::NotesRead(Box::new(self.notes.clone())))
            }
            Effect::Gather { id, .. } => {
                let gathered = RestoreInput {
                    files: std::mem::take(&mut self.files),
                    ..RestoreInput::default()
                };
                let context = longhaul_core::engine::GatheredContext {
                    gathered,
                    prefix: self.new_head.take(),
                };
                (id, EffectOutcome::Gathered(Box::new(context)))
            }
            Effect::RunHooks { id, call, .. } => {
                let said = match call {
                    CompactionHook::PreCompact { .. } => &self.pre_compact,
                    CompactionHook::SessionStart => &self.session_start,
                    CompactionHook::PostCompact { .. } => &self.post_compact,
                };
                (id, EffectOutcome::HooksRan(said.clone()))
            }
        };
        self.engine
            .handle(EngineInput::Done { id, outcome }, self.now);
    }

    fn answer(&mut self, answer: Answer) -> EffectOutcome {
        self.replies += 1;
        let mut applied = ProviderClearing::default();
        let mut cache_deleted = None;
        let mut billed = None;
        let ending = match answer {
            Answer::RunsOut(..) => ReplyEnding::WindowExceeded,
            _ => ReplyEnding::default(),
        };
        let (content, prompt) = match answer {
            Answer::Fails(kind) => return failed(kind),
            Answer::Says(text, prompt) | Answer::RunsOut(text, prompt) => {
                (json!([{"type":"text","text":text}]), prompt)
            }
            Answer::Reads(read, deleted) => {
                cache_deleted = deleted;
                (json!([{"type":"text","text":"Fine."}]), read)
            }
            Answer::Bills(usage) => {
                billed = Some(usage);
                (json!([{"type":"text","text":"Fine."}]), 0)
            }
            Answer::Cleared(tool_uses, input_tokens, prompt) => {
                applied.tool_uses = tool_uses;
                applied.input_tokens = input_tokens;
                (json!([{"type":"text","text":"Fine."}]), prompt)
            }
            Answer::CallsOn(calls) => {
                let calls = calls.iter().map(|(tool, id, path)| {
                    json!({"type":"tool_use","id":id,"name":tool,"input":{"file_path":path}})
                });
                (calls.collect(), 1_000)
            }
            Answer::Calls(tool, id, prompt) => (
                json!([{"type":"tool_use","id":id,"name":tool,"input":{"file_path":format!("/p/{id}.rs")}}]),
                prompt,
            ),
        };
        // The reply is part of what was measured, and counts at least its own size.
        let output = (content.to_string().len() as u64 / 4).max(20);
        let prompt = prompt.saturating_sub(output - 20);
        let usage = billed.unwrap_or(Usage {
            input: 10,
            cache_read: prompt,
            output,
            cache_deleted,
            ..Usage::default()
        });
        let message = json!({"id": format!("msg_{}", self.replies), "type": "message", "role": "assistant",
            "model": "m", "content": content, "stop_reason": "end_turn",
            "usage": {"input_tokens": usage.input, "cache_read_input_tokens": usage.cache_read,
                "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write_5m,
                    "ephemeral_1h_input_tokens": usage.cache_write_1h},
                "output_tokens": usage.output}});
        EffectOutcome::Replied(Box::new(ModelReply {
            message: to_raw_value(&message).unwrap(),
            usage,
            request_id: None,
            applied,
            ending,
        }))
    }

    /// Lets the user say something.
    pub(crate) fn say(&mut self, text: &str) {
        self.input(EngineInput::Add(vec![NewEntry::text(text)]));
    }

    pub(crate) fn turn(&mut self) {
        self.later(5);
        self.input(EngineInput::Turn);
    }

    /// Lets the user say something and the model give this answer.
    pub(crate) fn exchange(&mut self, text: &str, answer: Answer) {
        self.say(text);
        self.answers.push_back(answer);
        self.turn();
    }

    /// Lets the model call a tool and get a result of so many tokens.
    pub(crate) fn works(&mut self, id: &'static str, tokens: usize, prompt: u64) {
        self.answers.push_back(Answer::Calls("Read", id, prompt));
        self.turn();
        self.input(EngineInput::Add(vec![NewEntry::ToolResults(vec![
            ToolOutput {
                tool_use_id: id.into(),
                content: json!("x".repeat(tokens * 4)),
                is_error: false,
            },
        ])]));
    }

    /// Creates a conversation that fills a window of 20,000 to the threshold with the next turn.
    pub(crate) fn fill(&mut self) {
        self.exchange(
            "Build a parser. Never use regexes.",
            Answer::Says("I will.", 900),
        );
        self.exchange("What do you know about it?", Answer::Says(long(), 14_000));
        self.say("Go on.");
    }

    pub(crate) fn compactions(&self) -> usize {
        let done = self.events.iter();
        done.filter(|event| matches!(event, Event::Compacted(_)))
            .count()
    }

    pub(crate) fn last_compaction(&self) -> &longhaul_core::engine::CompactionSuccess {
        let mut newest = self.events.iter().rev();
        let last = newest.find_map(|event| match event {
            Event::Compacted(done) => Some(done),
            _ => None,
        });
        last.expect("a compaction")
    }

    pub(crate) fn failures(&self) -> Vec<longhaul_core::engine::CompactFailure> {
        let failures = self.events.iter().filter_map(|event| match event {
            Event::CompactFailed { kind, .. } => Some(*kind),
            _ => None,
        });
        failures.collect()
    }

    /// How many lines the transcript has besides the records of replies that were billed and not used.
    pub(crate) fn lines_written(&self) -> usize {
        self.transcript.len() - self.lost_replies()
    }

    /// How many records of replies that were billed and not used the transcript has.
    pub(crate) fn lost_replies(&self) -> usize {
        let lines = self.transcript.iter();
        let lines = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
        lines.filter(|line| line["type"] == "reply-lost").count()
    }

    pub(crate) fn subtypes(&self, wanted: &str) -> Vec<Value> {
        let lines = self
            .transcript
            .iter()
            .map(|line| serde_json::from_slice::<Value>(line).unwrap());
        lines.filter(|line| line["subtype"] == wanted).collect()
    }

    pub(crate) fn body(request: &ModelRequest) -> Value {
        serde_json::from_slice(&request.body.concat()).unwrap()
    }
}

pub(crate) fn failed(kind: EffectFailureKind) -> EffectOutcome {
    EffectOutcome::Failed(EffectFailure::of(kind, "it failed"))
}

fn summed(sum: Sum) -> EffectOutcome {
    let mut message = None;
    let (text, stop) = match sum {
        Sum::Provider(content) => {
            let reply = json!({"id": "msg_c", "type": "message", "role": "assistant", "model": "m",
                "content": content, "stop_reason": "compaction",
                "usage": {"input_tokens": 0, "output_tokens": 0}});
            message = Some(to_raw_value(&reply).unwrap());
            ("", SummaryStop::Finished)
        }
        Sum::Writes(text) => (text, SummaryStop::Finished),
        Sum::Ends(stop, text) => (text, stop),
        Sum::Fails(kind) => return failed(kind),
    };
    EffectOutcome::Summarized(Box::new(SummaryReply {
        text: text.into(),
        calls: usize::from(stop == SummaryStop::ToolUse),
        stop,
        message,
        usage: Some(Usage {
            input: 100,
            cache_read: 15_000,
            output: 300,
            ..Usage::default()
        }),
    }))
}

fn name(effect: &Effect) -> String {
    match effect {
        Effect::Persist { .. } => "persist".into(),
        Effect::Archive { .. } => "archive".into(),
        Effect::Send { .. } => "send".into(),
        Effect::Summarize { .. } => "summarize".into(),
        Effect::Gather { .. } => "gather".into(),
        Effect::TakeNotes { .. } => "take notes".into(),
        Effect::ReadNotes { .. } => "read notes".into(),
        Effect::Cancel { .. } => "cancel".into(),
        Effect::Notify(_) => "notify".into(),
        Effect::Finish(_) => "finish".into(),
        Effect::RunHooks { call, .. } => match call {
            CompactionHook::PreCompact { trigger, .. } => {
                format!("PreCompact {}", trigger.as_str())
            }
            CompactionHook::SessionStart => "SessionStart".into(),
            CompactionHook::PostCompact { trigger, .. } => {
                format!("PostCompact {}", trigger.as_str())
            }
        },
    }
}
