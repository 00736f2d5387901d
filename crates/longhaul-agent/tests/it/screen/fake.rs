//! A host that does what a prompt's first word says. It has no model, no files and no conversation.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul::Boxed;
use longhaul_agent::event::{
    AgentEvent, AgentStatus, ApprovalAnswer, ApprovalMode, ApprovalRequest, PromptOutcome,
    TodoItem, TodoStatus,
};
use longhaul_agent::files::RestorableState;
use longhaul_agent::screen::{
    CommandItem, CompactionReply, CompactionStep, HookItem, HostRefusal, HostRequest, PlannedFile,
    RewindPlan, RewindReply, RewindScope, ScreenHost, ShellResult,
};
use longhaul_agent::tool::{ToolAccess, ToolCallOutput};
use longhaul_core::engine::{
    CompactFailure, CompactionPhase, CompactionSuccess, Event, PreviewedSummary, Summarizer,
};
use longhaul_core::message::Usage;
use longhaul_core::micro::MicroClearingReason;
use longhaul_core::money::Usd;
use longhaul_core::plan::Recompaction;
use longhaul_core::window::WindowLevel;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Mutex as Turn, oneshot};
use tokio_util::sync::CancellationToken;

use super::fake_data::{context, cost, messages, models, report, sessions, transcript};

/// The fake host.
pub(crate) struct Fake(Arc<Inner>);

struct Inner {
    events: UnboundedSender<AgentEvent>,
    cancel: Mutex<CancellationToken>,
    turn: Turn<()>,
    mode: Mutex<ApprovalMode>,
    /// Called when the host has finished.
    finished: Box<dyn Fn() + Send + Sync>,
}

impl Fake {
    pub(crate) fn new(
        events: UnboundedSender<AgentEvent>,
        finished: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let inner = Inner {
            events,
            cancel: Mutex::default(),
            turn: Turn::default(),
            mode: Mutex::default(),
            finished: Box::new(finished),
        };
        inner.glance(42, WindowLevel::Ok);
        Self(Arc::new(inner))
    }
}

impl ScreenHost for Fake {
    fn ask(&self, ask: HostRequest) {
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move { inner.answer(ask).await });
    }

    fn cancel(&self) {
        self.0.cancel.lock().unwrap().cancel();
    }

    fn set_mode(&self, mode: ApprovalMode) {
        *self.0.mode.lock().unwrap() = mode;
        self.0.glance(42, WindowLevel::Ok);
    }

    fn finish(&self) -> Boxed<'_, ()> {
        Box::pin(async { (self.0.finished)() })
    }
}

fn text(text: &str) -> AgentEvent {
    AgentEvent::Text(text.to_owned())
}

impl Inner {
    fn tell(&self, event: AgentEvent) {
        let _ = self.events.send(event);
    }

    fn engine(&self, event: Event) {
        self.tell(AgentEvent::Engine(event));
    }

    fn glance(&self, percent_left: u64, level: WindowLevel) {
        self.tell(AgentEvent::Glance(AgentStatus {
            effort: longhaul_agent::EffortSetting::Model,
            model: "claude-sonnet-4-6".to_owned(),
            backend: longhaul_agent::offline::ModelBackend::Provider,
            used: 97_000,
            limit: 167_000,
            prefix: 0,
            percent_left,
            level,
            cost: Some(Usd::from_pico(1_230_000_000_000)),
            usage: Usage::default(),
            cache_hit_rate: Some(0.914),
            mode: *self.mode.lock().unwrap(),
        }));
    }

    fn token(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.cancel.lock().unwrap() = token.clone();
        token
    }

    async fn answer(&self, ask: HostRequest) {
        let refused = || {
            Err(HostRefusal(
                "there is no such session; /resume lists them".to_owned(),
            ))
        };
        match ask {
            HostRequest::Prompt(text, reply) | HostRequest::PromptWithPictures(text, _, reply) => {
                let _turn = self.turn.lock().await;
                let ended = self.prompt(&text).await;
                self.tell(AgentEvent::Ended(ended));
                let _ = reply.send(Ok(()));
            }
            HostRequest::Command {
                name,
                arguments,
                reply,
            } => {
                self.tell(text(&format!("Command {name} with {arguments:?}.")));
                self.tell(AgentEvent::Ended(PromptOutcome::Done));
                let _ = reply.send(Ok(()));
            }
            HostRequest::Compact(ask, reply) => {
                let _turn = self.turn.lock().await;
                let token = self.token();
                let slowly = ask.instructions.as_deref() == Some("slowly");
                let kept = ask.keep;
                let done = match ask.step {
                    CompactionStep::Preview => self.preview(&token, slowly, kept).await,
                    CompactionStep::Approved(summary) => {
                        self.compacted(&summary);
                        Ok(CompactionReply::Done)
                    }
                };
                let _ = reply.send(done);
            }
            HostRequest::Rewind(ask, reply) => {
                let done = RewindReply {
                    text: (ask.scope != RewindScope::Files)
                        .then(|| format!("said in {}", ask.uuid)),
                    files: (ask.scope != RewindScope::Conversation)
                        .then(|| format!("2 files restored ({:?})", ask.conflicts)),
                };
                let _ = reply.send(Ok(done));
            }
            HostRequest::Shell(command, reply) => {
                let ran = ShellResult {
                    output: format!("ran {command}\nsecond line"),
                    lines: 2,
                    is_error: command == "false",
                    line: "exit code 1".to_owned(),
                };
                let _ = reply.send(Ok(ran));
            }
            HostRequest::Page(page, reply) => {
                let _ = reply.send(Ok(format!("The page {page:?}\n  with a line\n")));
            }
            HostRequest::Export(name, reply) => {
                let _ = reply.send(Ok(format!("the conversation is in {name}")));
            }
            HostRequest::RewindPlan(uuid, reply) => {
                let file = |name: &str, state| PlannedFile {
                    name: name.to_owned(),
                    state,
                };
                let files = match &*uuid {
                    "m1" => vec![
                        file("src/lexer.rs", RestorableState::AsLeft),
                        file("src/parser.rs", RestorableState::ChangedSince),
                    ],
                    _ => Vec::new(),
                };
                let plan = RewindPlan {
                    commands: files.len(),
                    files,
                    summarizes_from: true,
                    summarizes_up_to: uuid != "m1",
                };
                let _ = reply.send(Ok(plan));
            }
            HostRequest::UndoCompaction(reply) => {
                let _ = reply.send(Ok(
                    "the compaction is undone: 167,204 tokens again".to_owned()
                ));
            }
            HostRequest::Resume(id, reply) => {
                let _ = reply.send(if id == "gone" { refused() } else { Ok(()) });
            }
            HostRequest::Clear(reply) => {
                let _ = reply.send(Ok(()));
            }
            HostRequest::SwitchModel(_, reply) => {
                let _ = reply.send(Ok(()));
            }
            HostRequest::Sessions(reply) => {
                let _ = reply.send(Ok(sessions()));
            }
            HostRequest::Models(reply) => {
                let _ = reply.send(Ok(models()));
            }
            HostRequest::Context(reply) => {
                let _ = reply.send(Ok(Box::new(context())));
            }
            HostRequest::Messages(reply) => {
                let _ = reply.send(Ok(messages()));
            }
            HostRequest::Transcript(reply) => {
                let _ = reply.send(Ok(transcript()));
            }
            HostRequest::Report(_, reply) => {
                let _ = reply.send(Ok(report().tell()));
            }
            HostRequest::Notes(reply) => {
                let _ = reply.send(Ok("# Session notes\n\n- the parser is *done*\n".to_owned()));
            }
            HostRequest::Hooks(reply) => {
                let _ = reply.send(Ok(vec![HookItem {
                    event: "PreCompact".to_owned(),
                    matcher: "manual".to_owned(),
                    command: "./save.sh".to_owned(),
                    source: ".longhaul/settings.json".to_owned(),
                }]));
            }
            HostRequest::SetEffort(_, reply) => {
                let _ = reply.send(Ok(()));
            }
            HostRequest::SetEconomy(_, reply) => {
                let _ = reply.send(Ok(()));
            }
            HostRequest::Cost(reply) => {
                let _ = reply.send(Ok(cost()));
            }
            HostRequest::Commands(reply) => {
                let _ = reply.send(Ok(vec![CommandItem {
                    name: "review".to_owned(),
                    description: "looks at the change".to_owned(),
                }]));
            }
            HostRequest::Resources(reply) => {
                let _ = reply.send(Ok(Vec::new()));
            }
        }
    }

    async fn prompt(&self, prompt: &str) -> PromptOutcome {
        let token = self.token();
        let pause = async |millis| {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(millis)) => false,
                () = token.cancelled() => true,
            }
        };
        match prompt.split_whitespace().next().unwrap_or_default() {
            "hello" => {
                for piece in [
                    "# Hello\n\nThis is **bold** and `co",
                    "de`, 漢字.\n\n- one\n- t",
                    "wo\n",
                ] {
                    self.tell(text(piece));
                }
            }
            "measure" => {
                let (lines, bytes) = (prompt.lines().count(), prompt.len());
                self.tell(text(&format!("You sent {lines} lines, {bytes} bytes.")));
            }
            "forever" => {
                self.tell(text("It goes on"));
                let mut step = 0;
                while !pause(20).await {
                    step += 1;
                    self.tell(text(&format!(" and on {step}")));
                }
                return PromptOutcome::Cancelled;
            }
            "stream" => {
                for line in 1..=60 {
                    if pause(15).await {
                        return PromptOutcome::Cancelled;
                    }
                    let wide = "漢字かな ".repeat(12);
                    self.tell(text(&format!(
                        "Paragraph {line} is about {wide}and it ends.\n\n"
                    )));
                }
                self.tell(text("The stream is over."));
            }
            "tool" => return self.tools(&token).await,
            "ask" => {
                let said = self.ask_user(&token).await;
                self.tell(text(&format!("The answer was {said:?}.")));
            }
            "hostile" => self.hostile(),
            "panic" => panic!("on purpose"),
            "engine" => {
                self.engine(Event::MicroCompacted {
                    reason: MicroClearingReason::Pressure,
                    results: 7,
                    saved: 31_000,
                    calls: Vec::new(),
                });
                self.engine(Event::BreakerTripped);
                self.glance(3, WindowLevel::Blocking);
            }
            "full" => return PromptOutcome::Refused("use /compact, /rewind or /clear".to_owned()),
            _ => self.tell(text(&format!("You said {prompt:?}."))),
        }
        PromptOutcome::Done
    }

    async fn tools(&self, token: &CancellationToken) -> PromptOutcome {
        let todo = |content: &str, status| TodoItem {
            content: content.to_owned(),
            status,
            active_form: String::new(),
        };
        self.tell(AgentEvent::Thinking("First the parser, I think".to_owned()));
        self.tell(AgentEvent::Todos(vec![
            todo("Read the parser", TodoStatus::Completed),
            todo("Fix the parser", TodoStatus::InProgress),
            todo("Run the tests", TodoStatus::Pending),
        ]));
        self.tell(text("I will look at it."));
        let start = |id: &str, name: &str, line: &str| AgentEvent::ToolStarted {
            id: id.to_owned(),
            name: name.to_owned(),
            line: line.to_owned(),
            input: serde_json::Value::Null,
        };
        self.tell(start("1", "Read", "src/parser.rs (1-200)"));
        self.tell(AgentEvent::ToolEnded {
            id: "1".to_owned(),
            output: ToolCallOutput::text("…", "200 lines"),
        });
        self.tell(start("2", "Edit", "src/parser.rs"));
        let diff = "@@ -1,3 +1,3 @@\n fn main() {\n-    old();\n+    new();\n }\n";
        self.tell(AgentEvent::ToolEnded {
            id: "2".to_owned(),
            output: ToolCallOutput::text("ok", "1 change").with_detail(diff),
        });
        self.tell(start("3", "Bash", "cargo test"));
        self.tell(AgentEvent::ToolProgress {
            id: "3".to_owned(),
            text: "Compiling parser v0.1.0\nrunning 14 tests".to_owned(),
        });
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(1500)) => {}
            () = token.cancelled() => return PromptOutcome::Cancelled,
        }
        self.tell(AgentEvent::ToolEnded {
            id: "3".to_owned(),
            output: ToolCallOutput::error("Exit code 101")
                .with_line("exit code 101")
                .with_detail(
                    "test parse ... FAILED\nleft: 1\nright: 2\nmore\nmore\nmore\nmore\nmore",
                ),
        });
        self.tell(text("One test *failed*."));
        PromptOutcome::Done
    }

    async fn ask_user(&self, token: &CancellationToken) -> Option<ApprovalAnswer> {
        let (answer, said) = oneshot::channel();
        self.tell(AgentEvent::Asks(ApprovalRequest {
            id: "9".to_owned(),
            name: "Edit".to_owned(),
            line: "src/main.rs".to_owned(),
            access: ToolAccess::Writes("src/main.rs".into()),
            detail: "@@ -1 +1 @@\n-old line\n+new line\n".to_owned(),
            reason: "edits are asked for".to_owned(),
            asker: None,
            rule: Some("Edit(src/**)".to_owned()),
            answer,
        }));
        tokio::select! {
            said = said => said.ok(),
            () = token.cancelled() => None,
        }
    }

    fn hostile(&self) {
        let evil = "before\u{1b}[2J\u{1b}[1;1Hmoved\u{1b}]0;OWNED\u{7}\u{9b}31mtitle\rhidden\u{8}\u{202e}turned";
        self.tell(AgentEvent::ToolStarted {
            id: "e".to_owned(),
            name: "Evil\u{1b}[2J".to_owned(),
            line: evil.to_owned(),
            input: serde_json::Value::Null,
        });
        self.tell(AgentEvent::ToolEnded {
            id: "e".to_owned(),
            output: ToolCallOutput::error(format!("{evil}\n{evil}")),
        });
        self.tell(text(&format!("Look: {evil}\n\n```\n{evil}\n```\n")));
        self.tell(AgentEvent::Notice(evil.to_owned()));
    }

    async fn preview(
        &self,
        token: &CancellationToken,
        slowly: bool,
        kept: Option<usize>,
    ) -> Result<CompactionReply, HostRefusal> {
        self.engine(Event::Phase(Some(CompactionPhase::PreCompactHooks)));
        self.engine(Event::Phase(Some(CompactionPhase::Compacting)));
        self.tell(AgentEvent::Summarizing(1_234));
        if slowly {
            token.cancelled().await;
        }
        self.engine(Event::Phase(None));
        if token.is_cancelled() {
            self.engine(Event::CompactFailed {
                kind: CompactFailure::Cancelled,
                message: "cancelled".to_owned(),
            });
            return Err(HostRefusal("nothing was changed".to_owned()));
        }
        let kept = kept.map_or(String::new(), |kept| format!("\n\nKeeps {kept} messages."));
        Ok(CompactionReply::Preview(Box::new(PreviewedSummary {
            summary: format!("## What was done\n\nThe parser was fixed.{kept}"),
            message: String::new(),
            before: 167_204,
            after: 12_480,
            window: 12_480,
            report: report(),
            by: Summarizer::Fork,
            usage: None,
            cost: Some(Usd::from_pico(120_000_000_000)),
        })))
    }

    fn compacted(&self, summary: &str) {
        self.tell(AgentEvent::Notice(format!("summary: {}", summary.trim())));
        self.engine(Event::Compacted(Box::new(CompactionSuccess {
            trigger: longhaul_core::boundary::CompactionTrigger::Manual,
            by: Summarizer::Approved,
            pre_tokens: 167_204,
            before: 167_204,
            after: 12_480,
            window: 12_480,
            usage: None,
            cost: Some(Usd::from_pico(120_000_000_000)),
            milliseconds: 31_400,
            waited: 0,
            recompaction: Recompaction {
                turn: String::new(),
                in_chain: false,
                turns_since: None,
                previous_turn: None,
                threshold: 167_000,
                source: "repl".to_owned(),
            },
            report: report(),
            boundary: "b1".to_owned(),
            reset: Default::default(),
        })));
        self.glance(93, WindowLevel::Ok);
    }
}
