//! The loop itself: turns and calls until the model has nothing more to do. The main conversation and those of
//! sub-agents use the same loop; they differ in their listeners and in the hook that may delay the end.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::Session;
use longhaul::hooks::{HookEvent, HookResponse};
use longhaul::session::TurnError;
use longhaul_core::engine::{EffectFailureKind, EntryAudience as ShownTo, NewEntry};
use longhaul_core::models::EffortLevel;
use longhaul_core::money::Usd;
use longhaul_core::prompt::{ParameterError, ThinkingChoice};
use longhaul_provider::{CancellationToken, Reply, StopReason};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::agent_handle::{ObservedSession, PrefixTokenCounts};
use super::late_tool_arrivals::LateToolArrivals;
use super::nested_memory::NestedMemory;
use super::request_prefix::PrefixBuilder;
use super::requested_call::{RequestedCall, wanted};
use super::tool_executor::{ExecutedCalls, StopCause, ToolExecutor};
use super::words;
use crate::effort::EffortSetting;
use crate::event::{AgentEvent, PromptOutcome};

/// Whose loop it is.
#[derive(Debug, Clone)]
pub(crate) enum LoopRole {
    /// The loop of the user's conversation.
    Main,
    /// The loop of a sub-agent's conversation.
    Sub {
        id: String,
        kind: String,
        transcript: PathBuf,
    },
}

/// Gives the attachments that arrive between two turns: reports of background agents.
pub(crate) type ArrivalsFn = Arc<dyn Fn() -> Vec<Value> + Send + Sync>;

/// A conversation and the state of the work on it.
pub(crate) struct ConversationLoop {
    pub(crate) session: Session,
    /// Computes the sections of the system prompt that change with every turn; `None` where no section does.
    pub(crate) prefix_builder: Option<Arc<PrefixBuilder>>,
    pub(crate) tool_executor: ToolExecutor,
    /// Loads memory files of the folders in which the model reads.
    pub(crate) nested_memory: NestedMemory,
    pub(crate) role: LoopRole,
    pub(crate) arrivals: Option<ArrivalsFn>,
    /// Tools that come while the conversation goes on.
    pub(crate) late_tools: LateToolArrivals,
    /// The approximate token counts of the request prefix.
    pub(crate) prefix_tokens: PrefixTokenCounts,
    /// Publishes the session's state to the agent's handle.
    pub(crate) observed: Option<ObservedSession>,
    /// The maximum number of replies to one prompt.
    pub(crate) max_turns: Option<u32>,
    /// The maximum cost of the session.
    pub(crate) max_cost: Option<Usd>,
    /// The number of replies to the prompt so far.
    pub(crate) turns: u32,
    /// The number of calls made for the prompt so far.
    pub(crate) calls: usize,
    /// The text of the model's last reply.
    pub(crate) last_text: String,
    /// Why the model did not answer the prompt, if that is how the work on it ended.
    pub(crate) failed: Option<EffectFailureKind>,
}

/// What follows a turn.
enum AfterTurn {
    GoOn,
    End(PromptOutcome),
}

impl ConversationLoop {
    /// Adds the new entries and works until the prompt is answered.
    pub(crate) async fn work(
        &mut self,
        entries: Vec<NewEntry>,
        cancel: &CancellationToken,
    ) -> PromptOutcome {
        self.turns = 0;
        self.calls = 0;
        self.last_text.clear();
        self.failed = None;
        if let Err(error) = self.session.add(entries).await {
            return PromptOutcome::Failed(error.to_string());
        }
        if self.wait_for_tools(cancel).await.is_none() {
            return self.interrupted(words::INTERRUPTED).await;
        }
        let mut stop_held_back = false;
        loop {
            if self.max_turns.is_some_and(|most| self.turns >= most) {
                return PromptOutcome::TurnsUsedUp(self.turns);
            }
            if let Some((cost, limit)) = self.spent_all() {
                return PromptOutcome::BudgetUsedUp { cost, limit };
            }
            if let Err(error) = self.take_arrivals().await {
                return PromptOutcome::Failed(error.to_string());
            }
            self.refresh_prompt();
            if let Err(error) = self.take_late_tools().await {
                return PromptOutcome::Failed(error.to_string());
            }
            let reply = match self.session.turn().await {
                Ok(reply) => reply,
                Err(_) if cancel.is_cancelled() => {
                    return self.interrupted(words::INTERRUPTED).await;
                }
                Err(TurnError::Refused(sentence)) => return PromptOutcome::Refused(sentence),
                Err(error) => {
                    if let TurnError::Failed(failed) = &error {
                        self.failed = Some(failed.kind);
                    }
                    return PromptOutcome::Failed(error.to_string());
                }
            };
            self.turns += 1;
            self.send_status();
            match self.replied(&reply, &mut stop_held_back, cancel).await {
                AfterTurn::GoOn => {}
                AfterTurn::End(ended) => return ended,
            }
        }
    }

    /// The cost of the session and the limit of it, if that has been reached.
    fn spent_all(&self) -> Option<(Usd, Usd)> {
        let limit = self.max_cost?;
        let cost = self.observed.as_ref()?.account.spent_since_opened().cost?;
        (cost >= limit).then_some((cost, limit))
    }

    /// Recomputes the sections that are declared to change with every turn (A2). If that fails, the turn continues with
    /// the old prompt.
    fn refresh_prompt(&mut self) {
        let Some(heads) = &self.prefix_builder else {
            return;
        };
        let refused = match heads.next_turn() {
            Ok(None) => return,
            Ok(Some(prompt)) => match self.session.set_prompt(&prompt) {
                Ok(()) => return,
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        tracing::warn!("the system prompt stays as it was: {refused}");
    }

    async fn replied(
        &mut self,
        reply: &Reply,
        stop_held_back: &mut bool,
        cancel: &CancellationToken,
    ) -> AfterTurn {
        self.last_text = reply.text();
        if let LoopRole::Main = self.role {
            let message = serde_json::from_slice(&reply.message_json()).unwrap_or(Value::Null);
            self.tool_executor
                .event_sink
                .send(AgentEvent::Replied(message));
        }
        let calls = wanted(reply);
        if !calls.is_empty() {
            self.calls += calls.len();
            return self.call(&calls, cancel).await;
        }
        match reply.stop {
            Some(StopReason::PauseTurn) if !cancel.is_cancelled() => return AfterTurn::GoOn,
            Some(StopReason::MaxTokens) => {
                self.notice("The reply was cut off: it reached the maximum length of a reply.");
            }
            Some(StopReason::ContextWindowExceeded) => self.notice(
                "The reply was cut off: the context window was full. The conversation is compacted before the next request.",
            ),
            Some(StopReason::Refusal) => self.notice("The model declined to answer."),
            _ => {}
        }
        if cancel.is_cancelled() {
            return AfterTurn::End(PromptOutcome::Done);
        }
        self.may_stop(stop_held_back).await
    }

    async fn call(&mut self, calls: &[RequestedCall], cancel: &CancellationToken) -> AfterTurn {
        let (handled, written) = self.run_calls(calls, cancel).await;
        let live = self.session.engine().live();
        let memory = self.nested_memory.find(calls, &handled.outputs, live);
        let memory = self.nested_memory.attachments(memory).await;
        let attachments = memory.into_iter().chain(handled.attachments);
        let attachments: Vec<NewEntry> = attachments.map(NewEntry::Attachment).collect();
        let added = match attachments.is_empty() {
            true => Ok(()),
            false => self.session.add(attachments).await,
        };
        if let Err(error) = written.and(added) {
            return AfterTurn::End(PromptOutcome::Failed(error.to_string()));
        }
        self.send_status();
        AfterTurn::End(match handled.stop {
            None => return AfterTurn::GoOn,
            Some(StopCause::User) => self.interrupted(words::INTERRUPTED_TOOLS).await,
            Some(StopCause::Hook(reason)) => {
                self.notice(&reason);
                PromptOutcome::Done
            }
        })
    }

    /// Runs calls while the session's background work continues. Each result is on disk before the next call that may
    /// change something begins: what was done must not be forgotten if the program ends in the middle (Y7).
    async fn run_calls(
        &mut self,
        calls: &[RequestedCall],
        cancel: &CancellationToken,
    ) -> (ExecutedCalls, Result<(), TurnError>) {
        let (finished, mut results) = unbounded_channel();
        let run = self.tool_executor.run(calls, cancel, finished);
        tokio::pin!(run);
        let mut under_way = true;
        let mut written = Ok(());
        loop {
            tokio::select! {
                biased;
                Some(output) = results.recv() => {
                    let added = self.session.add(vec![NewEntry::ToolResults(vec![output])]).await;
                    written = written.and(added);
                }
                handled = &mut run => {
                    while let Ok(output) = results.try_recv() {
                        let added = self.session.add(vec![NewEntry::ToolResults(vec![output])]).await;
                        written = written.and(added);
                    }
                    return (handled, written);
                }
                () = self.session.drive_background(), if under_way => under_way = false,
            }
        }
    }

    /// How hard the model thinks, as requests say.
    pub(crate) fn effort(&self) -> EffortSetting {
        EffortSetting::of_prefix(self.session.engine().prefix())
    }

    /// Lets the model think in another way from the next request on. Returns sentences about what it does not take.
    pub(crate) fn set_thinking(
        &mut self,
        think: ThinkingChoice,
        effort: Option<EffortLevel>,
    ) -> Result<Vec<String>, ParameterError> {
        let notices = self.session.set_thinking(think, effort)?;
        if let Some(prefixes) = &self.prefix_builder {
            prefixes.thinking_changed();
        }
        Ok(notices)
    }

    pub(crate) fn send_status(&self) {
        if let Some(watched) = &self.observed {
            watched.tell(&self.session);
        }
    }

    /// Runs the stop hooks, which may delay the end once (K1).
    async fn may_stop(&mut self, held_back: &mut bool) -> AfterTurn {
        let last = (!self.last_text.is_empty()).then(|| self.last_text.clone());
        let event = match &self.role {
            LoopRole::Main => HookEvent::Stop {
                stop_hook_active: *held_back,
                last_assistant_message: last,
            },
            LoopRole::Sub {
                id,
                kind,
                transcript,
            } => HookEvent::SubagentStop {
                stop_hook_active: *held_back,
                agent_id: id.clone(),
                agent_type: kind.clone(),
                agent_transcript_path: transcript.clone(),
                last_assistant_message: last,
            },
        };
        let HookResponse { blocked, stop, .. } =
            self.tool_executor.hook_runner.run_hooks(event).await;
        match blocked {
            Some(reason) if stop.is_none() && !*held_back => {
                *held_back = true;
                let entry = NewEntry::User {
                    content: Value::String(words::stop_hook(&reason.text)),
                    shown: ShownTo::ToNobody,
                };
                match self.session.add(vec![entry]).await {
                    Ok(()) => AfterTurn::GoOn,
                    Err(error) => AfterTurn::End(PromptOutcome::Failed(error.to_string())),
                }
            }
            _ => AfterTurn::End(PromptOutcome::Done),
        }
    }

    async fn take_arrivals(&mut self) -> Result<(), TurnError> {
        let arrived = self.arrivals.as_ref().map(|arrivals| arrivals());
        match arrived {
            Some(arrived) if !arrived.is_empty() => {
                let entries = arrived.into_iter().map(NewEntry::Attachment).collect();
                self.session.add(entries).await
            }
            _ => Ok(()),
        }
    }

    /// Records in the conversation that the user stopped the work. The conversation is valid as it is.
    async fn interrupted(&mut self, marker: &str) -> PromptOutcome {
        let entry = NewEntry::User {
            content: json!([{"type": "text", "text": marker}]),
            shown: ShownTo::ToUser,
        };
        match self.session.add(vec![entry]).await {
            Ok(()) => PromptOutcome::Cancelled,
            Err(error) => PromptOutcome::Failed(error.to_string()),
        }
    }

    fn notice(&self, sentence: &str) {
        if let LoopRole::Main = self.role {
            self.tool_executor.event_sink.notice(sentence);
        }
    }
}
