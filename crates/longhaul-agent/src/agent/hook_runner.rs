//! Runs the user's hooks around prompts, calls and sessions (K1), and shows the user what the hooks say.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::hooks::{
    HookCommon, HookEffort, HookEvent, HookInput, HookInvocation, HookResponse, Hooks,
};
use longhaul::session::Cancellation;
use serde_json::{Value, json};

use super::event_sink::EventSink;
use crate::effort::{EffortSetting, SharedEffort};
use crate::permission::Gate;

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
        let outcome = self.hooks.run(&call).await;
        for message in &outcome.messages {
            self.event_sink.notice(message.clone());
        }
        for error in &outcome.errors {
            self.event_sink.notice(error.to_string());
        }
        outcome
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
