//! Works on prompts and writes what comes of them, as it comes.

use std::io::{self, Write};
use std::time::Instant;

use tokio::sync::mpsc::UnboundedReceiver;

use super::Format;
use super::input::{Line, Prompts};
use super::message::{self, Finish};
use super::page::Page;
use crate::agent::{Agent, Said};
use crate::event::{AgentEvent, Ended};
use crate::host::{Carried, TextCommands};

/// What a line of the input looks like.
const HINT: &str = r#"Each line is {"type":"user","message":{"role":"user","content":"…"}}."#;

/// How print mode works.
#[derive(Default)]
pub struct Options {
    /// What is written.
    pub format: Format,
    /// Carries out commands such as `/compact`; none: every line is a prompt.
    pub commands: Option<TextCommands>,
}

/// How it ended, for an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All prompts were answered.
    Done,
    /// The work failed, was refused, or did not come to an end.
    Failed,
    /// Nothing could begin: the provider turned the first request away, or the first line of the input is not a prompt.
    CannotBegin,
    /// It was interrupted.
    Interrupted,
}

impl Exit {
    /// The code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::CannotBegin => 2,
            Self::Interrupted => 130,
        }
    }
}

/// What was done about a prompt.
struct Worked {
    ended: Ended,
    /// What a command had to say; none: the model answered.
    said: Option<String>,
}

/// Works on prompts one after the other, as they come, and writes what comes of them. The first that is not answered ends
/// it, and so does cancelling the agent ([`Agent::cancellation`]). What people should know goes to `talk`, a line each.
pub async fn print(
    agent: &mut Agent,
    events: &mut UnboundedReceiver<AgentEvent>,
    prompts: impl Into<Prompts>,
    options: &Options,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn FnMut(&str) + Send),
) -> io::Result<Exit> {
    let mut prompts = prompts.into();
    let mut page = Page::new(options.format, agent.session_id(), out, talk);
    if options.format == Format::StreamJson {
        page.object(&message::init(agent));
    }
    // Not renewed between prompts: who interrupts this wants it to end.
    let interrupt = agent.cancellation().token();
    let mut exit = Exit::Done;
    let mut answered = 0_usize;
    loop {
        let line = tokio::select! {
            biased;
            line = prompts.next() => line,
            () = interrupt.cancelled() => return Ok(Exit::Interrupted),
            () = agent.attend(), if agent.is_attended_to() => continue,
        };
        let said = match line {
            None if answered == 0 => {
                page.talk("there is no prompt");
                page.talk(HINT);
                return Ok(Exit::CannotBegin);
            }
            None => return Ok(exit),
            Some(Ok(Line::Said(said))) => said,
            Some(Ok(Line::Control(id))) => {
                page.object(&message::unsupported(&id));
                continue;
            }
            Some(Err(bad)) => {
                page.talk(&bad.to_string());
                page.talk(HINT);
                return Ok(match answered {
                    0 => Exit::CannotBegin,
                    _ => Exit::Failed,
                });
            }
        };
        let began = Instant::now();
        let worked = work(agent, events, said, options, &mut page).await;
        finish(agent, &mut page, &worked, began);
        if let Some(error) = page.broken.take() {
            return Err(error);
        }
        answered += 1;
        exit = match worked.ended {
            Ended::Done => Exit::Done,
            Ended::Cancelled => Exit::Interrupted,
            Ended::Failed(_) if agent.turns() == 0 && agent.is_turned_away() => Exit::CannotBegin,
            Ended::Refused(_)
            | Ended::Failed(_)
            | Ended::TurnsUsedUp(_)
            | Ended::BudgetUsedUp(_) => Exit::Failed,
        };
        if exit != Exit::Done {
            return Ok(exit);
        }
    }
}

/// Works on one prompt and writes what happens meanwhile.
async fn work(
    agent: &mut Agent,
    events: &mut UnboundedReceiver<AgentEvent>,
    said: Said,
    options: &Options,
    page: &mut Page<'_>,
) -> Worked {
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
                // Nobody reads any more: the work ends, and the transcript is valid.
                cancellation.cancel();
            }
        }
    };
    while let Ok(event) = events.try_recv() {
        page.event(event);
    }
    // A command may have gone to another session.
    page.session = agent.session_id().to_owned();
    worked
}

async fn answer(agent: &mut Agent, said: Said, commands: Option<&TextCommands>) -> Worked {
    let carried = match commands {
        Some(commands) if said.blocks.is_empty() => commands.carry_out(agent, &said.text).await,
        _ => Carried::Prompt(said.text.clone()),
    };
    match carried {
        Carried::Prompt(text) => Worked {
            ended: agent.prompt(Said { text, ..said }).await,
            said: None,
        },
        Carried::Done(text) => Worked {
            ended: Ended::Done,
            said: Some(text),
        },
        Carried::Refused(why) => Worked {
            ended: Ended::Refused(why),
            said: None,
        },
    }
}

fn finish(agent: &Agent, page: &mut Page<'_>, worked: &Worked, began: Instant) {
    let said = worked.said.as_deref();
    let text = said.unwrap_or_else(|| agent.last_text()).to_owned();
    match page.format {
        Format::Text => page.text(&worked.ended, &text),
        Format::Json | Format::StreamJson => {
            let spent = agent.spent();
            let object = message::finish(
                agent,
                &Finish {
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
