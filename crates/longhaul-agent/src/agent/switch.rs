//! Changes the session of an agent: to another session, another model, an earlier point, or the state before a
//! compaction. All state of a session is on disk, so each of these writes what it must and reopens the session.

use std::sync::Arc;

use longhaul::EconomyPolicy;
use longhaul::hooks::{EndReason, StartSource};
use longhaul::rewind::{self, RewindPoint, RewindResult};
use longhaul::undo::{self, UndoMode, UndoResult};

use super::agent_spec::AgentSpec;
use super::error::AgentError;
use super::resumed_model::ModelForSession;
use super::running::Agent;
use super::start::{ChosenSession, SessionChoice, forget_if_empty};
use crate::effort::EffortSetting;

/// What happens to the cache watch when a session is reopened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CacheWatch {
    /// It continues: the next request repeats what was sent, and if fewer tokens are read, the reason is reported (D1).
    GoesOn,
    /// It starts anew: something else is sent on purpose.
    BeginsAnew,
}

impl Agent {
    /// Starts a new session; the old one stays on disk. Agents in the background are stopped.
    pub async fn clear(&mut self) -> Result<(), AgentError> {
        let settled = ChosenSession::new(&self.cross_session.shared.recipe, StartSource::Clear)?;
        self.go_to(settled, EndReason::Clear).await
    }

    /// Switches to another session, given by its id or the beginning of its id.
    pub async fn resume(&mut self, id: &str) -> Result<(), AgentError> {
        let start = SessionChoice::Resume(id.to_owned());
        let settled = ChosenSession::on(&self.cross_session.shared.recipe, &start)?;
        self.go_to(settled, EndReason::Resume).await
    }

    async fn go_to(&mut self, settled: ChosenSession, reason: EndReason) -> Result<(), AgentError> {
        self.cross_session.cancellation.renew();
        self.ended(reason).await;
        // If it is the same session again, its usage log continues.
        let account = if settled.transcript == self.opened.place.transcript {
            self.opened.usage_log.clone()
        } else {
            Arc::default()
        };
        let origin = self.cross_session.shared.recipe.model_origin;
        let ModelForSession { model, notice } = origin.model_for(&settled, &self.model);
        let mut opened = self.cross_session.open(settled, &model, account)?;
        self.cross_session.run_opening_hooks(&mut opened).await;
        self.model = model;
        if let Some(notice) = notice {
            self.cross_session.shared.event_sink.notice(notice);
        }
        let left = std::mem::replace(&mut self.opened, opened);
        forget_if_empty(&left.place.transcript);
        self.send_status();
        Ok(())
    }

    /// Switches to another model. The conversation continues; nothing of the cache can be kept.
    pub async fn switch_model(&mut self, model: &str) -> Result<(), AgentError> {
        self.reopen(model, CacheWatch::GoesOn)?;
        self.model = model.to_owned();
        self.send_status();
        Ok(())
    }

    /// Goes back to the point before one of the user's messages, across compactions too (M5), and returns its text.
    pub async fn rewind(&mut self, uuid: &str) -> Result<RewindResult, AgentError> {
        let now = self.cross_session.shared.recipe.options().clock.now();
        let rewound = rewind::rewind(&self.opened.place.transcript, uuid, now)?;
        self.reopen(&self.model.clone(), CacheWatch::BeginsAnew)?;
        self.send_status();
        Ok(rewound)
    }

    /// The user's prompts in this session, to choose from.
    pub fn rewind_points(&self) -> Result<Vec<RewindPoint>, AgentError> {
        let path = &self.opened.place.transcript;
        if path.exists() {
            Ok(rewind::rewind_points(path)?)
        } else {
            Ok(Vec::new())
        }
    }

    /// Undoes the last compaction; called again, the one before it (X6).
    pub async fn undo_compaction(&mut self) -> Result<UndoResult, AgentError> {
        let recipe = &self.cross_session.shared.recipe;
        let undone = undo::undo(
            &self.opened.place.transcript,
            &recipe.options().config,
            &recipe.options().models,
            UndoMode::Write,
            recipe.options().clock.now(),
        )?;
        self.reopen(&self.model.clone(), CacheWatch::BeginsAnew)?;
        self.send_status();
        Ok(undone)
    }

    /// Uses a smaller window from now on: for showing how a window fills.
    pub fn cap_window(&mut self, tokens: u64) -> Result<(), AgentError> {
        let mut recipe = AgentSpec::clone(&self.cross_session.shared.recipe);
        let mut config = recipe.options().config.clone();
        config.window_cap = Some(tokens);
        recipe.session = recipe.session.config(config);
        self.cross_session.shared.recipe = Arc::new(recipe);
        self.reopen(&self.model.clone(), CacheWatch::GoesOn)?;
        self.send_status();
        Ok(())
    }

    /// Decides these actions by price from the next request on (V5), also in sessions that are opened later.
    pub fn set_economy(&mut self, policy: EconomyPolicy) {
        let mut recipe = AgentSpec::clone(&self.cross_session.shared.recipe);
        recipe.session = recipe.session.economy(policy);
        self.cross_session.shared.recipe = Arc::new(recipe);
        self.opened.worker.session.set_economy(policy);
        self.send_status();
    }

    /// Lets the model think with this effort from the next request on, also in sessions that are opened later. Only the
    /// settings for thinking change; they are part of the cache key, so that request is written to the cache anew. An
    /// error says what the model takes instead, and nothing is changed.
    pub fn set_effort(&mut self, effort: EffortSetting) -> Result<(), String> {
        let shared = &self.cross_session.shared;
        let spec = shared.recipe.options().models.resolve(&self.model).spec;
        effort.check(&spec)?;
        let before = shared.effort.get();
        shared.effort.set(effort);
        let (think, level) = effort.parameters(&spec);
        match self.opened.worker.set_thinking(think, level) {
            Ok(notices) => {
                for notice in notices {
                    self.notice(notice);
                }
                self.send_status();
                Ok(())
            }
            Err(error) => {
                self.cross_session.shared.effort.set(before);
                Err(error.to_string())
            }
        }
    }

    /// Reopens the same session as it is on disk. Agents in the background continue.
    fn reopen(&mut self, model: &str, watch: CacheWatch) -> Result<(), AgentError> {
        let settled = ChosenSession {
            id: self.opened.id.clone(),
            transcript: self.opened.place.transcript.clone(),
            source: StartSource::Resume,
            notice: None,
            // The session is open, and an open session keeps its lease.
            lease: None,
        };
        let (account, jobs) = (self.opened.usage_log.clone(), self.jobs());
        let (mut opened, _) = self.cross_session.assemble(settled, model, account, jobs)?;
        opened.pending = std::mem::take(&mut self.opened.pending);
        if watch == CacheWatch::GoesOn {
            let before = self.opened.worker.session.engine_mut();
            let engine = opened.worker.session.engine_mut();
            engine.take_over_cache_watch(before);
        }
        self.opened = opened;
        Ok(())
    }
}
