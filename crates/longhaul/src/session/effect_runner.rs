//! Performs effects with the model (`model_calls.rs`), the workspace, the hooks and the observer. Cheap to clone, so that
//! an effect can run beside the session.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::engine::{CompactionHook, EffectOutcome, Event, HookOutcome};
use longhaul_core::models::ModelSpec;
use longhaul_provider::CancellationToken;

use super::Observer;
use super::lost_replies::LostReplies;
use crate::hooks::{self, HookCommon, HookEvent, HookInput, Hooks, StartSource};
use crate::model::Model;
use crate::notes::NotesLocation;
use crate::workspace::{RestoreRequest, Workspace};

/// What hooks learn about the session.
#[derive(Debug, Clone, Default)]
pub(super) struct HookSessionInfo {
    pub(super) session_id: String,
    pub(super) transcript: PathBuf,
    pub(super) cwd: PathBuf,
    /// The folder for output of hooks that is too long for the conversation.
    pub(super) overflow: Option<PathBuf>,
    /// Where diffs of cache breaks go.
    pub(super) cache_breaks: Option<PathBuf>,
}

/// Performs the effects of one session.
#[derive(Clone)]
pub(super) struct EffectRunner {
    pub(super) model: Arc<dyn Model>,
    /// Replies of the model that were billed and not used.
    pub(super) lost: Arc<LostReplies>,
    pub(super) spec: Arc<ModelSpec>,
    pub(super) workspace: Arc<dyn Workspace>,
    pub(super) hooks: Arc<dyn Hooks>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) session_info: Arc<HookSessionInfo>,
    /// The location of the notes; `None` if no notes are taken.
    pub(super) notes: Option<Arc<NotesLocation>>,
    /// How long the request for a turn is sent again.
    pub(super) patience: Duration,
}

impl EffectRunner {
    /// Gathers what goes back into the window.
    pub(super) async fn gather(self, wanted: RestoreRequest) -> EffectOutcome {
        EffectOutcome::Gathered(Box::new(self.workspace.gather(&wanted).await))
    }

    /// Runs hooks.
    pub(super) async fn run_hooks(
        self,
        call: CompactionHook,
        cancel: CancellationToken,
    ) -> EffectOutcome {
        let common = HookCommon {
            session_id: self.session_info.session_id.clone(),
            transcript_path: self.session_info.transcript.clone(),
            cwd: self.session_info.cwd.clone(),
            ..HookCommon::default()
        };
        let begins = matches!(call, CompactionHook::PreCompact { .. });
        let event = self.hook_event(call);
        let name = event.name();
        let mut call = hooks::HookInvocation::new(HookInput { common, event }).with_cancel(cancel);
        if let Some(folder) = &self.session_info.overflow {
            call = call.with_overflow(folder);
        }
        let outcome = self.hooks.run(&call).await;
        for error in &outcome.errors {
            tracing::warn!("{error}");
        }
        let errors = outcome.errors.iter().map(ToString::to_string);
        for text in outcome.messages.iter().cloned().chain(errors) {
            let event = Event::HookMessage {
                event: name.as_str(),
                text,
            };
            crate::telemetry::record(&event);
            self.observer.event(&event);
        }
        // Read again now: the user may have edited the file since the session began.
        let compact_instructions = if begins {
            self.workspace.compact_instructions().await
        } else {
            None
        };
        EffectOutcome::HooksRan(HookOutcome {
            blocked: outcome.blocked.map(|reason| reason.text),
            instructions: outcome.instructions,
            context: outcome.context,
            compact_instructions,
        })
    }

    fn hook_event(&self, call: CompactionHook) -> HookEvent {
        match call {
            CompactionHook::PreCompact {
                trigger,
                instructions,
            } => HookEvent::PreCompact {
                trigger,
                custom_instructions: instructions,
            },
            CompactionHook::SessionStart => HookEvent::SessionStart {
                source: StartSource::Compact,
                model: Some(self.spec.id.clone()),
                session_title: None,
                seconds_since_last_response: None,
                context_tokens: None,
                prompt_cache_likely_expired: None,
                estimated_cache_write_usd: None,
            },
            CompactionHook::PostCompact { trigger, summary } => HookEvent::PostCompact {
                trigger,
                compact_summary: summary,
            },
        }
    }
}
