//! Runs the calls of a reply (Q1): read-only calls in parallel, the others one after the other, each after its hooks
//! and permissions. Every call gets a result, whatever happens; the results keep the order of the calls.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use longhaul::Boxed;
use longhaul::hooks::{HookEvent, HookPermission, HookResponse};
use longhaul_core::engine::ToolOutput;
use longhaul_core::prompt::UserPresence;
use longhaul_provider::CancellationToken;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Mutex, oneshot};

use super::detail::detail;
use super::event_sink::EventSink;
use super::hook_runner::{HookRunner, hook_context};
use super::nested_calls::CallsOfCall;
use super::requested_call::RequestedCall;
use super::user_answers;
use super::words;
use crate::event::{AgentEvent, ApprovalAnswer, ApprovalRequest, DeniedCall};
use crate::permission::{Gate, PermissionDecision, RuleLifetime};
use crate::tool::{CallContext, CallGuard, LateTools, SingleCall, Tool, ToolCallOutput, Toolbox};

/// The maximum number of calls that run in parallel.
const SIDE_BY_SIDE: usize = 10;
/// How long a stopped tool may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// The listeners that are notified about tool calls.
#[derive(Clone)]
pub(crate) enum CallAudience {
    /// The listeners of the agent.
    Calls,
    /// Only the listener of the call that started the sub-agent.
    Progress(Arc<dyn Fn(&str) + Send + Sync>),
}

/// Runs the calls of a conversation.
#[derive(Clone)]
pub(crate) struct ToolExecutor {
    pub(crate) toolbox: Toolbox,
    /// Tools that may have come since.
    pub(crate) late_tools: Option<Arc<dyn LateTools>>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) hook_runner: HookRunner,
    pub(crate) event_sink: EventSink,
    pub(crate) audience: CallAudience,
    /// Held while a question is open, so that people are asked one question at a time.
    pub(crate) asking: Arc<Mutex<()>>,
    /// The sub-agent that makes the calls, for people: its kind and its task.
    pub(crate) asker: Option<String>,
    /// Whether there is a user to ask, also for the calls of sub-agents.
    pub(crate) presence: UserPresence,
}

/// The results of a reply's calls.
#[derive(Debug, Default)]
pub(crate) struct ExecutedCalls {
    /// A result for each call, in the order of the calls.
    pub(crate) outputs: Vec<ToolOutput>,
    /// What hooks want the model to know.
    pub(crate) attachments: Vec<Value>,
    /// Why the work ends after the calls.
    pub(crate) stop: Option<StopCause>,
}

impl ExecutedCalls {
    fn take(
        &mut self,
        call: &RequestedCall,
        done: FinishedCall,
        finished: &UnboundedSender<ToolOutput>,
    ) {
        let output = ToolOutput {
            tool_use_id: call.id.clone(),
            content: done.output.content,
            is_error: done.output.is_error,
        };
        // A conversation that is gone needs no results.
        let _ = finished.send(output.clone());
        self.outputs.push(output);
        self.attachments.extend(done.context);
        self.stop = self.stop.take().or(done.stop);
    }
}

/// Why the work ends after calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// The user stopped it, or refused a call without saying what to do instead.
    User,
    /// A hook wants it to end, for this reason.
    Hook(String),
}

/// Whether a call ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallEnd {
    Ran,
    NotRun,
}

struct FinishedCall {
    output: ToolCallOutput,
    end: CallEnd,
    context: Vec<Value>,
    stop: Option<StopCause>,
}

impl From<ToolCallOutput> for FinishedCall {
    fn from(output: ToolCallOutput) -> Self {
        Self {
            output,
            end: CallEnd::NotRun,
            context: Vec::new(),
            stop: None,
        }
    }
}

/// The decision about a call before it runs.
enum PreRunDecision {
    /// The call runs with this input.
    Run(Value, CallGuard),
    Not(FinishedCall),
}

impl ToolExecutor {
    /// Runs calls. When the token is cancelled, running calls are stopped and the remaining ones are not started. Each
    /// result is sent to `finished` as soon as those before it are there, too.
    pub(crate) async fn run(
        &self,
        calls: &[RequestedCall],
        cancel: &CancellationToken,
        finished: UnboundedSender<ToolOutput>,
    ) -> ExecutedCalls {
        let mut handled = ExecutedCalls::default();
        let calls: Vec<RequestedCall> = calls.iter().map(RequestedCall::resolved).collect();
        self.wait_for_servers(&calls, cancel).await;
        for batch in self.batches(&calls) {
            if handled.stop.is_some() || cancel.is_cancelled() {
                for call in batch {
                    let done = FinishedCall::from(not_done(words::not_run(), "not run"));
                    self.ended(call, &done.output);
                    handled.take(call, done, &finished);
                }
                continue;
            }
            let mut runs: Vec<Boxed<'_, FinishedCall>> = Vec::with_capacity(batch.len());
            for call in batch {
                runs.push(Box::pin(self.one(call, cancel)));
            }
            let mut runs = stream::iter(runs).buffered(SIDE_BY_SIDE);
            let mut calls = batch.iter();
            while let (Some(done), Some(call)) = (runs.next().await, calls.next()) {
                handled.take(call, done, &finished);
            }
        }
        if cancel.is_cancelled() {
            handled.stop = Some(StopCause::User);
        }
        handled
    }

    /// Runs a call that the user wants, as if the model had asked for it.
    pub(crate) async fn run_one(
        &self,
        call: &RequestedCall,
        cancel: &CancellationToken,
    ) -> SingleCall {
        let done = self.one(call, cancel).await;
        match (done.end, done.stop) {
            _ if cancel.is_cancelled() => SingleCall::Stopped,
            (_, Some(StopCause::User)) => SingleCall::Stopped,
            (_, Some(StopCause::Hook(reason))) => SingleCall::NotRun(reason),
            (CallEnd::Ran, None) => SingleCall::Ran(done.output),
            (CallEnd::NotRun, None) => SingleCall::NotRun(done.output.line),
        }
    }

    /// Groups adjacent read-only calls, which run together.
    fn batches<'c>(&self, calls: &'c [RequestedCall]) -> Vec<&'c [RequestedCall]> {
        let looks = |call: &RequestedCall| {
            let tool = self.find(&call.name).zip(call.input.as_ref());
            // A call that cannot run does not change anything either.
            tool.is_none_or(|(tool, input)| tool.access(input).is_read_only())
        };
        calls
            .chunk_by(|one, next| looks(one) && looks(next))
            .collect()
    }

    async fn one(&self, call: &RequestedCall, cancel: &CancellationToken) -> FinishedCall {
        let tool = self.find(&call.name);
        let tool = tool.as_ref();
        let empty = Value::Null;
        let input = call.input.as_ref().unwrap_or(&empty);
        let line = tool.map_or_else(String::new, |tool| tool.line(input));
        self.started(call, &line, input);
        let done = match (tool, &call.input) {
            (None, _) => {
                let names: Vec<&str> = self.toolbox.names().collect();
                not_done(
                    words::unknown_tool(&call.name, &names.join(", ")),
                    "there is no such tool",
                )
                .into()
            }
            (Some(_), None) => not_done(words::bad_input(), "its input is not understood").into(),
            (Some(tool), Some(input)) => self.permitted(tool, call, input, cancel).await,
        };
        self.ended(call, &done.output);
        done
    }

    /// Runs the hooks, checks the permissions, and then runs the tool.
    async fn permitted(
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

    async fn performed(
        &self,
        tool: &Arc<dyn Tool>,
        call: &RequestedCall,
        input: Value,
        guard: CallGuard,
        cancel: &CancellationToken,
    ) -> FinishedCall {
        let began = Instant::now();
        let mut output = self.perform(tool, call, input.clone(), guard, cancel).await;
        if cancel.is_cancelled() {
            return output.into();
        }
        let after = self
            .hook_runner
            .run_hooks(HookEvent::PostToolUse {
                tool_name: call.name.clone(),
                tool_input: input,
                tool_response: output.content.clone(),
                tool_use_id: call.id.clone(),
                duration_ms: u64::try_from(began.elapsed().as_millis()).ok(),
            })
            .await;
        if let Some(content) = after.updated_output {
            output.content = match content {
                content @ (Value::String(_) | Value::Array(_)) => content,
                other => Value::String(other.to_string()),
            };
        }
        FinishedCall {
            output,
            end: CallEnd::Ran,
            context: hook_context("PostToolUse", &after.context)
                .into_iter()
                .collect(),
            stop: after.stop.map(|reason| StopCause::Hook(reason.text)),
        }
    }

    async fn perform(
        &self,
        tool: &Arc<dyn Tool>,
        call: &RequestedCall,
        input: Value,
        guard: CallGuard,
        cancel: &CancellationToken,
    ) -> ToolCallOutput {
        let (teller, shown, id) = (
            self.event_sink.clone(),
            self.audience.clone(),
            call.id.clone(),
        );
        let one = CallContext {
            id: call.id.clone(),
            // A child token: a tool that ends itself early ends nothing else.
            cancel: cancel.child_token(),
            work: cancel.clone(),
            progress: Arc::new(move |text| match &shown {
                CallAudience::Calls => teller.send(AgentEvent::ToolProgress {
                    id: id.clone(),
                    text: text.to_owned(),
                }),
                CallAudience::Progress(progress) => progress(text),
            }),
            guard,
            nested: Some(Arc::new(CallsOfCall::new(self, call, cancel))),
        };
        let run = AssertUnwindSafe(tool.run(input, &one)).catch_unwind();
        tokio::pin!(run);
        let ran = tokio::select! {
            biased;
            ran = &mut run => ran,
            () = cancel.cancelled() => {
                // The tool is told to stop; whatever it leaves running is dropped with it.
                let _ = tokio::time::timeout(GRACE, &mut run).await;
                return not_done(words::interrupted(), "stopped");
            }
        };
        let output = ran.unwrap_or_else(|_| {
            tracing::error!(tool = call.name, "a tool panicked");
            not_done(words::crashed(), "the tool failed inside")
        });
        if output.is_error && cancel.is_cancelled() {
            stopped(output)
        } else {
            output
        }
    }

    /// Reports a denied call no matter who made it, the agent or a sub-agent: nobody else would learn of it.
    fn denied(&self, tool: &Arc<dyn Tool>, call: &RequestedCall, input: &Value, reason: &str) {
        self.event_sink.send(AgentEvent::Denied(DeniedCall {
            id: call.id.clone(),
            name: call.name.clone(),
            line: tool.line(input),
            input: input.clone(),
            reason: reason.to_owned(),
        }));
    }

    fn started(&self, call: &RequestedCall, line: &str, input: &Value) {
        match &self.audience {
            CallAudience::Calls => self.event_sink.send(AgentEvent::ToolStarted {
                id: call.id.clone(),
                name: call.name.clone(),
                line: line.to_owned(),
                input: input.clone(),
            }),
            CallAudience::Progress(progress) => progress(&format!("{} {line}", call.name)),
        }
    }

    fn ended(&self, call: &RequestedCall, output: &ToolCallOutput) {
        if let CallAudience::Calls = self.audience {
            self.event_sink.send(AgentEvent::ToolEnded {
                id: call.id.clone(),
                output: output.clone(),
            });
        }
    }
}

/// Why hooks forbid a call; the reason may be empty. `None` if they do not.
fn forbidden_by(heard: &HookResponse) -> Option<String> {
    let is_forbidden = heard.blocked.is_some() || heard.permission == Some(HookPermission::Deny);
    let reason = heard.blocked.as_ref().map(|reason| reason.text.clone());
    is_forbidden.then(|| reason.unwrap_or_default())
}

/// The result of a tool that was stopped.
fn stopped(output: ToolCallOutput) -> ToolCallOutput {
    let mut text = words::interrupted();
    if let Some(said) = output
        .content
        .as_str()
        .filter(|said| !said.trim().is_empty())
    {
        text = format!("{text}\n\n{said}");
    }
    ToolCallOutput::error(text)
        .with_line("stopped")
        .with_detail(output.detail)
}

/// The result of a call that was not done: a message for the model, and a line for people.
fn not_done(message: String, line: &str) -> ToolCallOutput {
    ToolCallOutput::error(message).with_line(line)
}
