//! Works on prompts and writes the results as they arrive.

use std::io::{self, Write};
use std::time::Instant;

use tokio::sync::mpsc::UnboundedReceiver;

use super::PrintFormat;
use super::input::{PrintInputLine, PromptQueue};
use super::message::{self, PrintResult};
use super::output::PrintOutput;
use crate::agent::{Agent, UserPrompt};
use crate::event::{AgentEvent, PromptOutcome};
use crate::host::{CommandOutcome, TextCommands};

/// What an input line looks like.
const HINT: &str = r#"Each line is {"type":"user","message":{"role":"user","content":"…"}}."#;

/// The options of print mode.
#[derive(Default)]
pub struct PrintOptions {
    /// What is written.
    pub format: PrintFormat,
    /// Runs commands such as `/compact`; if none, every line is a prompt.
    pub commands: Option<TextCommands>,
}

/// How the run ended, for an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintExit {
    /// All prompts were answered.
    Done,
    /// The work failed, was refused, or did not finish.
    Failed,
    /// The work could not begin: the provider rejected the first request, or the first line of the input is not a
    /// prompt.
    CannotBegin,
    /// The run was interrupted.
    Interrupted,
}

impl PrintExit {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::CannotBegin => 2,
            Self::Interrupted => 130,
        }
    }

    /// How the run ends that ended in these two ways so far: only what failed from the first line on could not begin.
    fn and(self, next: Self) -> Self {
        if self == next { self } else { Self::Failed }
    }
}

/// The result of a prompt.
struct PromptResult {
    ended: PromptOutcome,
    /// The output of a command; `None` if the model answered.
    said: Option<String>,
}

/// Works on prompts one after the other, as they arrive, and writes the results. A prompt that fails and a line that is
/// none get a result that says so, and the next one is worked on. It ends with the prompts, or when the agent is cancelled ([`Agent::cancellation`]). Notices for people go to `talk`, one per
/// line.
pub async fn print(
    agent: &mut Agent,
    events: &mut UnboundedReceiver<AgentEvent>,
    prompts: impl Into<PromptQueue>,
    options: &PrintOptions,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn FnMut(&str) + Send),
) -> io::Result<PrintExit> {
    let mut prompts = prompts.into();
    let mut page = PrintOutput::new(options.format, agent.session_id(), out, talk);
    // The token is not renewed between prompts: an interrupt ends the whole run.
    let interrupt = agent.cancellation().token();
    // Whoever interrupts it gets the answer to the first prompt, which says so.
    let _ = interrupt.run_until_cancelled(agent.settle_tools()).await;
    if options.format == PrintFormat::StreamJson {
        page.object(&message::init(agent));
    }
    let mut exit: Option<PrintExit> = None;
    loop {
        let line = tokio::select! {
            biased;
            line = prompts.next() => line,
            () = interrupt.cancelled() => return Ok(PrintExit::Interrupted),
            () = agent.drive_background(), if agent.has_background_work() => continue,
        };
        let said = match line {
            None => {
                if exit.is_none() {
                    page.talk("there is no prompt");
                    page.talk(HINT);
                }
                return Ok(exit.unwrap_or(PrintExit::CannotBegin));
            }
            Some(Ok(PrintInputLine::Said(said))) => Ok(said),
            Some(Ok(PrintInputLine::Control(id))) => {
                page.object(&message::unsupported(&id));
                continue;
            }
            Some(Err(bad)) => Err(bad),
        };
        let began = Instant::now();
        let (worked, ended) = match said {
            Ok(said) => {
                let worked = work(agent, events, said, options, &mut page).await;
                let ended = exit_of(agent, &worked.ended);
                (worked, ended)
            }
            Err(bad) => {
                let worked = PromptResult {
                    ended: PromptOutcome::Refused(format!("{bad}. {HINT}")),
                    said: Some(String::new()),
                };
                (worked, PrintExit::CannotBegin)
            }
        };
        finish(agent, &mut page, &worked, began);
        if let Some(error) = page.broken.take() {
            return Err(error);
        }
        if ended == PrintExit::Interrupted {
            return Ok(ended);
        }
        exit = Some(exit.map_or(ended, |before| before.and(ended)));
    }
}

/// How the run would end if this were its only prompt.
fn exit_of(agent: &Agent, ended: &PromptOutcome) -> PrintExit {
    match ended {
        PromptOutcome::Done => PrintExit::Done,
        PromptOutcome::Cancelled => PrintExit::Interrupted,
        PromptOutcome::Failed(_) if agent.turns() == 0 && agent.is_rejected_by_provider() => {
            PrintExit::CannotBegin
        }
        PromptOutcome::Refused(_)
        | PromptOutcome::Failed(_)
        | PromptOutcome::TurnsUsedUp(_)
        | PromptOutcome::BudgetUsedUp { .. } => PrintExit::Failed,
    }
}

/// Works on one prompt and writes what happens in the meantime.
async fn work(
    agent: &mut Agent,
    events: &mut UnboundedReceiver<AgentEvent>,
    said: UserPrompt,
    options: &PrintOptions,
    page: &mut PrintOutput<'_>,
) -> PromptResult {
    let cancellation = agent.cancellation().clone();
    let worked = {
        let mut work = Box::pin(answer(agent, said, options.commands.as_ref()));
        loop {
            tokio::select! {
                biased;
                event = events.recv() => if let Some(event) = event { page.event(event) },
                worked = &mut work => break worked,
            }
            if page.broken.is_some() {
                // Nobody reads the output any more: the work ends, and the transcript is valid.
                cancellation.cancel();
            }
        }
    };
    while let Ok(event) = events.try_recv() {
        page.event(event);
    }
    // A command may have switched to another session.
    page.session = agent.session_id().to_owned();
    worked
}

async fn answer(
    agent: &mut Agent,
    said: UserPrompt,
    commands: Option<&TextCommands>,
) -> PromptResult {
    let carried = match commands {
        Some(commands) if said.blocks.is_empty() => commands.carry_out(agent, &said.text).await,
        _ => CommandOutcome::Prompt(said),
    };
    match carried {
        CommandOutcome::Prompt(mut prompt) => {
            if let Some(commands) = commands.filter(|_| prompt.attachments.is_empty()) {
                prompt = commands.with_mentions(agent, prompt).await;
            }
            PromptResult {
                ended: agent.prompt(prompt).await,
                said: None,
            }
        }
        CommandOutcome::Own(command) => {
            let mut mentioned = UserPrompt::text(command.words());
            if let Some(commands) = commands {
                mentioned = commands.with_mentions(agent, mentioned).await;
            }
            PromptResult {
                ended: agent.run_own_command(command, mentioned).await,
                said: None,
            }
        }
        CommandOutcome::Done(text) => PromptResult {
            ended: PromptOutcome::Done,
            said: Some(text),
        },
        CommandOutcome::Refused(why) => PromptResult {
            ended: PromptOutcome::Refused(why),
            said: None,
        },
    }
}

fn finish(agent: &Agent, page: &mut PrintOutput<'_>, worked: &PromptResult, began: Instant) {
    let said = worked.said.as_deref();
    let text = said.unwrap_or_else(|| agent.last_text()).to_owned();
    match page.format {
        PrintFormat::Text => page.text(&worked.ended, &text),
        PrintFormat::Json | PrintFormat::StreamJson => {
            let spent = agent.spent();
            let object = message::finish(
                agent,
                &PrintResult {
                    ended: &worked.ended,
                    text: &text,
                    turns: said.map_or_else(|| agent.turns(), |_| 0),
                    milliseconds: began.elapsed().as_millis(),
                    denials: &page.denials,
                    spent: &spent,
                },
            );
            page.object(&object);
        }
    }
}
