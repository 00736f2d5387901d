//! Runs the calls of a reply (Q1): those that only look side by side, the others one after the other, each past hooks and
//! permissions. Every call gets a result, whatever happens; the results keep the order of the calls.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use longhaul::Boxed;
use longhaul::hooks::{HookEvent, Permission};
use longhaul_core::engine::ToolOutput;
use longhaul_provider::{CancellationToken, Reply};
use serde_json::Value;
use tokio::sync::{Mutex, oneshot};

use super::detail::detail;
use super::gate::{Gate, Judged, Lasting};
use super::ring::{Ringer, hook_context};
use super::tell::Teller;
use super::words;
use crate::event::{AgentEvent, Answer, Denied, Question};
use crate::tool::{Call, Guard, Output, Tool, Toolbox};

/// The most calls that run side by side.
const SIDE_BY_SIDE: usize = 10;
/// How long a stopped tool may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// A call that the model wants made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) id: String,
    pub(crate) name: String,
    /// None: it is no object.
    pub(crate) input: Option<Value>,
}

/// Who is told of calls.
#[derive(Clone)]
pub(crate) enum Shown {
    /// Whoever watches the agent.
    Calls,
    /// Nobody but who watches the call of the sub-agent.
    Progress(Arc<dyn Fn(&str) + Send + Sync>),
}

/// Runs calls.
#[derive(Clone)]
pub(crate) struct Hands {
    pub(crate) toolbox: Toolbox,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) ringer: Ringer,
    pub(crate) teller: Teller,
    pub(crate) shown: Shown,
    /// People are asked one thing at a time.
    pub(crate) asking: Arc<Mutex<()>>,
}

/// What the calls of a reply came to.
#[derive(Debug, Default)]
pub(crate) struct Handled {
    /// A result for each call, in the order of the calls.
    pub(crate) outputs: Vec<ToolOutput>,
    /// What hooks want the model to know.
    pub(crate) attachments: Vec<Value>,
    /// Why the work ends behind them.
    pub(crate) stop: Option<Stop>,
}

/// Why the work ends behind calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The user stopped it, or said no without saying what to do instead.
    User,
    /// A hook wants it to end.
    Hook(String),
}

struct Done {
    output: Output,
    context: Vec<Value>,
    stop: Option<Stop>,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            output,
            context: Vec::new(),
            stop: None,
        }
    }
}

/// What becomes of a call before it runs.
enum Verdict {
    /// With this input.
    Run(Value, Guard),
    Not(Done),
}

/// The calls of a reply.
pub(crate) fn wanted(reply: &Reply) -> Vec<Wanted> {
    let calls = reply.tool_calls().map(|call| {
        let input: Option<Value> = serde_json::from_slice(call.input).ok();
        // What the provider wrote is wrapped where it is no JSON.
        let input = input.filter(|input| input.is_object() && input.get("INVALID_JSON").is_none());
        Wanted {
            id: call.id.into_owned(),
            name: call.name.into_owned(),
            input,
        }
    });
    calls.collect()
}

impl Hands {
    /// Runs calls. When the token is cancelled, what runs is stopped and what has not begun is not run.
    pub(crate) async fn run(&self, calls: &[Wanted], cancel: &CancellationToken) -> Handled {
        let mut handled = Handled::default();
        for batch in self.batches(calls) {
            let halted = handled.stop.is_some() || cancel.is_cancelled();
            let done: Vec<Done> = match halted {
                true => batch
                    .iter()
                    .map(|_| Output::error(words::not_run()).into())
                    .collect(),
                false => {
                    let mut runs: Vec<Boxed<'_, Done>> = Vec::with_capacity(batch.len());
                    for call in batch {
                        runs.push(Box::pin(self.one(call, cancel)));
                    }
                    stream::iter(runs).buffered(SIDE_BY_SIDE).collect().await
                }
            };
            for (call, done) in batch.iter().zip(done) {
                if halted {
                    self.ended(call, &done.output);
                }
                handled.outputs.push(ToolOutput {
                    tool_use_id: call.id.clone(),
                    content: done.output.content,
                    is_error: done.output.is_error,
                });
                handled.attachments.extend(done.context);
                handled.stop = handled.stop.take().or(done.stop);
            }
        }
        if cancel.is_cancelled() {
            handled.stop = Some(Stop::User);
        }
        handled
    }

    /// Neighbours that only look go together.
    fn batches<'c>(&self, calls: &'c [Wanted]) -> Vec<&'c [Wanted]> {
        let looks = |call: &Wanted| {
            let tool = self.toolbox.find(&call.name).zip(call.input.as_ref());
            // A call that cannot run changes nothing either.
            tool.is_none_or(|(tool, input)| tool.access(input).is_read_only())
        };
        calls
            .chunk_by(|one, next| looks(one) && looks(next))
            .collect()
    }

    async fn one(&self, call: &Wanted, cancel: &CancellationToken) -> Done {
        let tool = self.toolbox.find(&call.name);
        let empty = Value::Null;
        let input = call.input.as_ref().unwrap_or(&empty);
        let line = tool.map_or_else(String::new, |tool| tool.line(input));
        self.started(call, &line, input);
        let done = match (tool, &call.input) {
            (None, _) => {
                let names: Vec<&str> = self.toolbox.names().collect();
                Output::error(words::unknown_tool(&call.name, &names.join(", "))).into()
            }
            (Some(_), None) => Output::error(words::bad_input()).into(),
            (Some(tool), Some(input)) => self.permitted(tool, call, input, cancel).await,
        };
        self.ended(call, &done.output);
        done
    }

    /// Past hooks and permissions, and then the tool.
    async fn permitted(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Wanted,
        input: &Value,
        cancel: &CancellationToken,
    ) -> Done {
        let before = self
            .ringer
            .ring(HookEvent::PreToolUse {
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
            .map(|reason| Stop::Hook(reason.text.clone()));
        if before.blocked.is_some() || before.permission == Some(Permission::Deny) {
            let reason = before.blocked.map(|reason| reason.text).unwrap_or_default();
            let told = match reason.is_empty() {
                true => "a hook forbids it",
                false => &reason,
            };
            self.denied(tool, call, input, told);
            return Done {
                output: Output::error(words::hook_denied(&reason)),
                context,
                stop: hook_stop,
            };
        }
        let input = before.updated_input.unwrap_or_else(|| input.clone());
        let verdict = tokio::select! {
            biased;
            () = cancel.cancelled() => Verdict::Not(Output::error(words::not_run()).into()),
            verdict = self.judge(tool, call, input, before.permission) => verdict,
        };
        let mut done = match verdict {
            Verdict::Not(done) => done,
            Verdict::Run(input, guard) => self.performed(tool, call, input, guard, cancel).await,
        };
        context.append(&mut done.context);
        done.context = context;
        done.stop = done.stop.or(hook_stop);
        done
    }

    /// Whether the call may run; the user is asked where that is open.
    async fn judge(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Wanted,
        input: Value,
        hooks: Option<Permission>,
    ) -> Verdict {
        let access = tool.access(&input);
        let judged = self.gate.judge(&call.name, &input, &access);
        let (reason, rule) = match (judged, hooks) {
            // A hook may not allow what a rule forbids.
            (Judged::Deny { reason }, _) => {
                self.denied(tool, call, &input, &reason);
                return Verdict::Not(Output::error(words::denied(&reason)).into());
            }
            (_, Some(Permission::Allow)) => return Verdict::Run(input, Guard::Nothing),
            (Judged::Allow, None) => return Verdict::Run(input, self.gate.guard(&access)),
            (Judged::Ask { reason, rule }, _) => (reason, rule),
            (Judged::Allow, Some(_)) => ("a hook wants you to decide".to_owned(), None),
        };
        let _one_at_a_time = self.asking.lock().await;
        // Meanwhile the user may have agreed to a rule that covers this call.
        if hooks.is_none() && self.gate.judge(&call.name, &input, &access) == Judged::Allow {
            return Verdict::Run(input, self.gate.guard(&access));
        }
        if let Some(verdict) = self.answered_by_hook(tool, call, &input).await {
            return verdict;
        }
        let (answer, answered) = oneshot::channel();
        self.teller.tell(AgentEvent::Asks(Question {
            id: call.id.clone(),
            name: call.name.clone(),
            line: tool.line(&input),
            detail: match tool.detail(&input) {
                said if said.is_empty() => detail(&input, &access),
                said => said,
            },
            access,
            reason: reason.clone(),
            rule: rule.clone(),
            answer,
        }));
        let lasting = match answered.await {
            Err(_) => {
                self.denied(tool, call, &input, &reason);
                return Verdict::Not(Output::error(words::unasked(&reason)).into());
            }
            Ok(Answer::No(said)) => {
                let stop = said.is_none().then_some(Stop::User);
                return Verdict::Not(Done {
                    stop,
                    ..Output::error(words::refused(said.as_deref())).into()
                });
            }
            Ok(Answer::Once) => None,
            Ok(Answer::Session) => Some(Lasting::Session),
            Ok(Answer::Project) => Some(Lasting::Project),
        };
        if let Some((rule, lasting)) = rule.zip(lasting)
            && let Err(sentence) = self.gate.remember(&rule, lasting)
        {
            self.teller.notice(sentence);
        }
        Verdict::Run(input, Guard::Nothing)
    }

    /// A hook may answer in the user's place (K1). None: the user is asked.
    async fn answered_by_hook(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Wanted,
        input: &Value,
    ) -> Option<Verdict> {
        let heard = self
            .ringer
            .ring(HookEvent::PermissionRequest {
                tool_name: call.name.clone(),
                tool_input: input.clone(),
                tool_use_id: call.id.clone(),
            })
            .await;
        if heard.blocked.is_some() || heard.permission == Some(Permission::Deny) {
            let reason = heard.blocked.map(|reason| reason.text).unwrap_or_default();
            self.denied(tool, call, input, &reason);
            let output = Output::error(words::hook_denied(&reason));
            return Some(Verdict::Not(output.into()));
        }
        if heard.permission != Some(Permission::Allow) {
            return None;
        }
        let input = heard.updated_input.unwrap_or_else(|| input.clone());
        // A hook may not allow what a rule forbids, whatever it makes of the input.
        match self.gate.judge(&call.name, &input, &tool.access(&input)) {
            Judged::Deny { reason } => {
                self.denied(tool, call, &input, &reason);
                Some(Verdict::Not(Output::error(words::denied(&reason)).into()))
            }
            _ => Some(Verdict::Run(input, Guard::Nothing)),
        }
    }

    async fn performed(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Wanted,
        input: Value,
        guard: Guard,
        cancel: &CancellationToken,
    ) -> Done {
        let began = Instant::now();
        let mut output = self.perform(tool, call, input.clone(), guard, cancel).await;
        if cancel.is_cancelled() {
            return output.into();
        }
        let after = self
            .ringer
            .ring(HookEvent::PostToolUse {
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
        Done {
            output,
            context: hook_context("PostToolUse", &after.context)
                .into_iter()
                .collect(),
            stop: after.stop.map(|reason| Stop::Hook(reason.text)),
        }
    }

    async fn perform(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Wanted,
        input: Value,
        guard: Guard,
        cancel: &CancellationToken,
    ) -> Output {
        let (teller, shown, id) = (self.teller.clone(), self.shown.clone(), call.id.clone());
        let one = Call {
            id: call.id.clone(),
            // Of its own: a tool that ends itself early ends nothing else.
            cancel: cancel.child_token(),
            progress: Arc::new(move |text| match &shown {
                Shown::Calls => teller.tell(AgentEvent::ToolProgress {
                    id: id.clone(),
                    text: text.to_owned(),
                }),
                Shown::Progress(progress) => progress(text),
            }),
            guard,
        };
        let run = AssertUnwindSafe(tool.run(input, &one)).catch_unwind();
        tokio::pin!(run);
        let ran = tokio::select! {
            biased;
            ran = &mut run => ran,
            () = cancel.cancelled() => {
                // It is told; what it leaves running is dropped with it.
                let _ = tokio::time::timeout(GRACE, &mut run).await;
                return Output::error(words::interrupted());
            }
        };
        let output = ran.unwrap_or_else(|_| {
            tracing::error!(tool = call.name, "a tool panicked");
            Output::error(words::crashed())
        });
        match output.is_error && cancel.is_cancelled() {
            true => stopped(output),
            false => output,
        }
    }

    /// Told whoever made the call, the agent or a sub-agent: nobody else would learn of it.
    fn denied(&self, tool: &Arc<dyn Tool>, call: &Wanted, input: &Value, reason: &str) {
        self.teller.tell(AgentEvent::Denied(Denied {
            id: call.id.clone(),
            name: call.name.clone(),
            line: tool.line(input),
            input: input.clone(),
            reason: reason.to_owned(),
        }));
    }

    fn started(&self, call: &Wanted, line: &str, input: &Value) {
        match &self.shown {
            Shown::Calls => self.teller.tell(AgentEvent::ToolStarted {
                id: call.id.clone(),
                name: call.name.clone(),
                line: line.to_owned(),
                input: input.clone(),
            }),
            Shown::Progress(progress) => progress(&format!("{} {line}", call.name)),
        }
    }

    fn ended(&self, call: &Wanted, output: &Output) {
        if let Shown::Calls = self.shown {
            self.teller.tell(AgentEvent::ToolEnded {
                id: call.id.clone(),
                output: output.clone(),
            });
        }
    }
}

/// What a tool that was stopped had to say.
fn stopped(output: Output) -> Output {
    let mut text = words::interrupted();
    if let Some(said) = output
        .content
        .as_str()
        .filter(|said| !said.trim().is_empty())
    {
        text = format!("{text}\n\n{said}");
    }
    Output::error(text).with_detail(output.detail)
}
