//! Performs the engine's effects.

use std::path::PathBuf;
use std::time::Duration;

use longhaul_core::engine::{
    Effect, EffectId, Event, Failed, FailedKind, HookCall, HookOutcome, Input, ModelReply, Outcome,
    Outgoing, SummaryReply,
};
use longhaul_core::micro::native::Applied;
use longhaul_core::summary::Stop;
use longhaul_provider::{AppliedEdit, Error, Reply, StopReason, StreamEvent};

use super::Session;
use crate::cache_breaks::CacheBreaks;
use crate::hooks::{self, Common, HookEvent, HookInput, StartSource, Trigger};
use crate::keeper::Archived;
use crate::model::failed;
use crate::workspace::Wanted;

/// What hooks are told about the session.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    pub(super) session_id: String,
    pub(super) transcript: PathBuf,
    pub(super) cwd: PathBuf,
    /// Where output of hooks goes that is too long for the conversation.
    pub(super) overflow: Option<PathBuf>,
    /// Where diffs of cache breaks go.
    pub(super) cache_breaks: Option<PathBuf>,
}

impl Session {
    /// Feeds an input and performs what follows from it, until nothing is left to do.
    pub(super) async fn run(&mut self, input: Input) {
        self.engine.handle(input, self.clock.now());
        while let Some(effect) = self.engine.poll() {
            let Some((id, outcome)) = self.perform(effect).await else {
                continue;
            };
            let now = self.clock.now();
            self.engine.handle(Input::Done { id, outcome }, now);
        }
    }

    async fn perform(&mut self, effect: Effect) -> Option<(EffectId, Outcome)> {
        Some(match effect {
            Effect::Persist { id, lines } => {
                let outcome = match self.keeper.persist(&lines) {
                    Ok(offset) => Outcome::Persisted { offset },
                    Err(error) => other(error.to_string()),
                };
                (id, outcome)
            }
            Effect::Archive {
                id,
                entries,
                results,
            } => {
                let outcome = match self.keeper.archive(entries, results) {
                    Ok(Archived::InArchive) => Outcome::Archived,
                    Ok(Archived::InTranscript) => Outcome::NoArchive,
                    Err(error) => {
                        tracing::warn!(%error, "not archived");
                        other(error.to_string())
                    }
                };
                (id, outcome)
            }
            Effect::Send { id, request } => (id, self.send(request).await),
            Effect::Summarize { id, request, .. } => (id, self.summarize(request).await),
            Effect::Gather { id, files, kept } => {
                let wanted = Wanted { files, kept };
                let gathered = self.workspace.gather(&wanted).await;
                (id, Outcome::Gathered(Box::new(gathered)))
            }
            Effect::RunHooks { id, call, .. } => {
                (id, Outcome::HooksRan(self.run_hooks(call).await))
            }
            Effect::TakeNotes { id, .. } | Effect::ReadNotes { id } => {
                (id, other("there are no notes".to_owned()))
            }
            // Whatever was under way has ended when the engine is asked: effects are performed one after the other.
            Effect::Cancel { .. } => return None,
            Effect::Notify(event) => {
                self.told(&event);
                return None;
            }
        })
    }

    fn told(&mut self, event: &Event) {
        if let (Event::CacheBreak(finding), Some(folder)) = (event, &self.about.cache_breaks) {
            let told = CacheBreaks::below(folder).tell(finding);
            tracing::info!("{}", told.sentence);
        }
        crate::telemetry::record(event);
        self.note(event);
        self.observer.event(event);
    }

    async fn send(&mut self, request: Outgoing) -> Outcome {
        let observer = self.observer.clone();
        let mut on_stream = move |event: &StreamEvent| observer.stream(event);
        let cancel = self.canceller();
        let sent = self.model.send(request, &mut on_stream, cancel).await;
        match sent.and_then(model_reply) {
            Ok((reply, for_engine)) => {
                self.came.reply = Some(reply);
                Outcome::Replied(Box::new(for_engine))
            }
            Err(error) => Outcome::Failed(failed(&error)),
        }
    }

    /// Asks for a summary; meanwhile the status is repeated when the engine wants it (F8).
    async fn summarize(&mut self, request: Outgoing) -> Outcome {
        let observer = self.observer.clone();
        let mut characters = 0;
        let mut on_stream = move |event: &StreamEvent| {
            if let StreamEvent::Text { text, .. } = event {
                characters += text.len();
                observer.summarising(characters);
            }
        };
        let cancel = self.canceller();
        let model = self.model.clone();
        let mut sent = model.send(request, &mut on_stream, cancel);
        let answer = loop {
            let deadline = self.engine.deadline();
            let wait = deadline.map(|at| self.clock.now().duration_until(at));
            let wait = wait.map_or(Duration::from_secs(30), |wait| {
                Duration::try_from(wait).unwrap_or_default()
            });
            tokio::select! {
                answer = &mut sent => break answer,
                () = tokio::time::sleep(wait.max(Duration::from_millis(50))) => {
                    self.engine.handle(Input::Wake, self.clock.now());
                    while let Some(effect) = self.engine.poll() {
                        if let Effect::Notify(event) = effect {
                            self.told(&event);
                        }
                    }
                }
            }
        };
        match answer {
            Ok(reply) => Outcome::Summarized(Box::new(SummaryReply {
                message: serde_json::from_slice(&reply.message_json()).ok(),
                text: reply.text(),
                calls: reply.tool_calls().count(),
                stop: match reply.stop {
                    Some(StopReason::MaxTokens) | None => Stop::CutOff,
                    Some(StopReason::ContextWindowExceeded) => Stop::WindowFull,
                    Some(StopReason::ToolUse) => Stop::ToolUse,
                    Some(StopReason::Refusal) => Stop::Refusal,
                    Some(_) => Stop::Finished,
                },
                usage: Some(reply.usage),
            })),
            Err(error) => Outcome::Failed(failed(&error)),
        }
    }

    async fn run_hooks(&mut self, call: HookCall) -> HookOutcome {
        let trigger = |name: &str| match name {
            "manual" => Trigger::Manual,
            _ => Trigger::Auto,
        };
        let event = match call {
            HookCall::PreCompact {
                trigger: name,
                instructions,
            } => HookEvent::PreCompact {
                trigger: trigger(name),
                custom_instructions: instructions,
            },
            HookCall::SessionStart => HookEvent::SessionStart {
                source: StartSource::Compact,
                model: Some(self.spec.id.clone()),
                session_title: None,
                seconds_since_last_response: None,
                context_tokens: None,
                prompt_cache_likely_expired: None,
                estimated_cache_write_usd: None,
            },
            HookCall::PostCompact {
                trigger: name,
                summary,
            } => HookEvent::PostCompact {
                trigger: trigger(name),
                compact_summary: summary,
            },
        };
        let common = Common {
            session_id: self.about.session_id.clone(),
            transcript_path: self.about.transcript.clone(),
            cwd: self.about.cwd.clone(),
            ..Common::default()
        };
        let mut call = hooks::HookCall::new(HookInput { common, event });
        call = call.with_cancel(self.canceller());
        if let Some(folder) = &self.about.overflow {
            call = call.with_overflow(folder);
        }
        let outcome = self.hooks.run(&call).await;
        for error in &outcome.errors {
            tracing::warn!("{error}");
        }
        HookOutcome {
            blocked: outcome.blocked.map(|reason| reason.text),
            instructions: outcome.instructions,
            context: outcome.context,
        }
    }
}

fn other(message: String) -> Outcome {
    Outcome::Failed(Failed {
        kind: FailedKind::Other,
        message,
    })
}

fn model_reply(reply: Reply) -> Result<(Reply, ModelReply), Error> {
    let message = serde_json::from_slice(&reply.message_json());
    let message = message.map_err(|error| {
        let class = longhaul_provider::ErrorClass::Malformed;
        Error::new(class, format!("the reply cannot be kept: {error}"))
    })?;
    let applied = reply.applied_edits.iter().fold(Applied::default(), sum);
    let for_engine = ModelReply {
        message,
        usage: reply.usage.clone(),
        request_id: reply.request_id.clone(),
        applied,
    };
    Ok((reply, for_engine))
}

fn sum(sum: Applied, edit: &AppliedEdit) -> Applied {
    match edit {
        AppliedEdit::ToolUses { cleared, tokens } => Applied {
            tool_uses: sum.tool_uses + cleared,
            input_tokens: sum.input_tokens + tokens,
            ..sum
        },
        AppliedEdit::Thinking { turns, tokens } => Applied {
            thinking_turns: sum.thinking_turns + turns,
            input_tokens: sum.input_tokens + tokens,
            ..sum
        },
        AppliedEdit::Other(_) => sum,
    }
}
