//! Putting a session together: a new one, or one that goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::config::Config;
use longhaul_core::engine::{
    CacheEdits, Delivery, Engine, EngineConfig, Identity, Ids, Kept, NotesConfig, Preparation,
    Resume, SummaryModel,
};
use longhaul_core::facts::{Facts, WordingError};
use longhaul_core::message::{Entry, Subtype};
use longhaul_core::micro::{ClearableTools, Pressure};
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::prompt::{Assembly, ParameterError, RequestHead};
use longhaul_core::summary::message::Mode;
use longhaul_core::tokens::Rough;
use longhaul_core::transcript::{Conversation, Table};
use longhaul_core::window::{
    Action, AutoCompact, QuerySource, Verdict, WindowError, WindowInput, WindowStatus,
};
use longhaul_store::{
    Content, Durability, InUse, Lease, LeaseError, ReadError, Resumed, load, resume,
};

use super::hands::{About, Hands};
use super::{Observer, Quiet, Session};
use crate::clock::{Clock, SystemClock};
use crate::head::Prompt;
use crate::hooks::{HookSet, Hooks};
use crate::keeper::{FileKeeper, Keeper, MemoryKeeper, NotKept};
use crate::model::Model;
use crate::notes::{self, NotesPlace};
use crate::workspace::{Files, Workspace};

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The builder was not told what it needs.
    #[error("a session needs {0}")]
    Missing(&'static str),
    /// Another process has the session open. Two would each go on from what it knows: open a copy
    /// ([`fork`](longhaul_store::fork())), or try again when that process has ended.
    #[error(transparent)]
    InUse(#[from] InUse),
    /// The transcript cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The transcript cannot be written.
    #[error(transparent)]
    Keep(#[from] NotKept),
    /// The window is too small.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The words that are set for rules and for calling work off cannot be used.
    #[error("rules.words and called_off.words: {0}")]
    Words(#[from] WordingError),
    /// The request cannot be made so.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
}

/// What becomes of what requests began with, where a session is resumed with something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ResumedPrefix {
    /// What the caller gives now is sent at once.
    #[default]
    TakeNew,
    /// The old one is sent until the next compaction.
    KeepUntilCompaction,
}

/// What a session is made of. A model and a prompt are needed; all else has a default.
#[derive(Default)]
pub struct SessionBuilder {
    model: Option<Arc<dyn Model>>,
    prompt: Option<Prompt>,
    transcript: Option<PathBuf>,
    archive: Option<PathBuf>,
    durability: Option<Durability>,
    session_id: Option<String>,
    cwd: Option<PathBuf>,
    git_branch: Option<String>,
    agent: Option<String>,
    hook_overflow: Option<PathBuf>,
    version: Option<String>,
    config: Config,
    models: Option<ModelTable>,
    source: Option<QuerySource>,
    clearable: Option<ClearableTools>,
    cache_edits: bool,
    autonomous: bool,
    delivery: Option<Delivery>,
    recall_tool: Option<String>,
    compact_instructions: Option<String>,
    workspace: Option<Arc<dyn Workspace>>,
    hooks: Option<Arc<dyn Hooks>>,
    clock: Option<Arc<dyn Clock>>,
    observer: Option<Arc<dyn Observer>>,
    cache_breaks: Option<PathBuf>,
    seed: Option<u128>,
    resumed_prefix: ResumedPrefix,
}

impl SessionBuilder {
    /// The model to ask.
    #[must_use]
    pub fn model(mut self, model: impl Model + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// What stands before the messages.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = Some(prompt);
        self
    }

    /// Keeps the session in this file. If it is there, the conversation in it goes on. While the session is open no other
    /// process can open it: theirs is [`OpenError::InUse`]. Without one the session is kept
    /// in memory, and no notes are taken: their place is the folder beside the file.
    #[must_use]
    pub fn transcript(mut self, path: impl Into<PathBuf>) -> Self {
        self.transcript = Some(path.into());
        self
    }

    /// Archives what leaves the window here, so that it can be recalled.
    #[must_use]
    pub fn archive(mut self, path: impl Into<PathBuf>) -> Self {
        self.archive = Some(path.into());
        self
    }

    /// When lines count as safe.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = Some(durability);
        self
    }

    /// The session's id; else the transcript's name, or a new one.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// The folder that the agent works in.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The branch that is checked out there, for the transcript.
    #[must_use]
    pub fn git_branch(mut self, branch: Option<String>) -> Self {
        self.git_branch = branch;
        self
    }

    /// This is the conversation of a sub-agent with this id, inside the session.
    #[must_use]
    pub fn agent(mut self, id: impl Into<String>) -> Self {
        self.agent = Some(id.into());
        self
    }

    /// Output of hooks that is too long for the conversation goes below this folder.
    #[must_use]
    pub fn hook_overflow(mut self, folder: impl Into<PathBuf>) -> Self {
        self.hook_overflow = Some(folder.into());
        self
    }

    /// The version of the program, for the transcript.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Settings: switches, thresholds.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Models beside the built-in ones.
    #[must_use]
    pub fn models(mut self, models: ModelTable) -> Self {
        self.models = Some(models);
        self
    }

    /// Who asks; [`QuerySource::SDK`] unless said otherwise.
    #[must_use]
    pub fn source(mut self, source: QuerySource) -> Self {
        self.source = Some(source);
        self
    }

    /// Tools whose results may be cleared.
    #[must_use]
    pub fn clearable(mut self, tools: ClearableTools) -> Self {
        self.clearable = Some(tools);
        self
    }

    /// The provider takes cache edits by reference.
    #[must_use]
    pub fn with_cache_edits(mut self) -> Self {
        self.cache_edits = true;
        self
    }

    /// Nobody sits in front of it: after a compaction the model is told to keep its loop going.
    #[must_use]
    pub fn autonomous(mut self) -> Self {
        self.autonomous = true;
        self
    }

    /// How replies reach the user. Unless said otherwise they are streamed to the observer, if there is one: then a reply
    /// that ran out of room stands as it was seen, and the next request is made smaller first. Where they are only seen
    /// whole, such a reply is withheld and the turn tried again.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = Some(delivery);
        self
    }

    /// The name under which the model is offered the recall tool.
    #[must_use]
    pub fn recall_tool(mut self, name: impl Into<String>) -> Self {
        self.recall_tool = Some(name.into());
        self
    }

    /// What the project's memory file says about compactions.
    #[must_use]
    pub fn compact_instructions(mut self, text: impl Into<String>) -> Self {
        self.compact_instructions = Some(text.into());
        self
    }

    /// Where the agent works; unless said otherwise, files that were read are read again from disk.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Workspace + 'static) -> Self {
        self.workspace = Some(Arc::new(workspace));
        self
    }

    /// Hooks.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks + 'static) -> Self {
        self.hooks = Some(Arc::new(hooks));
        self
    }

    /// For a session that is resumed with another prompt, other tools or other parameters than it was left with: keeps sending
    /// the old ones, whose bytes the provider's cache may still hold, until the next compaction. Without this the new ones are
    /// sent at once, and that part of the cache is lost. Either way [`Event::PrefixChanged`] says so.
    ///
    /// A session that goes on with another model, or with tools of other names, never keeps the old ones.
    ///
    /// [`Event::PrefixChanged`]: longhaul_core::engine::Event::PrefixChanged
    #[must_use]
    pub fn keep_prefix_until_compaction(mut self) -> Self {
        self.resumed_prefix = ResumedPrefix::KeepUntilCompaction;
        self
    }

    /// Another clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Who watches.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Writes a diff for every cache break below this folder.
    #[must_use]
    pub fn cache_breaks(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache_breaks = Some(folder.into());
        self
    }

    /// Where ids of entries come from; for tests.
    #[must_use]
    pub fn seed(mut self, seed: u128) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Opens the session.
    pub fn open(self) -> Result<Session, OpenError> {
        let model = self.model.ok_or(OpenError::Missing("a model"))?;
        let prompt = self.prompt.ok_or(OpenError::Missing("a prompt"))?;
        let models = self.models.unwrap_or_else(ModelTable::builtin);
        let spec = models.resolve(&prompt.model).spec;
        let wanted = prompt.head(&spec)?;
        // The conversation's own model reads its cache: it is not asked by a request of its own.
        let other = self.config.summary_model.clone();
        let summary_model = (other.filter(|id| *id != prompt.model)).map(|id| SummaryModel {
            spec: ModelSpec::clone(&models.resolve(&id).spec),
            id,
        });

        // Before it is read: what somebody else appends afterwards would be left on a branch.
        let lease = match &self.transcript {
            Some(path) if self.agent.is_none() => leased(path)?,
            _ => None,
        };
        let resumed = match &self.transcript {
            Some(path) if path.exists() => Some(resume(path)?),
            _ => None,
        };
        let (resume, head) = match (&resumed, &self.transcript) {
            (Some(resumed), Some(path)) => {
                taken_up(resumed, path, wanted, self.resumed_prefix, &self.config)?
            }
            _ => {
                let resume = Resume {
                    facts: Some(Facts::new(Arc::new(self.config.vocabulary()?))),
                    ..Resume::default()
                };
                (resume, wanted)
            }
        };
        let keeper: Box<dyn Keeper> = match &self.transcript {
            Some(path) => {
                let durability = self.durability.unwrap_or(Durability::EveryAppend);
                Box::new(FileKeeper::open(path, self.archive, durability)?)
            }
            None => Box::new(MemoryKeeper::default()),
        };
        let seed = self.seed.unwrap_or_else(random_seed);
        let mut ids = Ids::new(seed);
        let session_id = self
            .session_id
            .or_else(|| self.transcript.as_deref().and_then(name_of))
            .unwrap_or_else(|| ids.next_uuid());
        let source = self.source.unwrap_or(QuerySource::SDK);
        let takes_notes =
            source.is_main() && self.config.switches.decide(Action::Notes) == Verdict::Allowed;
        let place = self.transcript.as_deref().filter(|_| takes_notes);
        let place = place.and_then(NotesPlace::of_transcript);
        let edit_tool = notes::edit_tool(&prompt.tools);
        let cwd = self.cwd.unwrap_or_default();
        let transcript = self.transcript.unwrap_or_default();
        let shown = (!transcript.as_os_str().is_empty()).then(|| transcript.display().to_string());
        let identity = Identity {
            session_id: session_id.clone(),
            cwd: cwd.display().to_string(),
            version: self
                .version
                .unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()),
            git_branch: self.git_branch,
            agent: self.agent,
        };
        let window = window(&self.config, &spec)?;
        let base = EngineConfig::new(identity, ModelSpec::clone(&spec), window, &self.config);
        let config = EngineConfig {
            source,
            owner: self.config.owner(),
            clearable: self.clearable.unwrap_or(base.clearable),
            cache_edits: match self.cache_edits {
                true => CacheEdits::Supported,
                false => CacheEdits::Unsupported,
            },
            pressure: match self.config.native_clearing {
                true => Pressure::Providers,
                false => Pressure::Ours,
            },
            summariser: self.config.summariser,
            mode: match self.autonomous {
                true => Mode::Autonomous,
                false => Mode::Automatic,
            },
            transcript: shown,
            recall_tool: self.recall_tool,
            compact_instructions: self.compact_instructions,
            summary_model,
            notes: place.as_ref().map(|place| NotesConfig {
                settings: self.config.notes,
                path: place.shown(),
                edit_tool,
                reach: place.reach(),
            }),
            preparation: match self.config.background {
                true => Preparation::Ahead,
                false => Preparation::WhenFull,
            },
            delivery: self.delivery.unwrap_or(match self.observer {
                Some(_) => Delivery::Streamed,
                None => Delivery::Whole,
            }),
            ..base
        };
        let hands = Hands {
            model,
            spec,
            workspace: self.workspace.unwrap_or_else(|| Arc::new(Files)),
            hooks: self.hooks.unwrap_or_else(|| Arc::new(HookSet::new())),
            observer: self.observer.unwrap_or_else(|| Arc::new(Quiet)),
            about: Arc::new(About {
                session_id,
                transcript,
                cwd,
                overflow: self.hook_overflow,
                cache_breaks: (self.config.cache_diff_dir.map(PathBuf::from)).or(self.cache_breaks),
            }),
            notes: place.map(Arc::new),
        };
        let mut engine = Engine::new(config, ids, head, resume);
        if self.config.watch_small_models {
            engine = engine.watching_small_models();
        }
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock));
        Ok(Session::new(engine, hands, keeper, clock, lease))
    }
}

/// The lease of a session. Where no lock can be had, the session is opened without one, as appends say more clearly what is
/// wrong with the place.
pub(super) fn leased(transcript: &Path) -> Result<Option<Arc<Lease>>, InUse> {
    match Lease::take(transcript) {
        Ok(lease) => Ok(Some(lease)),
        Err(LeaseError::InUse(in_use)) => Err(in_use),
        Err(LeaseError::NotTaken { source, .. }) => {
            tracing::warn!(error = %source, "the session is not locked against other processes");
            Ok(None)
        }
    }
}

/// The thresholds of a model's window under the user's settings.
pub fn window(config: &Config, spec: &ModelSpec) -> Result<WindowStatus, WindowError> {
    let mut settings = config.window_settings();
    if config.switches.decide(Action::Automatic) != Verdict::Allowed {
        settings.auto_compact = AutoCompact::Off;
    }
    WindowStatus::new(&WindowInput {
        window: spec.window,
        max_output: spec.max_output,
        used: 0,
        settings,
    })
}

/// A conversation that goes on, and the head it goes on with: the one its last request had, to the byte (Y2), unless the
/// model or the tools are others now.
fn taken_up(
    resumed: &Resumed,
    path: &Path,
    wanted: RequestHead,
    prefix: ResumedPrefix,
    config: &Config,
) -> Result<(Resume, RequestHead), OpenError> {
    let assembly = resumed.assembly();
    let may_keep = |before: &RequestHead| {
        prefix == ResumedPrefix::KeepUntilCompaction
            && before.model() == wanted.model()
            && before.tool_names() == wanted.tool_names()
    };
    let before = assembly.as_ref().map(Assembly::head);
    let (head, next_head) = match before.filter(|before| may_keep(before)) {
        Some(before) => (before.clone(), Some(wanted)),
        None => (wanted, None),
    };
    let entries: Vec<Kept> = resumed
        .entries
        .iter()
        .zip(&resumed.offsets)
        .map(|(entry, offset)| Kept {
            entry: entry.clone(),
            offset: Some(*offset),
        })
        .collect();
    let resume = Resume {
        preserved: resumed.preserved.clone(),
        assembly,
        next_head,
        facts: Some(facts(resumed, path, config)?),
        entries,
    };
    Ok((resume, head))
}

/// The facts that a session goes on with: those that the view and its boundary tell are gathered from them. Where the
/// boundary carries none another program wrote it, so the whole file is read, once.
pub(super) fn facts(resumed: &Resumed, path: &Path, config: &Config) -> Result<Facts, OpenError> {
    let vocabulary = Arc::new(config.vocabulary()?);
    let boundary = resumed.entries.first().map(Entry::view);
    let boundary = boundary.filter(|entry| entry.facets.subtype == Subtype::CompactBoundary);
    let is_told = boundary
        .is_none_or(|boundary| Facts::from_boundary(vocabulary.clone(), boundary).is_some());
    if is_told {
        return Ok(Facts::new(vocabulary));
    }
    let mut table = Table::default();
    let mut entries = Vec::new();
    for line in load(path)?.into_lines() {
        if let Content::Entry(entry) = line.content {
            table.push(line.number, line.offset, entry.view(), &Rough);
            entries.push(entry);
        }
    }
    let conversation = Conversation::resolve(&table, &mut Vec::new());
    let rows = longhaul_core::facts::session_rows(&table, &conversation);
    let views = rows.iter().map(|row| entries[*row as usize].view());
    Ok(Facts::scan(vocabulary, views))
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_string_lossy().into_owned())
}

/// An id for a new session.
pub fn new_session_id() -> String {
    Ids::new(random_seed()).next_uuid()
}

/// A seed that no other session has.
pub(crate) fn random_seed() -> u128 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library's maps are seeded by the system; two of them make 128 bits.
    let word = || {
        std::collections::hash_map::RandomState::new()
            .build_hasher()
            .finish()
    };
    u128::from(word()) << 64 | u128::from(word())
}
