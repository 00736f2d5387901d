//! Runs a call that may run, and the hooks after it. A tool that is stopped or fails inside leaves a result, too.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use longhaul::hooks::HookEvent;
use longhaul_provider::CancellationToken;
use serde_json::Value;

use super::hook_runner::hook_context;
use super::nested_calls::CallsOfCall;
use super::requested_call::RequestedCall;
use super::tool_executor::{
    CallAudience, CallEnd, FinishedCall, StopCause, ToolExecutor, not_done,
};
use super::words;
use crate::event::AgentEvent;
use crate::tool::{CallContext, CallGuard, Tool, ToolCallOutput};

/// How long a stopped tool may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

impl ToolExecutor {
    pub(super) async fn performed(
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
