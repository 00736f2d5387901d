//! Opens an agent on a session, and tells hooks and the user of it. `assembly/` puts everything around the conversation.

use std::sync::Arc;

use longhaul::hooks::{HookEvent, LoadReason, StartSource};
use longhaul::session::Cancellation;
use longhaul_core::engine::NewEntry;
use longhaul_provider::CancellationToken;
use serde_json::json;

use super::account::Account;
use super::assembly::{Assembled, Conversation, Holder, Shared, User};
use super::error::AgentError;
use super::outlook::{HeadWeight, Outlook};
use super::recipe::{Recipe, Seat};
use super::rehydrate::loaded;
use super::resuming::{Resuming, branches_left};
use super::ring::hook_context;
use super::running::Agent;
use super::sources::Sources;
use super::start::{Settled, Start};
use super::sub_agents::{Jobs, SubAgents, Task, TaskOutput, announcement};
use super::surroundings::Surroundings;
use super::tell::Teller;
use super::worker::Worker;
use crate::place::Place;

/// What stays the same when an agent goes to another session.
#[derive(Clone)]
pub(crate) struct Lasting {
    pub(crate) shared: Shared,
    /// Stops whatever the agent does.
    pub(crate) cancellation: Cancellation,
    pub(crate) outlook: Outlook,
}

/// A session that is opened.
pub(crate) struct Opened {
    pub(crate) id: String,
    pub(crate) place: Place,
    pub(crate) worker: Worker,
    pub(crate) sub_agents: Arc<SubAgents>,
    /// Its tools hold these.
    pub(crate) sources: Sources,
    pub(crate) account: Arc<Account>,
    /// What goes with the first prompt.
    pub(crate) pending: Vec<NewEntry>,
    /// About how many tokens stand before the messages.
    pub(crate) head: HeadWeight,
    /// A prompt that a hook wants to begin with.
    pub(crate) first_words: Option<String>,
}

impl Agent {
    /// Opens an agent.
    pub(crate) async fn open(
        recipe: Arc<Recipe>,
        model: String,
        start: Start,
        resuming: Resuming,
        teller: Teller,
    ) -> Result<Self, AgentError> {
        let settled = resuming.settle(&recipe, &start).await?;
        let surroundings = Surroundings::of(&recipe.cwd, recipe.shell.as_deref()).await;
        let cancellation = Cancellation::default();
        let lasting = Lasting {
            outlook: Outlook {
                gate: recipe.gate.clone(),
                cancellation: cancellation.clone(),
                teller: teller.clone(),
                seen: Arc::default(),
            },
            shared: Shared {
                recipe,
                teller,
                asking: Arc::default(),
                surroundings,
            },
            cancellation,
        };
        let opened = lasting.open(settled, &model, Arc::default()).await?;
        Ok(Self::of(lasting, opened, model))
    }
}

impl Lasting {
    /// Opens a session and tells hooks of it.
    pub(crate) async fn open(
        &self,
        settled: Settled,
        model: &str,
        account: Arc<Account>,
    ) -> Result<Opened, AgentError> {
        let source = settled.source;
        if let Some(notice) = &settled.notice {
            self.shared.teller.notice(notice.clone());
        }
        let (mut opened, found) = self.assemble(settled, model, account, Arc::default())?;
        let ringer = &opened.worker.hands.ringer;
        loaded(ringer, &found.files, LoadReason::SessionStart).await;
        for notice in &found.notices {
            self.shared.teller.notice(notice.to_string());
        }
        if source == StartSource::Resume {
            for notice in branches_left(&opened.id, &opened.place.transcript) {
                self.shared.teller.notice(notice);
            }
        }
        let is_new = matches!(source, StartSource::Startup | StartSource::Clear);
        let context_tokens = (!is_new).then(|| opened.worker.session.status().used);
        let live = opened.worker.session.engine().live();
        let since = live.last_reply().filter(|_| !is_new).map(|last| {
            let passed = self
                .shared
                .recipe
                .options()
                .clock
                .now()
                .duration_since(last)
                .as_secs();
            u64::try_from(passed).unwrap_or_default()
        });
        let started = ringer
            .ring(HookEvent::SessionStart {
                source,
                model: Some(model.to_owned()),
                session_title: None,
                seconds_since_last_response: since,
                context_tokens,
                prompt_cache_likely_expired: None,
                estimated_cache_write_usd: None,
            })
            .await;
        let context = hook_context("SessionStart", &started.context);
        let skills = found.skill_listing.filter(|_| is_new);
        let skills = skills.map(|listing| json!({"type": "skill_listing", "content": listing}));
        let announced = match is_new {
            true => (opened.sources.announcements)(),
            false => Vec::new(),
        };
        opened.pending = (skills.into_iter().chain(announced).chain(context))
            .map(NewEntry::Attachment)
            .collect();
        opened.first_words = started.initial_user_message;
        Ok(opened)
    }

    /// Opens a session with its tools and its sub-agents, and tells nobody.
    pub(crate) fn assemble(
        &self,
        settled: Settled,
        model: &str,
        account: Arc<Account>,
        jobs: Arc<Jobs>,
    ) -> Result<(Opened, Read), AgentError> {
        let recipe = &self.shared.recipe;
        let place = Place {
            cwd: recipe.cwd.clone(),
            more: recipe.further.clone(),
            transcript: settled.transcript,
        };
        let sub_agents = Arc::new(SubAgents {
            shared: self.shared.clone(),
            place: place.clone(),
            session_id: settled.id.clone(),
            model: model.to_owned(),
            account: account.clone(),
            jobs: jobs.clone(),
            end: CancellationToken::new(),
        });
        let equipment = (recipe.outfit)(&place, Seat::Main, &self.shared.teller.shared());
        let sources = equipment.sources;
        let toolbox = (equipment.toolbox)
            .with(Task(sub_agents.clone()))
            .with(TaskOutput(sub_agents.clone()));
        let arrivals = jobs.clone();
        let conversation = Conversation {
            shared: self.shared.clone(),
            session_id: settled.id.clone(),
            place: place.clone(),
            model: model.to_owned(),
            toolbox,
            sources: sources.clone(),
            account: account.clone(),
            cancellation: self.cancellation.clone(),
            holder: Holder::User(User {
                outlook: self.outlook.clone(),
                arrivals: Arc::new(move || arrivals.arrivals()),
                uncollected: Arc::new(move || jobs.uncollected()),
                kinds: announcement(&recipe.kinds),
            }),
        };
        let Assembled {
            worker,
            head,
            found,
            cuts,
        } = conversation.assemble()?;
        // The session has taken its own share of it.
        drop(settled.lease);
        (sources.reopened)(worker.session.engine().live());
        let mut notices: Vec<String> = found.notices.iter().map(ToString::to_string).collect();
        notices.extend(cuts.iter().map(|path| {
            format!(
                "{} is too long to be sent whole: it was cut.",
                path.display()
            )
        }));
        let read = Read {
            skill_listing: (sources.skill_listing)(),
            files: found,
            notices,
        };
        let opened = Opened {
            id: settled.id,
            place,
            worker,
            sub_agents,
            sources,
            account,
            pending: Vec::new(),
            first_words: None,
            head,
        };
        Ok((opened, read))
    }
}

/// What was read for a head, to be told.
pub(crate) struct Read {
    pub(crate) files: longhaul_core::prompt::memory::Found,
    pub(crate) notices: Vec<String>,
    pub(crate) skill_listing: Option<String>,
}
