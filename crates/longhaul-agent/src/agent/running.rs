//! An agent that is open: it takes prompts, and says how things stand.

use std::sync::Arc;
use std::time::Duration;

use longhaul::Session;
use longhaul::hooks::{EndReason, HookEvent};
use longhaul::session::{Cancellation, CompactError, CompactOutcome};
use longhaul_core::engine::{CompactRequest, FailedKind, NewEntry, Shown};
use longhaul_core::plan::Refusal;
use longhaul_core::window::{Action, Level, Verdict};
use longhaul_provider::CancellationToken;
use serde_json::json;

use super::account::Spent;
use super::advice;
use super::listing::{self, Listed};
use super::outlook::{self, Look, Outlook};
use super::ring::hook_context;
use super::said::Said;
use super::session::{Lasting, Opened};
use super::start::forget_if_empty;
use super::sub_agents::Jobs;
use crate::event::{AgentEvent, Ended, Glance, Mode};
use crate::place::Place;

/// How long notes that are being taken hold up the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// An agent at work on a session.
pub struct Agent {
    pub(super) lasting: Lasting,
    pub(super) opened: Opened,
    pub(super) model: String,
}

impl Agent {
    pub(super) fn of(lasting: Lasting, opened: Opened, model: String) -> Self {
        let agent = Self {
            lasting,
            opened,
            model,
        };
        agent.tell_glance();
        agent
    }

    /// Works on a prompt until it is answered, stopped or failed. What happens meanwhile is told as events; the last of
    /// them is [`AgentEvent::Ended`].
    pub async fn prompt(&mut self, said: impl Into<Said>) -> Ended {
        self.opened.worker.failed = None;
        let ended = match self.work(said.into()).await {
            Ended::Failed(why) => Ended::Failed(self.advised(why)),
            ended => ended,
        };
        self.tell_glance();
        self.lasting
            .shared
            .teller
            .tell(AgentEvent::Ended(ended.clone()));
        ended
    }

    /// Why it failed, and what to do about it.
    fn advised(&self, why: String) -> String {
        match self.opened.worker.failed.and_then(advice::against) {
            Some(advice) => format!("{}. {advice}", why.trim_end_matches('.')),
            None => why,
        }
    }

    async fn work(&mut self, said: Said) -> Ended {
        if said.is_empty() {
            return Ended::Refused("There is nothing to answer: say something.".to_owned());
        }
        if let Some(sentence) = self.is_full() {
            return Ended::Refused(sentence);
        }
        let cancel = self.lasting.cancellation.token();
        let event = HookEvent::UserPromptSubmit {
            prompt: said.text.clone(),
            session_title: None,
        };
        let heard = self.opened.worker.hands.ringer.ring(event).await;
        // A hook that was ended early might have said no: then the prompt is not taken down. Otherwise it is, with the
        // mark that it was stopped.
        if heard.cancelled {
            return Ended::Cancelled;
        }
        if let Some(reason) = heard.blocked.or(heard.stop) {
            return Ended::Refused(format!(
                "A hook did not let the prompt pass: {}",
                reason.text
            ));
        }
        self.make_scratchpad();
        let mut entries = vec![NewEntry::User {
            content: said.content(),
            shown: Shown::ToUser,
        }];
        entries.extend(said.attachments.into_iter().map(NewEntry::Attachment));
        entries.append(&mut self.opened.pending);
        let reminder = (self.opened.sources.plan_mode)();
        let reminder = reminder.map(|text| json!({"type": "plan_mode", "content": text}));
        entries.extend(reminder.map(NewEntry::Attachment));
        let context = hook_context("UserPromptSubmit", &heard.context);
        entries.extend(context.map(NewEntry::Attachment));
        self.opened.worker.work(entries, &cancel).await
    }

    /// The folder for temporary files is there from the first prompt on: a session in which nothing was said leaves none.
    fn make_scratchpad(&self) {
        let folder = self.opened.place.scratchpad();
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if let Err(error) = builder.create(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "there is no folder for temporary files");
        }
    }

    /// Input is refused before it is taken down, where the window is full and nothing may act by itself (O5).
    fn is_full(&self) -> Option<String> {
        let status = self.status();
        let switches = &self.lasting.shared.recipe.options().config.switches;
        match switches.decide(Action::Automatic) {
            Verdict::Off(switch) if status.level == Level::Blocking => {
                Some(Refusal::SwitchedOff(switch).sentence(&status))
            }
            _ => None,
        }
    }

    fn status(&self) -> longhaul_core::window::WindowStatus {
        self.opened.worker.session.status()
    }

    /// Compacts by hand, shows what that would come to, or takes a summary that the user approved (Y6).
    pub async fn compact(
        &mut self,
        request: CompactRequest,
    ) -> Result<CompactOutcome, CompactError> {
        let done = self.opened.worker.session.compact(request).await;
        self.tell_glance();
        done
    }

    /// Stops whatever is going on; the conversation stays valid. Everything that the agent waits for hears of it by this alone:
    /// requests, hooks, tools and the sub-agents that calls wait for.
    pub fn cancellation(&self) -> &Cancellation {
        &self.lasting.cancellation
    }

    /// The token that ends what comes next. Ask for it before each prompt or compaction: a token that was cancelled is
    /// replaced here, and holds until then.
    pub fn canceller(&mut self) -> CancellationToken {
        self.lasting.cancellation.renew()
    }

    /// Looks at it and stops it while another task works with it.
    pub fn outlook(&self) -> Outlook {
        self.lasting.outlook.clone()
    }

    /// How things stand.
    pub fn glance(&self) -> Glance {
        let look = Look {
            session_id: self.opened.id.clone(),
            transcript: self.opened.place.transcript.clone(),
            model: self.model.clone(),
            status: self.status(),
            head: self.opened.head,
        };
        outlook::glance(&look, &self.spent(), self.mode())
    }

    pub(super) fn tell_glance(&self) {
        self.opened.worker.glance();
    }

    /// Drives what goes on in the background, notes for example, until nothing of it is left. Dropping this half-way
    /// loses nothing.
    pub async fn attend(&mut self) {
        self.opened.worker.session.attend().await;
        self.tell_glance();
    }

    /// Whether something goes on in the background.
    pub fn is_attended_to(&self) -> bool {
        self.opened.worker.session.under_way() > 0
    }

    /// What the session has used since it was opened, sub-agents and summaries included.
    pub fn spent(&self) -> Spent {
        self.opened.account.spent()
    }

    /// About how many tokens stand before the messages: system prompt, tools, memory files.
    pub fn head_tokens(&self) -> u64 {
        self.opened.head.total()
    }

    /// What may run unasked.
    pub fn mode(&self) -> Mode {
        self.lasting.shared.recipe.gate.mode()
    }

    /// Another mode from now on.
    pub fn set_mode(&self, mode: Mode) {
        self.lasting.shared.recipe.gate.set_mode(mode);
        self.tell_glance();
    }

    /// The session's id.
    pub fn session_id(&self) -> &str {
        &self.opened.id
    }

    /// Where it works and where it is kept.
    pub fn place(&self) -> &Place {
        &self.opened.place
    }

    /// The model that is asked.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The library's session: the conversation, the window.
    pub fn session(&self) -> &Session {
        &self.opened.worker.session
    }

    /// The names of the tools that the model has.
    pub fn tool_names(&self) -> Vec<String> {
        let names = self.opened.worker.hands.toolbox.names();
        names.map(str::to_owned).collect()
    }

    /// How often the model answered the last prompt.
    pub fn turns(&self) -> u32 {
        self.opened.worker.turns
    }

    /// What the model said last.
    pub fn last_text(&self) -> &str {
        &self.opened.worker.last_text
    }

    /// Whether the provider does not take requests of this kind at all: a wrong key, an unknown model, an unpaid account.
    pub(crate) fn is_turned_away(&self) -> bool {
        matches!(
            self.opened.worker.failed,
            Some(FailedKind::Auth | FailedKind::NotFound | FailedKind::Billing)
        )
    }

    /// A prompt that a hook wants the session to begin with; given once.
    pub fn take_first_words(&mut self) -> Option<String> {
        self.opened.first_words.take()
    }

    /// Agents in the background that still run.
    pub fn running_agents(&self) -> usize {
        self.opened.sub_agents.jobs.running()
    }

    /// The sessions of this folder.
    pub fn sessions(&self) -> Vec<Listed> {
        listing::list(
            &self.lasting.shared.recipe.env,
            &self.lasting.shared.recipe.cwd,
        )
    }

    /// Ends it: agents in the background are stopped, and hooks are told.
    pub async fn close(self, reason: EndReason) {
        self.opened.sub_agents.end.cancel();
        self.lasting.cancellation.renew();
        self.ended(reason).await;
        let Opened { worker, place, .. } = self.opened;
        worker.session.close(PATIENCE).await;
        forget_if_empty(&place.transcript);
    }

    /// Tells hooks that the session is over.
    pub(super) fn ended(&self, reason: EndReason) -> impl Future<Output = ()> + Send + use<> {
        let ringer = self.opened.worker.hands.ringer.clone();
        async move {
            let _ = ringer.ring(HookEvent::SessionEnd { reason }).await;
        }
    }

    pub(super) fn jobs(&self) -> Arc<Jobs> {
        self.opened.sub_agents.jobs.clone()
    }
}
