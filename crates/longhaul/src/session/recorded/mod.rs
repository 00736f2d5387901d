//! A recording: a transcript that is compacted, or looked at, without going on with it.
//!
//! Another program may have written it, so it is taken as it is: who wrote it is read from its lines, no head is added
//! where it has none (M7), and files are only read again below the folder that it was recorded in. A conversation that
//! goes on is opened with [`Session::builder`]; taking a compaction back is [`crate::undo()`].

mod folder;
mod head;
mod identity;
mod in_memory;
mod pivot;
mod session;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::config::Config;
use longhaul_core::engine::{Engine, EngineConfig, Heads, Ids, Kept, Resume, SummaryModel};
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::prompt::RequestHead;
use longhaul_core::summary::message::Mode;
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply};
use longhaul_store::{Durability, Env, ReadError, Resumed, newest_model, resume};

use super::cancellation::Cancellation;
use super::hands::{About, Hands};
use super::open::{OpenError, facts, leased, random_seed, window};
use super::{Observer, Session};
use crate::clock::SystemClock;
use crate::hooks::HookSet;
use crate::keeper::{FileKeeper, Keeper, MemoryKeeper};
use crate::model::{Boxed, Model, OnStream};
use folder::RecordedFolder;
pub(crate) use identity::identity;
pub use in_memory::InMemory;
pub use pivot::NoPivot;
pub use session::RecordedSession;

/// What a recording without a model's name is taken for: nothing is known of it.
pub(crate) const NO_MODEL: &str = "unknown";

/// A transcript as it was recorded.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    /// Where it ended when it was read.
    end: u64,
    resumed: Resumed,
    /// The model of the newest reply in the file, where none is in view.
    earlier_model: Option<String>,
}

/// Who is asked for a summary.
pub struct Asked {
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// The model's id; none: the one that the conversation was held with.
    pub id: Option<String>,
}

/// Where what a compaction writes goes.
#[derive(Debug, Clone)]
pub enum Keep {
    /// Nowhere: it is only looked at.
    Nowhere,
    /// Behind the recording's lines.
    Appended {
        /// What leaves the view goes here first.
        archive: PathBuf,
        /// The path under which the recording will be found, if not the one it was read from.
        known_as: PathBuf,
    },
}

/// What a recording is worked on with.
pub struct Around {
    /// Settings: switches, thresholds.
    pub config: Config,
    /// What is known of models.
    pub models: ModelTable,
    /// Who is asked for summaries; none: nobody.
    pub asked: Option<Asked>,
    /// Where lines go.
    pub keep: Keep,
    /// Who watches.
    pub observer: Arc<dyn Observer>,
    /// Where the user's folders are, to read memory files for what they say about compactions (F4); none: none are read.
    pub env: Option<Env>,
}

impl Recording {
    /// Reads a transcript: of a long one only the end that is still in view, and the rest once if no compaction in it
    /// carries what the user said before.
    pub fn read(path: &Path) -> Result<Self, OpenError> {
        let size = std::fs::metadata(path).map(|metadata| metadata.len());
        let end = size.map_err(|source| ReadError {
            path: path.to_owned(),
            source,
        })?;
        let resumed = resume(path)?;
        let mut replies = resumed.entries.iter().map(|entry| entry.facets());
        // After a compaction of everything no reply is in view, but the file still knows who gave them.
        let told = resumed.head.is_some()
            || replies.any(|facets| facets.is_reply() && facets.model.is_present());
        let earlier_model = match told || resumed.entries.is_empty() {
            true => None,
            false => newest_model(path)?,
        };
        Ok(Self {
            path: path.to_owned(),
            end,
            resumed,
            earlier_model,
        })
    }

    /// Whether there is no entry in view.
    pub fn is_empty(&self) -> bool {
        self.resumed.entries.is_empty()
    }

    /// Lines at its end that are not intact and take no part.
    pub fn damaged(&self) -> usize {
        self.resumed.damaged
    }

    /// The model that it was held with: the one its requests go to, else that of the newest reply.
    pub fn model(&self) -> Option<String> {
        let head = self
            .head()
            .and_then(|head| Some(head.model()?.into_owned()));
        head.or_else(|| {
            let entries = self.resumed.entries.iter().rev().map(|entry| entry.view());
            let mut replies = entries.filter(|entry| entry.facets.is_reply());
            replies.find_map(|entry| {
                let model = entry.facets.model;
                model.is_present().then(|| entry.text(model).into_owned())
            })
        })
        .or_else(|| self.earlier_model.clone())
    }

    /// What its requests begin with, if it says so.
    fn head(&self) -> Option<RequestHead> {
        Some(self.resumed.replay()?.ok()?.head)
    }

    /// Opens it, to be compacted. To go on with the conversation, a prompt and a model are needed, and [`Session::builder`].
    pub fn open(self, around: Around) -> Result<RecordedSession, OpenError> {
        let own_model = self.model().or_else(|| around.config.model.clone());
        let own_model = own_model.unwrap_or_else(|| NO_MODEL.to_owned());
        let spec = around.models.resolve(&own_model).spec;
        let own_head = self.head();
        let (model, summary_model) = asked(around.asked, &own_model, own_head.is_some(), |id| {
            ModelSpec::clone(&around.models.resolve(id).spec)
        });
        let facts = facts(&self.resumed, &self.path, &around.config)?;
        let mut ids = Ids::new(random_seed());
        let identity = identity(&self.resumed.entries, &self.path, &mut ids);
        let lease = match &around.keep {
            Keep::Appended { known_as, .. } if *known_as == self.path => leased(&self.path)?,
            _ => None,
        };
        let (keeper, known_as): (Box<dyn Keeper>, _) = match around.keep {
            Keep::Nowhere => (Box::new(MemoryKeeper::default()), self.path.clone()),
            Keep::Appended { archive, known_as } => {
                let durability = Durability::EveryAppend;
                let keeper =
                    FileKeeper::known_as(&self.path, Some(archive), &known_as, durability)?;
                (Box::new(keeper.alone_behind(self.end)), known_as)
            }
        };
        let (heads, head, assembly) = match own_head {
            Some(head) => (Heads::Written, head, self.resumed.assembly()),
            None => (
                Heads::Unknown,
                head::bare(&self.resumed.entries, &spec)?,
                None,
            ),
        };
        let cwd = PathBuf::from(&identity.cwd);
        let about = About {
            session_id: identity.session_id.clone(),
            transcript: known_as.clone(),
            cwd: cwd.clone(),
            ..About::default()
        };
        let window = window(&around.config, &spec)?;
        let base = EngineConfig::new(identity, ModelSpec::clone(&spec), window, &around.config);
        let config = EngineConfig {
            mode: Mode::Manual,
            transcript: Some(known_as.display().to_string()),
            heads,
            summary_model,
            ..base
        };
        let resume = Resume {
            preserved: self.resumed.preserved,
            assembly,
            next_head: None,
            facts: Some(facts),
            entries: placed(self.resumed.entries, self.resumed.offsets),
        };
        let hands = Hands {
            model,
            spec,
            workspace: Arc::new(RecordedFolder::at(&cwd, around.env.as_ref())),
            hooks: Arc::new(HookSet::new()),
            observer: around.observer,
            about: Arc::new(about),
            notes: None,
        };
        let engine = Engine::new(config, ids, head, resume);
        let clock = Arc::new(SystemClock);
        let cancel = Cancellation::of_session();
        let session = Session::new(engine, hands, keeper, clock, lease, cancel);
        Ok(RecordedSession::of(session))
    }
}

fn placed(entries: Vec<longhaul_core::message::Entry>, offsets: Vec<u64>) -> Vec<Kept> {
    let placed = entries.into_iter().zip(offsets);
    placed
        .map(|(entry, offset)| Kept {
            entry,
            offset: Some(offset),
        })
        .collect()
}

/// Who answers, and the model that is asked where it is not the conversation's own behind its own head.
fn asked(
    asked: Option<Asked>,
    own: &str,
    has_head: bool,
    spec: impl Fn(&str) -> ModelSpec,
) -> (Arc<dyn Model>, Option<SummaryModel>) {
    let Some(asked) = asked else {
        return (Arc::new(Nobody), None);
    };
    let id = asked.id.unwrap_or_else(|| own.to_owned());
    let other = (!has_head || id != own).then(|| SummaryModel {
        spec: spec(&id),
        id,
    });
    (asked.model, other)
}

/// No model at hand.
#[derive(Debug, Clone, Copy, Default)]
struct Nobody;

impl Model for Nobody {
    fn send<'a>(
        &'a self,
        _: longhaul_core::engine::Outgoing,
        _: OnStream<'a>,
        _: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let error = Error::new(ErrorClass::Invalid, "there is no model to ask");
        Box::pin(async { Err(error) })
    }
}
