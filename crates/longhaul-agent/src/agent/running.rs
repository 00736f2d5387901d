//! An open agent: it takes prompts and reports its state.

use std::sync::Arc;
use std::time::Duration;

use longhaul::Session;
use longhaul::hooks::{EndReason, HookEvent};
use longhaul::session::{Cancellation, CompactError, CompactOutcome};
use longhaul_core::engine::{CompactRequest, EffectFailureKind, EntryAudience, NewEntry};
use longhaul_core::plan::RequestRefusal;
use longhaul_core::window::{SwitchVerdict, SwitchableAction, WindowLevel};
use longhaul_provider::CancellationToken;
use serde_json::{Value, json};

use super::advice;
use super::agent_handle::{self, AgentHandle, SessionSnapshot};
use super::hook_runner::hook_context;
use super::listing::{self, ListedSession};
use super::session::{CrossSessionState, OpenSession};
use super::start::forget_if_empty;
use super::sub_agents::BackgroundJobs;
use super::turn_rules::TurnRules;
use super::usage_log::UsageTotal;
use super::user_prompt::UserPrompt;
use crate::event::{AgentEvent, AgentStatus, ApprovalMode, PromptOutcome};
use crate::session_paths::SessionPaths;
use crate::simulated_model::ModelBackend;

/// How long the agent waits at its end for notes that are being written.
const PATIENCE: Duration = Duration::from_secs(5);

/// An agent that works on a session.
pub struct Agent {
    pub(super) cross_session: CrossSessionState,
    pub(super) opened: OpenSession,
    pub(super) model: String,
}

impl Agent {
    pub(super) fn of(lasting: CrossSessionState, opened: OpenSession, model: String) -> Self {
        let agent = Self {
            cross_session: lasting,
            opened,
            model,
        };
        agent.send_status();
        agent
    }

    /// Works on a prompt until it is answered, stopped or failed. Progress is reported as events; the last of them is
    /// [`AgentEvent::Ended`].
    pub async fn prompt(&mut self, said: impl Into<UserPrompt>) -> PromptOutcome {
        // Skills that the model invokes have rules for as long as the prompt is worked on.
        let _until_the_end = TurnRules::of(self.cross_session.shared.recipe.gate.clone());
        self.opened.worker.failed = None;
        let ended = match self.work(said.into()).await {
            PromptOutcome::Failed(why) => PromptOutcome::Failed(self.with_advice(why)),
            ended => ended,
        };
        self.tell_ended(&ended);
        ended
    }

    /// Reports how the work on a prompt ended.
    pub(super) fn tell_ended(&self, ended: &PromptOutcome) {
        self.send_status();
        self.tell_rested();
        let event = AgentEvent::Ended(ended.clone());
        self.cross_session.shared.event_sink.send(event);
    }

    /// The reason for the failure, with advice.
    fn with_advice(&self, why: String) -> String {
        let presence = self.cross_session.shared.recipe.presence;
        let failed = self.opened.worker.failed;
        match failed.and_then(|kind| advice::against(kind, presence)) {
            Some(advice) => format!("{}. {advice}", why.trim_end_matches('.')),
            None => why,
        }
    }

    async fn work(&mut self, said: UserPrompt) -> PromptOutcome {
        if said.is_empty() {
            return PromptOutcome::Refused("There is nothing to answer: say something.".to_owned());
        }
        if let Some(sentence) = self.is_full() {
            return PromptOutcome::Refused(sentence);
        }
        let cancel = self.cross_session.cancellation.token();
        let event = HookEvent::UserPromptSubmit {
            prompt: said.text.clone(),
            session_title: None,
        };
        let heard = self
            .opened
            .worker
            .tool_executor
            .hook_runner
            .run_hooks(event)
            .await;
        // A hook that was ended early might have blocked the prompt, so the prompt is not recorded. In all other cases
        // it is recorded, with the marker that it was interrupted.
        if heard.cancelled {
            return PromptOutcome::Cancelled;
        }
        if let Some(reason) = heard.blocked.or(heard.stop) {
            return PromptOutcome::Refused(format!("A hook blocked the prompt: {}", reason.text));
        }
        self.make_scratchpad();
        let mut entries = vec![NewEntry::User {
            content: said.content(),
            shown: EntryAudience::ToUser,
        }];
        entries.extend(said.notes.into_iter().map(|note| NewEntry::User {
            content: Value::String(note),
            shown: EntryAudience::ToNobody,
        }));
        entries.extend(said.attachments.into_iter().map(NewEntry::Attachment));
        entries.append(&mut self.opened.pending);
        let reminder = (self.opened.sources.plan_mode)();
        let reminder = reminder.map(|text| json!({"type": "plan_mode", "content": text}));
        entries.extend(reminder.map(NewEntry::Attachment));
        let context = hook_context("UserPromptSubmit", &heard.context);
        entries.extend(context.map(NewEntry::Attachment));
        self.opened.worker.work(entries, &cancel).await
    }

    /// Creates the folder for temporary files with the first prompt, so that a session without prompts leaves none.
    fn make_scratchpad(&self) {
        let folder = self.opened.place.scratchpad();
        if let Err(error) = longhaul_store::create_private_folders(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "there is no folder for temporary files");
        }
    }

    /// Refuses input before it is recorded if the window is full and automatic actions are switched off (O5).
    fn is_full(&self) -> Option<String> {
        let status = self.status();
        let switches = &self.cross_session.shared.recipe.options().config.switches;
        match switches.decide(SwitchableAction::Automatic) {
            SwitchVerdict::Off(switch) if status.level == WindowLevel::Blocking => {
                Some(RequestRefusal::SwitchedOff(switch).sentence(&status))
            }
            _ => None,
        }
    }

    fn status(&self) -> longhaul_core::window::WindowStatus {
        self.opened.worker.session.status()
    }

    /// Compacts by hand, previews the result, or applies a summary that the user approved (Y6).
    pub async fn compact(
        &mut self,
        request: CompactRequest,
    ) -> Result<CompactOutcome, CompactError> {
        let done = self.opened.worker.session.compact(request).await;
        self.send_status();
        self.tell_rested();
        done
    }

    /// Stops all work; the conversation stays valid. Requests, hooks, tools and the sub-agents that calls wait for are
    /// all stopped through this alone.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cross_session.cancellation
    }

    /// The token that ends the next work. Ask for it before each prompt or compaction: a cancelled token is replaced
    /// here, and stays cancelled until then.
    pub fn canceller(&mut self) -> CancellationToken {
        self.cross_session.cancellation.renew()
    }

    /// A handle that reads the agent's state and stops it while another task works with it.
    pub fn handle(&self) -> AgentHandle {
        self.cross_session.handle.clone()
    }

    /// The current status.
    pub fn agent_status(&self) -> AgentStatus {
        let look = SessionSnapshot {
            session_id: self.opened.id.clone(),
            transcript: self.opened.place.transcript.clone(),
            model: self.model.clone(),
            backend: self.backend(),
            status: self.status(),
            prefix: self.opened.worker.prefix_tokens,
            economy: self.opened.worker.session.economy(),
            effort: self.cross_session.shared.effort.get(),
        };
        agent_handle::agent_status(&look, &self.opened.usage_log.spent(), self.mode())
    }

    pub(super) fn send_status(&self) {
        self.opened.worker.send_status();
    }

    /// Shows people a notice.
    pub(crate) fn notice(&self, sentence: String) {
        self.cross_session.shared.event_sink.notice(sentence);
    }

    /// Tells the listener that nothing is being asked.
    fn tell_rested(&self) {
        if let Some(listener) = &self.cross_session.shared.recipe.listener {
            listener.rested(&self.opened.place.session_folder());
        }
    }

    /// Drives the background work, such as notes, until none is left. Dropping this half-way loses nothing.
    pub async fn drive_background(&mut self) {
        self.opened.worker.session.drive_background().await;
        self.send_status();
    }

    /// Whether there is background work.
    pub fn has_background_work(&self) -> bool {
        self.opened.worker.session.background_count() > 0
    }

    /// The session's usage since it was opened, including sub-agents and summaries.
    pub fn spent(&self) -> UsageTotal {
        self.opened.usage_log.spent_since_opened()
    }

    /// The approximate token count of the request prefix: system prompt, tools, memory files.
    pub fn head_tokens(&self) -> u64 {
        self.opened.worker.prefix_tokens.total()
    }

    /// Which calls may run without asking.
    pub fn mode(&self) -> ApprovalMode {
        self.cross_session.shared.recipe.gate.mode()
    }

    /// Sets the mode from now on.
    pub fn set_mode(&self, mode: ApprovalMode) {
        self.cross_session.shared.recipe.gate.set_mode(mode);
        self.send_status();
    }

    /// The settings of the agent's sessions.
    pub(crate) fn config(&self) -> &longhaul_core::config::Config {
        &self.cross_session.shared.recipe.options().config
    }

    /// The session's id.
    pub fn session_id(&self) -> &str {
        &self.opened.id
    }

    /// Where the agent works and where its session is stored.
    pub fn place(&self) -> &SessionPaths {
        &self.opened.place
    }

    /// The model that receives the requests.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Who answers the requests.
    pub(crate) fn backend(&self) -> ModelBackend {
        self.cross_session.shared.recipe.backend
    }

    /// What is assumed about the model, if nothing is known about it.
    pub(crate) fn assumptions(&self) -> Vec<String> {
        let models = &self.cross_session.shared.recipe.options().models;
        let resolved = models.resolve(&self.model);
        match models.models().any(|spec| spec.id == resolved.spec.id) {
            true => Vec::new(),
            false => resolved.assumptions,
        }
    }

    /// The library's session: the conversation and the window.
    pub fn session(&self) -> &Session {
        &self.opened.worker.session
    }

    /// Waits until the tools of servers are there that come at all.
    pub(crate) async fn settle_tools(&mut self) {
        self.opened.worker.settle_tools().await;
        self.send_status();
    }

    /// The names of the model's tools.
    pub fn tool_names(&self) -> Vec<String> {
        let names = self.opened.worker.tool_executor.toolbox.names();
        names.map(str::to_owned).collect()
    }

    /// The number of the model's replies to the last prompt.
    pub fn turns(&self) -> u32 {
        self.opened.worker.turns
    }

    /// The text of the model's last reply.
    pub fn last_text(&self) -> &str {
        &self.opened.worker.last_text
    }

    /// Whether the provider rejects such requests altogether: a wrong key, an unknown model, an unpaid account.
    pub(crate) fn is_rejected_by_provider(&self) -> bool {
        matches!(
            self.opened.worker.failed,
            Some(
                EffectFailureKind::Auth | EffectFailureKind::NotFound | EffectFailureKind::Billing
            )
        )
    }

    /// Runs the hooks at the start of the session, if that was left for later.
    pub(crate) async fn run_opening_hooks(&mut self) {
        let state = &self.cross_session;
        state.run_opening_hooks(&mut self.opened).await;
        if let Some(prompt) = self.take_initial_prompt() {
            let event = AgentEvent::InitialPrompt(prompt);
            self.cross_session.shared.event_sink.send(event);
        }
    }

    /// A prompt that a hook wants the session to begin with; it is returned only once.
    pub fn take_initial_prompt(&mut self) -> Option<String> {
        self.opened.initial_prompt.take()
    }

    /// The number of agents that still run in the background.
    pub fn running_agents(&self) -> usize {
        self.opened.sub_agents.jobs.running()
    }

    /// The sessions of this folder.
    pub fn sessions(&self) -> Vec<ListedSession> {
        listing::list(
            &self.cross_session.shared.recipe.env,
            &self.cross_session.shared.recipe.cwd,
        )
    }

    /// Closes the agent: background agents are stopped, and hooks are notified.
    pub async fn close(self, reason: EndReason) {
        self.opened.sub_agents.end.cancel();
        self.cross_session.cancellation.renew();
        self.ended(reason).await;
        let listener = self.cross_session.shared.recipe.listener.clone();
        let OpenSession { worker, place, .. } = self.opened;
        worker.session.close(PATIENCE).await;
        if let Some(listener) = listener {
            listener.rested(&place.session_folder());
        }
        forget_if_empty(&place.transcript);
    }

    /// Tells hooks that the session has ended.
    pub(super) fn ended(&self, reason: EndReason) -> impl Future<Output = ()> + Send + use<> {
        let ringer = self.opened.worker.tool_executor.hook_runner.clone();
        async move {
            let _ = ringer.run_hooks(HookEvent::SessionEnd { reason }).await;
        }
    }

    pub(super) fn jobs(&self) -> Arc<BackgroundJobs> {
        self.opened.sub_agents.jobs.clone()
    }
}
