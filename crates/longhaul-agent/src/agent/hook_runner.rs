//! Runs the user's hooks around prompts, calls and sessions (K1), and shows the user what the hooks say.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use longhaul::hooks::{
    HookCommon, HookEffort, HookEvent, HookInput, HookInvocation, HookResponse, Hooks,
};
use longhaul::session::Cancellation;
use serde_json::{Value, json};

use super::event_sink::EventSink;
use crate::effort::{EffortSetting, SharedEffort};
use crate::event::{AgentEvent, RunningHook};
use crate::permission::Gate;

/// How long hooks may run before that is said.
const MOMENT: Duration = Duration::from_millis(300);
/// How often hooks took longer than that.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// Runs the hooks of one conversation.
#[derive(Clone)]
pub(crate) struct HookRunner {
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) common: HookCommon,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) effort: SharedEffort,
    pub(crate) event_sink: EventSink,
    pub(crate) cancellation: Cancellation,
    /// The folder for long output.
    pub(crate) overflow: PathBuf,
}

impl HookRunner {
    /// Runs the hooks for an event. Cancellation ends them.
    pub(crate) async fn run_hooks(&self, event: HookEvent) -> HookResponse {
        let mode = serde_json::to_value(self.gate.mode()).ok();
        let mode = mode.and_then(|mode| Some(mode.as_str()?.to_owned()));
        let effort = match self.effort.get() {
            EffortSetting::Level(level) => Some(HookEffort {
                level: level.name().to_owned(),
            }),
            EffortSetting::Model | EffortSetting::Off => None,
        };
        let common = HookCommon {
            permission_mode: mode,
            effort,
            ..self.common.clone()
        };
        let call = HookInvocation::new(HookInput { common, event })
            .with_cancel(self.cancellation.token())
            .with_overflow(&self.overflow);
        let outcome = self.shown(&call).await;
        for message in &outcome.messages {
            self.event_sink.notice(message.clone());
        }
        for error in &outcome.errors {
            self.event_sink.notice(error.to_string());
        }
        outcome
    }

    /// Runs hooks, and says so if they take longer than a moment.
    async fn shown(&self, call: &HookInvocation) -> HookResponse {
        let run = self.hooks.run(call);
        // Nobody waits for these.
        if let HookEvent::Notification { .. } = call.input.event {
            return run.await;
        }
        tokio::pin!(run);
        let first = tokio::time::timeout(MOMENT, &mut run);
        if let Ok(outcome) = first.await {
            return outcome;
        }
        let event = &call.input.event;
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        self.event_sink.send(AgentEvent::HookRuns(RunningHook {
            number,
            event: event.name().as_str(),
            call: call_of(event).map(str::to_owned),
            commands: self.hooks.commands(event),
        }));
        let _until_the_end = HookEnd(&self.event_sink, number);
        run.await
    }
}

/// Tells that hooks have ended, also if nobody waits for them any more.
struct HookEnd<'a>(&'a EventSink, u64);

impl Drop for HookEnd<'_> {
    fn drop(&mut self) {
        self.0.send(AgentEvent::HookEnded(self.1));
    }
}

/// The call that an event is about.
fn call_of(event: &HookEvent) -> Option<&str> {
    match event {
        HookEvent::PreToolUse { tool_use_id, .. }
        | HookEvent::PostToolUse { tool_use_id, .. }
        | HookEvent::PermissionRequest { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}

/// What hooks want the model to know, as an attachment; `None` if there is nothing.
pub(crate) fn hook_context(event: &str, context: &[String]) -> Option<Value> {
    (!context.is_empty()).then(|| {
        json!({
            "type": "hook_additional_context",
            "content": context,
            "hookName": event,
            "hookEvent": event,
        })
    })
}
