//! Decides whether a call may run: hooks come first, then the permissions, and the user where these leave it open.

use std::sync::Arc;

use longhaul::hooks::{HookEvent, HookPermission, HookResponse};
use longhaul_provider::CancellationToken;
use serde_json::Value;
use tokio::sync::oneshot;

use super::detail::detail;
use super::hook_runner::hook_context;
use super::requested_call::RequestedCall;
use super::tool_executor::{CallEnd, FinishedCall, StopCause, ToolExecutor, not_done};
use super::user_answers;
use super::words;
use crate::event::{AgentEvent, ApprovalAnswer, ApprovalRequest};
use crate::permission::{PermissionDecision, RuleLifetime};
use crate::tool::{CallGuard, Tool};

/// The decision about a call before it runs.
enum PreRunDecision {
    /// The call runs with this input.
    Run(Value, CallGuard),
    Not(FinishedCall),
}

impl ToolExecutor {
    /// Runs the hooks, checks the permissions, and then runs the tool.
    pub(super) async fn permitted(
        &self,
        tool: &Arc<dyn Tool>,
        call: &RequestedCall,
        input: &Value,
        cancel: &CancellationToken,
    ) -> FinishedCall {
        let input = &*user_answers::as_asked(&tool.access(input), input);
        let before = self
            .hook_runner
            .run_hooks(HookEvent::PreToolUse {
                tool_name: call.name.clone(),
                tool_input: input.clone(),
                tool_use_id: call.id.clone(),
            })
            .await;
        let mut context: Vec<Value> = hook_context("PreToolUse", &before.context)
            .into_iter()
            .collect();
        let hook_stop = before
            .stop
            .as_ref()
            .map(|reason| StopCause::Hook(reason.text.clone()));
        if let Some(reason) = forbidden_by(&before) {
            let told = if reason.is_empty() {
                "a hook forbids it"
            } else {
                &reason
            };
            self.denied(tool, call, input, told);
            return FinishedCall {
                output: not_done(words::hook_denied(&reason), told),
                end: CallEnd::NotRun,
                context,
                stop: hook_stop,
            };
        }
        let input = before.updated_input.unwrap_or_else(|| input.clone());
        let verdict = tokio::select! {
            biased;
            () = cancel.cancelled() => PreRunDecision::Not(not_done(words::not_run(), "not run").into()),
            verdict = self.judge(tool, call, input, before.permission) => verdict,
        };
        let mut done = match verdict {
            PreRunDecision::Not(done) => done,
            PreRunDecision::Run(input, guard) => {
                self.performed(tool, call, input, guard, cancel).await
            }
        };
        context.append(&mut done.context);
        done.context = context;
        done.stop = done.stop.or(hook_stop);
        done
    }

    /// Decides whether the call may run; the user is asked where the gate leaves that open.
    async fn judge(
        &self,
        tool: &Arc<dyn Tool>,
        call: &RequestedCall,
        input: Value,
        hooks: Option<HookPermission>,
    ) -> PreRunDecision {
        let access = tool.access(&input);
        let judged = self.gate.judge(&call.name, &input, &access);
        let (reason, rule) = match (judged, hooks) {
            // A hook must not allow what a rule forbids.
            (PermissionDecision::Deny { reason }, _) => {
                self.denied(tool, call, &input, &reason);
                return PreRunDecision::Not(not_done(words::denied(&reason), &reason).into());
            }
            (_, Some(HookPermission::Allow)) if !user_answers::is_open(&access, &input) => {
                return PreRunDecision::Run(input, CallGuard::Nothing);
            }
            (PermissionDecision::Allow, None) => {
                return PreRunDecision::Run(input, self.gate.guard(&access));
            }
            (PermissionDecision::Ask { reason, rule }, _) => (reason, rule),
            (PermissionDecision::Allow, Some(HookPermission::Allow)) => (String::new(), None),
            (PermissionDecision::Allow, Some(_)) => ("a hook wants you to decide".to_owned(), None),
        };
        let _one_at_a_time = self.asking.lock().await;
        // In the meantime the user may have agreed to a rule that covers this call.
        if hooks.is_none()
            && self.gate.judge(&call.name, &input, &access) == PermissionDecision::Allow
        {
            return PreRunDecision::Run(input, self.gate.guard(&access));
        }
        if let Some(verdict) = self.answered_by_hook(tool, call, &input).await {
            return verdict;
        }
        let (answer, answered) = oneshot::channel();
        let asked = ApprovalRequest {
            id: call.id.clone(),
            name: call.name.clone(),
            line: tool.line(&input),
            detail: match tool.detail(&input) {
                said if said.is_empty() => detail(&input, &access),
                said => said,
            },
            access: access.clone(),
            reason: reason.clone(),
            asker: self.asker.clone(),
            rule: rule.clone(),
            answer,
        };
        self.hook_runner.notify_asking(&asked, self.presence);
        self.event_sink.send(AgentEvent::Asks(asked));
        let lasting = match answered.await {
            Err(_) => {
                self.denied(tool, call, &input, &reason);
                return PreRunDecision::Not(
                    not_done(words::unasked(&reason), "nobody was there to allow it").into(),
                );
            }
            Ok(ApprovalAnswer::No(said)) => {
                let stop = said.is_none().then_some(StopCause::User);
                return PreRunDecision::Not(FinishedCall {
                    stop,
                    ..not_done(words::refused(said.as_deref()), "refused").into()
                });
            }
            Ok(ApprovalAnswer::KeepPlanning) => {
                return PreRunDecision::Not(
                    not_done(words::keep_planning(), "not agreed to yet").into(),
                );
            }
            Ok(ApprovalAnswer::Answers(answers)) => {
                let input = user_answers::answered(&access, input, answers);
                return PreRunDecision::Run(input, CallGuard::Nothing);
            }
            Ok(ApprovalAnswer::Once) => None,
            Ok(ApprovalAnswer::Session) => Some(RuleLifetime::Session),
            Ok(ApprovalAnswer::Project) => Some(RuleLifetime::Project),
        };
        if let Some((rule, lasting)) = rule.zip(lasting) {
            let how_long = match lasting {
                RuleLifetime::Session => "session",
                RuleLifetime::Project => "project",
            };
            self.event_sink
                .notice(match self.gate.remember(&rule, lasting) {
                    Ok(()) => format!("allowed for this {how_long}: {rule}"),
                    Err(sentence) => {
                        format!("allowed this once, not for this {how_long}: {sentence}")
                    }
                });
        }
        PreRunDecision::Run(input, CallGuard::Nothing)
    }

    /// Lets a hook answer in the user's place (K1). If none does, the user is asked.
    async fn answered_by_hook(
        &self,
        tool: &Arc<dyn Tool>,
        call: &RequestedCall,
        input: &Value,
    ) -> Option<PreRunDecision> {
        let heard = self
            .hook_runner
            .run_hooks(HookEvent::PermissionRequest {
                tool_name: call.name.clone(),
                tool_input: input.clone(),
                tool_use_id: call.id.clone(),
            })
            .await;
        if let Some(reason) = forbidden_by(&heard) {
            self.denied(tool, call, input, &reason);
            let output = not_done(
                words::hook_denied(&reason),
                &format!("a hook forbids it: {reason}"),
            );
            return Some(PreRunDecision::Not(output.into()));
        }
        if heard.permission != Some(HookPermission::Allow) {
            return None;
        }
        let input = heard.updated_input.unwrap_or_else(|| input.clone());
        if user_answers::is_open(&tool.access(&input), &input) {
            return None;
        }
        // A hook must not allow what a rule forbids, whatever input it substitutes.
        match self.gate.judge(&call.name, &input, &tool.access(&input)) {
            PermissionDecision::Deny { reason } => {
                self.denied(tool, call, &input, &reason);
                Some(PreRunDecision::Not(
                    not_done(words::denied(&reason), &reason).into(),
                ))
            }
            _ => Some(PreRunDecision::Run(input, CallGuard::Nothing)),
        }
    }
}

/// Why hooks forbid a call; the reason may be empty. `None` if they do not.
fn forbidden_by(heard: &HookResponse) -> Option<String> {
    let is_forbidden = heard.blocked.is_some() || heard.permission == Some(HookPermission::Deny);
    let reason = heard.blocked.as_ref().map(|reason| reason.text.clone());
    is_forbidden.then(|| reason.unwrap_or_default())
}
