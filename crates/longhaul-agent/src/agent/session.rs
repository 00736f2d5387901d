//! Opens sessions, and tells hooks and the user about them. `assembly/` builds everything around the conversation;
//! `opening.rs` opens an agent on its first session.

use std::sync::Arc;

use longhaul::hooks::{HookEvent, LoadReason, StartSource};
use longhaul::session::Cancellation;
use longhaul_core::engine::NewEntry;
use longhaul_provider::CancellationToken;
use serde_json::json;

use super::agent_handle::AgentHandle;
use super::agent_spec::ConversationRole;
use super::assembly::{Assembled, Conversation, Holder, Shared, User};
use super::conversation_loop::ConversationLoop;
use super::earlier_usage;
use super::error::AgentError;
use super::hook_runner::hook_context;
use super::rehydrate::loaded;
use super::resuming::branches_left;
use super::sources::ToolStateSources;
use super::start::ChosenSession;
use super::sub_agents::{BackgroundJobs, SubAgents, TaskOutputTool, TaskTool, announcement};
use super::usage_log::SessionUsageLog;
use super::web_search::SearchSessions;
use crate::session_paths::SessionPaths;

/// What stays the same when an agent switches to another session.
#[derive(Clone)]
pub(crate) struct CrossSessionState {
    pub(crate) shared: Shared,
    /// Stops all work of the agent.
    pub(crate) cancellation: Cancellation,
    pub(crate) handle: AgentHandle,
}

/// An open session.
pub(crate) struct OpenSession {
    pub(crate) id: String,
    pub(crate) place: SessionPaths,
    pub(crate) worker: ConversationLoop,
    pub(crate) sub_agents: Arc<SubAgents>,
    /// Where to ask for the state of its tools.
    pub(crate) sources: ToolStateSources,
    pub(crate) usage_log: Arc<SessionUsageLog>,
    /// Entries that go with the first prompt.
    pub(crate) pending: Vec<NewEntry>,
    /// A prompt that a hook wants the session to begin with.
    pub(crate) initial_prompt: Option<String>,
    /// What hooks have not been told yet.
    pub(crate) opening: Option<SessionOpening>,
}

/// What hooks are told when a session is open.
pub(crate) struct SessionOpening {
    files: longhaul_core::prompt::memory::FoundMemoryFiles,
    event: HookEvent,
}

impl CrossSessionState {
    /// Counts what a resumed session has cost so far. That takes reading the whole transcript, so only those wait for it who
    /// ask what the session has cost.
    fn count_earlier_usage(&self, opened: &OpenSession, model: &str) {
        let account = opened.usage_log.clone();
        if account.spent() != SessionUsageLog::default().spent() {
            // The same session was opened again, and its log goes on.
            return;
        }
        let (handle, model) = (self.handle.clone(), model.to_owned());
        let models = self.shared.recipe.options().models.clone();
        let transcript = opened.place.transcript.clone();
        let length = std::fs::metadata(&transcript).map_or(0, |file| file.len());
        let reading = account.begin_reading_earlier();
        tokio::task::spawn_blocking(move || {
            match earlier_usage::read(&transcript, length, &models, &model) {
                Ok(earlier) => account.earlier(earlier),
                Err(error) => {
                    tracing::warn!(%error, "what the session cost before is not known");
                }
            }
            drop(reading);
            handle.refresh();
        });
    }

    /// Tells hooks about an open session, and takes what they want the model to know.
    pub(crate) async fn run_opening_hooks(&self, opened: &mut OpenSession) {
        let Some(SessionOpening { files, event }) = opened.opening.take() else {
            return;
        };
        let ringer = opened.worker.tool_executor.hook_runner.clone();
        loaded(&ringer, &files, LoadReason::SessionStart).await;
        let started = ringer.run_hooks(event).await;
        if started.cancelled {
            (self.shared.event_sink).notice("The SessionStart hook was skipped.");
        }
        let context = hook_context("SessionStart", &started.context);
        opened.pending.extend(context.map(NewEntry::Attachment));
        opened.initial_prompt = started.initial_user_message;
    }

    /// Opens a session; hooks are told about it afterwards.
    pub(crate) fn open(
        &self,
        settled: ChosenSession,
        model: &str,
        account: Arc<SessionUsageLog>,
    ) -> Result<OpenSession, AgentError> {
        let source = settled.source;
        if let Some(notice) = &settled.notice {
            self.shared.event_sink.notice(notice.clone());
        }
        let (mut opened, found) = self.assemble(settled, model, account, Arc::default())?;
        for notice in &found.notices {
            self.shared.event_sink.notice(notice.to_string());
        }
        if let StartSource::Resume | StartSource::Fork = source {
            self.count_earlier_usage(&opened, model);
        }
        if source == StartSource::Resume {
            for notice in branches_left(&opened.id, &opened.place.transcript) {
                self.shared.event_sink.notice(notice);
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
        opened.opening = Some(SessionOpening {
            files: found.files,
            event: HookEvent::SessionStart {
                source,
                model: Some(model.to_owned()),
                session_title: None,
                seconds_since_last_response: since,
                context_tokens,
                prompt_cache_likely_expired: None,
                estimated_cache_write_usd: None,
            },
        });
        let skills = found.skill_listing.filter(|_| is_new);
        let skills = skills.map(|listing| json!({"type": "skill_listing", "content": listing}));
        let announced = if is_new {
            (opened.sources.announcements)()
        } else {
            Vec::new()
        };
        opened.pending = (skills.into_iter().chain(announced))
            .map(NewEntry::Attachment)
            .collect();
        if let Some(listener) = &self.shared.recipe.listener {
            listener.opened(&opened.place.session_folder());
        }
        Ok(opened)
    }

    /// What the session sends decides how hard the model thinks: a resumed session goes on as it was (B5), and a model
    /// may not take the setting.
    fn latch_effort(&self, worker: &ConversationLoop, model: &str) {
        let effort = &self.shared.effort;
        let (wanted, latched) = (effort.get(), worker.effort());
        if wanted == latched {
            return;
        }
        effort.set(latched);
        let spec = self.shared.recipe.options().models.resolve(model).spec;
        self.shared.event_sink.notice(match wanted.check(&spec) {
            Err(why) => why,
            Ok(()) => format!(
                "This session goes on with the effort {}, as before; /effort changes it.",
                latched.name()
            ),
        });
    }

    /// Opens a session with its tools and its sub-agents, without telling anyone.
    pub(crate) fn assemble(
        &self,
        settled: ChosenSession,
        model: &str,
        account: Arc<SessionUsageLog>,
        jobs: Arc<BackgroundJobs>,
    ) -> Result<(OpenSession, PrefixLoadReport), AgentError> {
        let recipe = &self.shared.recipe;
        let place = SessionPaths {
            cwd: recipe.cwd.clone(),
            more: recipe.further.clone(),
            transcript: settled.transcript,
        };
        let sub_agents = Arc::new(SubAgents {
            shared: self.shared.clone(),
            place: place.clone(),
            session_id: settled.id.clone(),
            model: model.to_owned(),
            usage_log: account.clone(),
            jobs: jobs.clone(),
            end: CancellationToken::new(),
        });
        let equipment = (recipe.outfit)(
            &place,
            ConversationRole::Main,
            &self.shared.event_sink.shared(),
        );
        let sources = equipment.sources;
        let searches = SearchSessions {
            shared: self.shared.clone(),
            of: place.clone(),
            session_id: settled.id.clone(),
            model: model.to_owned(),
            account: account.clone(),
        };
        let toolbox = searches
            .offer(equipment.toolbox)
            .with(TaskTool(sub_agents.clone()))
            .with(TaskOutputTool(sub_agents.clone()));
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
                outlook: self.handle.clone(),
                arrivals: Arc::new(move || arrivals.arrivals()),
                uncollected: Arc::new(move || jobs.uncollected()),
                kinds: announcement(&recipe.kinds),
            }),
        };
        let Assembled {
            worker,
            found,
            cuts,
        } = conversation.assemble()?;
        self.latch_effort(&worker, model);
        // The session holds its own share of the lease.
        drop(settled.lease);
        (sources.reopened)(worker.session.engine().live());
        let mut notices: Vec<String> = found.notices.iter().map(ToString::to_string).collect();
        notices.extend(cuts.iter().map(|path| {
            format!(
                "{} is too long to be sent whole: it was cut.",
                path.display()
            )
        }));
        let read = PrefixLoadReport {
            skill_listing: (sources.skill_listing)(),
            files: found,
            notices,
        };
        let opened = OpenSession {
            id: settled.id,
            place,
            worker,
            sub_agents,
            sources,
            usage_log: account,
            pending: Vec::new(),
            initial_prompt: None,
            opening: None,
        };
        Ok((opened, read))
    }
}

/// What was read for a request prefix, to be reported.
pub(crate) struct PrefixLoadReport {
    pub(crate) files: longhaul_core::prompt::memory::FoundMemoryFiles,
    pub(crate) notices: Vec<String>,
    pub(crate) skill_listing: Option<String>,
}
