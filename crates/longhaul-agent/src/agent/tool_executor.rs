//! Runs the calls of a reply (Q1): read-only calls in parallel, the others one after the other. Every call gets a result,
//! whatever happens; the results keep the order of the calls. `call_approval.rs` decides whether one may run, and
//! `call_run.rs` runs it.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use longhaul::Boxed;
use longhaul_core::engine::ToolOutput;
use longhaul_core::prompt::UserPresence;
use longhaul_provider::CancellationToken;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedSender;

use super::event_sink::EventSink;
use super::hook_runner::HookRunner;
use super::requested_call::RequestedCall;
use super::words;
use crate::event::{AgentEvent, DeniedCall};
use crate::permission::Gate;
use crate::tool::{LateTools, SingleCall, Tool, ToolCallOutput, Toolbox};

/// The maximum number of calls that run in parallel.
const SIDE_BY_SIDE: usize = 10;

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
pub(super) enum CallEnd {
    Ran,
    NotRun,
}

pub(super) struct FinishedCall {
    pub(super) output: ToolCallOutput,
    pub(super) end: CallEnd,
    pub(super) context: Vec<Value>,
    pub(super) stop: Option<StopCause>,
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

    /// Reports a denied call no matter who made it, the agent or a sub-agent: nobody else would learn of it.
    pub(super) fn denied(
        &self,
        tool: &Arc<dyn Tool>,
        call: &RequestedCall,
        input: &Value,
        reason: &str,
    ) {
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

/// The result of a call that was not done: a message for the model, and a line for people.
pub(super) fn not_done(message: String, line: &str) -> ToolCallOutput {
    ToolCallOutput::error(message).with_line(line)
}
