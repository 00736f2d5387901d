//! A host that runs a planned session in one of the modes, and measures its cost and its waiting time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longhaul::session::TurnError;
use longhaul::{EconomyPolicy, Model, NoWorkspace, Prompt, Session};
use longhaul_core::config::Config;
use longhaul_core::engine::ToolOutput;
use longhaul_core::prompt::ThinkingChoice;
use longhaul_provider::Reply;
use longhaul_store::Durability;
use tokio::time::Instant;

use super::plan::Step;
use super::provider::Provider;
use crate::notes::desk::tool;
use crate::proof::place::Told;

/// Who keeps the window small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A summary of everything, when the window is full.
    Full,
    /// The notes, or a summary of everything where they do not suffice.
    NotesFirst,
    /// A prepared summary of everything.
    NoStall,
    /// The notes, or a prepared summary where they do not suffice: the default of a session.
    Both,
    /// Folds of the oldest spans.
    Collapse,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Full => "full only",
            Self::NotesFirst => "notes first",
            Self::NoStall => "no-stall",
            Self::Both => "notes first, no-stall",
            Self::Collapse => "collapse",
        }
    }

    fn settings(self, window: u64) -> Config {
        let mut settings = Config::default();
        settings.window_cap = Some(window);
        settings.switches.notes = matches!(self, Self::NotesFirst | Self::Both);
        settings.background = matches!(self, Self::NoStall | Self::Both);
        settings.switches.collapse = self == Self::Collapse;
        settings
    }
}

/// What the host does while tools run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tending {
    /// It drives the session's background work.
    Attends,
    /// It waits for the tools and nothing else.
    LooksAway,
}

/// A session in a mode.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) mode: Mode,
    pub(super) tending: Tending,
    pub(super) model: &'static str,
    pub(super) window: u64,
    /// Which actions are decided by price.
    pub(super) economy: EconomyPolicy,
}

impl Setup {
    /// The name of its column.
    pub(super) fn name(&self) -> String {
        match self.economy {
            EconomyPolicy::Off => self.mode.name().to_owned(),
            policy => format!("{}, {}", self.mode.name(), policy.as_str()),
        }
    }
}

pub(super) struct Host {
    pub(super) setup: Setup,
    pub(super) provider: Provider,
    pub(super) told: Told,
    pub(super) steps: Arc<Vec<Step>>,
    pub(super) session: Option<Session>,
    pub(super) transcript: PathBuf,
    /// How long the conversation waited for something else than its own requests.
    pub(super) waited: Duration,
    /// The longest of these waits.
    pub(super) longest: Duration,
    pub(super) refused: Vec<String>,
    pub(super) said: Vec<String>,
    /// Changes the settings of the mode.
    pub(super) change: Option<fn(&mut Config)>,
}

impl Host {
    pub(super) fn new(setup: Setup, steps: Arc<Vec<Step>>, folder: &Path) -> Self {
        let name = format!("{}.jsonl", setup.name().replace([' ', ','], "-"));
        let transcript = folder.join(name);
        let provider = Provider::new(
            Arc::clone(&steps),
            setup.model,
            setup.window,
            transcript.clone(),
        );
        let mut host = Self {
            provider,
            told: Told::default(),
            steps,
            session: None,
            transcript,
            waited: Duration::ZERO,
            longest: Duration::ZERO,
            refused: Vec::new(),
            said: Vec::new(),
            change: None,
            setup,
        };
        host.open();
        host
    }

    /// Begins or resumes the session.
    pub(super) fn open(&mut self) {
        self.session = None;
        let opened = self.open_at(&self.transcript, self.provider.clone());
        self.session = Some(opened);
    }

    /// Opens this transcript, which may be a copy, with this model.
    pub(super) fn open_at(&self, transcript: &Path, model: impl Model + 'static) -> Session {
        let opened = Session::builder()
            .model(model)
            .prompt(prompt(self.setup.model))
            .transcript(transcript)
            .durability(Durability::OnClose)
            .config(self.settings())
            .economy(self.setup.economy)
            .workspace(NoWorkspace)
            .clock(self.provider.clone())
            .observer(self.told.clone())
            .open();
        opened.unwrap()
    }

    fn settings(&self) -> Config {
        let mut settings = self.setup.mode.settings(self.setup.window);
        if let Some(change) = self.change {
            change(&mut settings);
        }
        settings
    }

    pub(super) fn session(&mut self) -> &mut Session {
        self.session.as_mut().unwrap()
    }

    /// Runs the whole session.
    pub(super) async fn live(&mut self) {
        for at in 0..self.steps.len() {
            self.step(at).await;
            if at % 20 == 19 {
                self.nothing_is_lost();
            }
        }
        self.nothing_is_lost();
    }

    /// Every message of the user is in view word for word, or the newest loss report counts it.
    pub(super) fn nothing_is_lost(&self) {
        let missing = self.missing();
        let compactions = self.told.compactions();
        let counted = compactions.last().map_or(0, |newest| {
            let counted = newest.report.user_messages;
            counted.shortened + counted.omitted
        });
        assert!(missing.len() as u64 <= counted, "{counted}: {missing:?}");
    }

    /// Runs one turn and its tools.
    pub(super) async fn step(&mut self, at: usize) {
        let step = self.steps[at].clone();
        let began = Instant::now();
        let before = self.provider.answering();
        if let Some(text) = &step.said {
            self.said.push(text.clone());
            self.session().say(text).await.unwrap();
        }
        self.provider.turn(at);
        let reply = match self.session().turn().await {
            Ok(reply) => Some(reply),
            Err(TurnError::Refused(why)) => {
                self.refused.push(why);
                None
            }
            Err(error) => panic!("turn {at}: {error}"),
        };
        self.waits(began, before);
        self.pause(step.pause).await;
        let outputs = reply.map_or_else(Vec::new, |reply| outputs(&reply, &step));
        if !outputs.is_empty() {
            let began = Instant::now();
            self.session().results(outputs).await.unwrap();
            self.waits(began, self.provider.answering());
        }
    }

    fn waits(&mut self, began: Instant, answering: Duration) {
        let waited = began.elapsed() - (self.provider.answering() - answering);
        self.waited += waited;
        self.longest = self.longest.max(waited);
    }

    pub(super) async fn pause(&mut self, time: Duration) {
        let until = Instant::now() + time;
        if self.setup.tending == Tending::Attends {
            tokio::select! {
                () = self.session.as_mut().unwrap().drive_background() => {}
                () = tokio::time::sleep_until(until) => {}
            }
        }
        tokio::time::sleep_until(until).await;
    }

    /// What the model sees.
    pub(super) fn view(&self) -> String {
        let engine = self.session.as_ref().unwrap().engine();
        let lines = engine.live().views();
        lines
            .map(|entry| String::from_utf8_lossy(entry.line).into_owned())
            .collect()
    }

    /// Messages of the user that are not in view word for word.
    pub(super) fn missing(&self) -> Vec<&String> {
        let view = self.view();
        let said = self.said.iter();
        said.filter(|text| !view.contains(*text)).collect()
    }
}

fn outputs(reply: &Reply, step: &Step) -> Vec<ToolOutput> {
    let calls = reply.tool_calls().zip(&step.results);
    calls
        .map(|(call, (text, is_error))| ToolOutput {
            is_error: *is_error,
            ..ToolOutput::text(call.id, text.clone())
        })
        .collect()
}

fn prompt(model: &str) -> Prompt {
    let system = "You work on a code base of some size. Short functions, no globals, tests first. ";
    let mut prompt = Prompt::new(model, &system.repeat(40)).with_tools(vec![
        tool("Read", &["file_path"]),
        tool("Bash", &["command"]),
        tool("Grep", &["pattern"]),
        tool("Edit", &["file_path", "old_string", "new_string"]),
        tool("TodoWrite", &["todos"]),
    ]);
    prompt.think = ThinkingChoice::On { budget: 2_000 };
    prompt
}
