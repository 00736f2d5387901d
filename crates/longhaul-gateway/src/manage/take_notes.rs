//! Takes session notes (S2–S5): after a response, when they are due, by a request appended to the client's own
//! messages, so that nearly all of it is read from the cache. The reply is text, and the core's guard decides which of
//! it is accepted. If an attempt fails, the existing notes stay.
//!
//! `notes_tracker` knows which branch has notes and when they are due. `notes_summary` uses them when the window is full.

use std::sync::Arc;

use longhaul_core::history::AppendedRequestWay;
use longhaul_core::message::Usage;
use longhaul_core::notes::{
    AppliedAnswer, NotesCaps, NotesEditWay, NotesPrompt, NotesRunEnd, NotesRunId, NotesTemplate,
    NotesTrigger, SessionNotes, UnusableAnswer, apply,
};
use longhaul_core::window::{WindowScale, WindowStatus};
use longhaul_provider::StopReason;

use super::appended_request;
use super::compactor::Compactor;
use super::notes_tracker::{BranchNotesState, NotesTracker};
use super::own_call::SpentUsage;
use super::request_context::RequestContext;
use super::summarize::user_element;
use crate::store::{NotesRecord, StoreError};
use crate::watch::NotesResult;

/// The file name of the notes as told to the model; the client has no such file.
const NAME: &str = "session-notes.md";
/// Notes are claimed separately from summaries: both may be made at the same time.
const CLAIM: u64 = 0x6e6f_7465_735f_6f66;

/// Why an attempt gave no notes. The existing notes stay as they are.
#[derive(Debug, thiserror::Error)]
enum NotesAttemptError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("they could not be kept")]
    NotKept,
    #[error("they are being taken elsewhere")]
    Elsewhere,
    #[error("the request cannot be read")]
    Unreadable,
    #[error("the model did not answer: {0}")]
    Model(#[from] longhaul_provider::Error),
    #[error("the model refused")]
    Refused,
    #[error(transparent)]
    Unapplied(#[from] UnusableAnswer),
    #[error("the model noted nothing")]
    Nothing,
}

/// The end of a request, as far as notes need it.
struct RequestEnd {
    /// The rolling hash after its last message.
    at: u128,
    messages: u32,
    /// How many calls the model's last message in it makes.
    calls: u64,
}

impl Compactor {
    /// A request was answered, after which the window holds this many tokens: takes notes if they are due. No request
    /// waits.
    pub(super) fn note(self: &Arc<Self>, context: RequestContext, used: u64) {
        let Some(window) = self
            .windows
            .of_tenant(context.tenant, &context.model)
            .window
        else {
            return;
        };
        if self.notes.is_none()
            || appended_request::way_after(&context) != AppendedRequestWay::AsItIs
        {
            return;
        }
        let compactor = Arc::clone(self);
        let abort = self.abort.clone();
        let work = async move {
            tokio::select! {
                () = compactor.note_if_due(&context, &window, used) => {}
                () = abort.cancelled() => {}
            }
        };
        self.tasks.spawn_on(work, &self.runtime);
    }

    async fn note_if_due(&self, context: &RequestContext, window: &WindowStatus, used: u64) {
        let (Some(tracker), Some(end)) = (&self.notes, RequestEnd::of(context)) else {
            return;
        };
        let line = context.placed.line;
        let settings = self.settings.config.notes;
        if !tracker.knows(line) {
            if used < window.scale().apply(settings.start_tokens) {
                return;
            }
            let last = match tracker.find(context).await {
                Ok(last) => last.map(|last| last.tokens),
                Err(error) => {
                    tracing::warn!(%error, %line, "notes cannot be looked up and are not taken");
                    return;
                }
            };
            let taking = BranchNotesState {
                trigger: NotesTrigger::new(settings, window.scale(), last),
                in_vain: Usage::default(),
                under_way: 0,
                fresh: last.is_some(),
            };
            tracker.begin(line, taking);
        }
        let run = tracker.change(line, |taking| {
            taking.trigger.responded(end.calls);
            taking.trigger.shrunk_to(used);
            let run = taking.trigger.begin(used, self.clock.now())?;
            taking.under_way += 1;
            Some(run)
        });
        if let Some(run) = run.flatten() {
            self.take(tracker, context, &end, window.scale(), used, run)
                .await;
        }
    }

    async fn take(
        &self,
        tracker: &NotesTracker,
        context: &RequestContext,
        end: &RequestEnd,
        scale: WindowScale,
        tokens: u64,
        run: NotesRunId,
    ) {
        let line = context.placed.line;
        let spent = SpentUsage::default();
        let asked = (self.ask_for_notes(tracker, context, scale, &spent)).await;
        let usage = spent.take();
        let spec = self.spec(&context.model);
        self.metrics
            .used_for_notes(&usage, spec.cost_of_reply(&usage));
        let spent = tracker.change(line, |taking| {
            let current = taking.trigger.ended(run) == NotesRunEnd::Current;
            taking.in_vain.add(&usage);
            (current && asked.is_ok()).then(|| std::mem::take(&mut taking.in_vain))
        });
        let kept = match (asked, spent.flatten()) {
            (Ok(applied), Some(spent)) => {
                for refused in &applied.refused {
                    tracing::debug!(%line, title = refused.title, why = ?refused.why, "not noted");
                }
                let put = tracker.put(NotesRecord {
                    tenant: context.tenant,
                    at: end.at,
                    messages: end.messages,
                    tokens,
                    text: applied.notes.text().to_owned(),
                    session: context.placed.session,
                    line,
                    made: self.clock.now(),
                    cost: spec.cost_of_reply(&spent),
                });
                let put = put.await.map_err(NotesAttemptError::from);
                match put {
                    Ok(()) => self.prefixes.writability().kept(),
                    Err(_) => self.prefixes.writability().not_kept(),
                }
                put
            }
            (Ok(_), None) => Err(NotesAttemptError::Elsewhere),
            (Err(why), _) => Err(why),
        };
        tracker.change(line, |taking| {
            taking.under_way = taking.under_way.saturating_sub(1);
            taking.fresh = match kept {
                Ok(()) => true,
                Err(NotesAttemptError::Elsewhere) => taking.fresh,
                Err(_) => false,
            };
        });
        tracker.ended.notify_waiters();
        match kept {
            Ok(()) => {
                self.metrics.noted(NotesResult::Kept);
                tracing::debug!(%line, messages = end.messages, "notes were taken");
            }
            Err(NotesAttemptError::Elsewhere) => {}
            Err(why) => {
                self.metrics.noted(NotesResult::Failed);
                tracing::info!(%why, %line, "notes were not taken");
            }
        }
    }

    async fn ask_for_notes(
        &self,
        tracker: &NotesTracker,
        context: &RequestContext,
        scale: WindowScale,
        spent: &SpentUsage,
    ) -> Result<AppliedAnswer, NotesAttemptError> {
        if !self.prefixes.can_be_stored().await {
            return Err(NotesAttemptError::NotKept);
        }
        let key = context.placed.line.0 ^ CLAIM;
        let claim = self.prefixes.store().claim(key);
        let _claim = claim.await?.ok_or(NotesAttemptError::Elsewhere)?;
        let template = NotesTemplate::default();
        let before = tracker.find(context).await?;
        let before = before.map(|before| SessionNotes::parse(before.text));
        let before = before.as_ref().unwrap_or(template.notes());
        let prompt = NotesPrompt {
            notes: before,
            path: NAME,
            way: NotesEditWay::Answer,
            caps: NotesCaps::at(scale),
            custom: None,
        };
        let element = user_element(context.messages.dialect, &prompt.text());
        let parts = context.outgoing.and(&element);
        let parts = parts.ok_or(NotesAttemptError::Unreadable)?;
        let reply = context.asking.ask(parts, &[], spent).await?;
        if reply.stop == Some(StopReason::Refusal) {
            return Err(NotesAttemptError::Refused);
        }
        let applied = apply(&reply.text(), before)?;
        if template.is_untouched(&applied.notes) {
            Err(NotesAttemptError::Nothing)
        } else {
            Ok(applied)
        }
    }
}

impl RequestEnd {
    /// Reads the end of a request; `None` if the model is to continue its own message: no question can follow that.
    fn of(context: &RequestContext) -> Option<Self> {
        let (spoken, calls) = context.message_and_call_count()?;
        Some(Self {
            at: *context.messages.recognized.hashes.last()?,
            messages: spoken,
            calls,
        })
    }
}
