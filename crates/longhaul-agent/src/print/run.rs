//! Works on prompts and writes what comes of them, as it comes.

use std::io::{self, Write};
use std::time::Instant;

use longhaul_core::engine::Event;
use longhaul_core::listing::{harmless, harmless_json};
use longhaul_provider::CancellationToken;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use super::Format;
use super::message::{self, Finish};
use crate::agent::{Agent, Said};
use crate::event::{AgentEvent, Denied, Ended};

/// How print mode works.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What is written.
    pub format: Format,
    /// Ends the work when it is cancelled.
    pub interrupt: CancellationToken,
}

/// How it ended, for an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All prompts were answered.
    Done,
    /// The work failed, was refused, or did not come to an end.
    Failed,
    /// Nothing could begin: the provider turned the first request away.
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

/// Works on prompts one after the other and writes what comes of them. The first that is not answered ends it. What people
/// should know goes to `talk`, a line each.
pub async fn print(
    agent: &mut Agent,
    events: &mut UnboundedReceiver<AgentEvent>,
    prompts: Vec<Said>,
    options: &Options,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn FnMut(&str) + Send),
) -> io::Result<Exit> {
    let mut page = Page {
        format: options.format,
        session: agent.session_id().to_owned(),
        out,
        talk,
        denials: Vec::new(),
        broken: None,
    };
    if options.format == Format::StreamJson {
        page.object(&message::init(agent));
    }
    let mut exit = Exit::Done;
    for said in prompts {
        let began = Instant::now();
        let canceller = agent.canceller();
        let ended = {
            let mut work = Box::pin(agent.prompt(said));
            let mut interrupted = false;
            loop {
                tokio::select! {
                    biased;
                    event = events.recv() => if let Some(event) = event { page.event(event) },
                    () = options.interrupt.cancelled(), if !interrupted => {
                        interrupted = true;
                        canceller.cancel();
                    }
                    ended = &mut work => break ended,
                }
                if page.broken.is_some() {
                    // Nobody reads any more: the work ends, and the transcript is valid.
                    canceller.cancel();
                }
            }
        };
        while let Ok(event) = events.try_recv() {
            page.event(event);
        }
        let spent = agent.spent();
        let finish = Finish {
            ended: &ended,
            milliseconds: began.elapsed().as_millis(),
            denials: &page.denials,
            spent: &spent,
        };
        match page.format {
            Format::Text => {
                let text = agent.last_text().to_owned();
                page.text(&ended, &text);
            }
            Format::Json | Format::StreamJson => {
                let object = message::finish(agent, &finish);
                page.object(&object);
            }
        }
        if let Some(error) = page.broken.take() {
            return Err(error);
        }
        exit = match ended {
            Ended::Done => Exit::Done,
            Ended::Cancelled => Exit::Interrupted,
            Ended::Failed(_) if agent.turns() == 0 && agent.is_turned_away() => Exit::CannotBegin,
            Ended::Refused(_) | Ended::Failed(_) | Ended::TurnsUsedUp(_) => Exit::Failed,
        };
        if exit != Exit::Done {
            break;
        }
    }
    Ok(exit)
}

/// What is written to.
struct Page<'a> {
    format: Format,
    session: String,
    out: &'a mut (dyn Write + Send),
    talk: &'a mut (dyn FnMut(&str) + Send),
    denials: Vec<Value>,
    broken: Option<io::Error>,
}

impl Page<'_> {
    fn event(&mut self, event: AgentEvent) {
        let streams = self.format == Format::StreamJson;
        match event {
            AgentEvent::Replied(reply) if streams => {
                let object = message::assistant(&self.session, &reply);
                self.object(&object);
            }
            AgentEvent::ToolEnded { id, output } if streams => {
                let object = message::result_of(&self.session, &id, &output);
                self.object(&object);
            }
            // Nobody is there to answer: dropping the question is a no, which is then told as a denial.
            AgentEvent::Asks(_) => {}
            AgentEvent::Denied(denied) => {
                let Denied {
                    id,
                    name,
                    line,
                    input,
                    reason,
                } = denied;
                self.denials.push(message::denial(&name, &id, &input));
                (self.talk)(&format!("{name} {line} was not allowed: {reason}"));
            }
            AgentEvent::Engine(Event::Compacted(done)) if streams => {
                let object = message::boundary(&self.session, &done);
                self.object(&object);
            }
            AgentEvent::Notice(sentence) => (self.talk)(&sentence),
            _ => {}
        }
    }

    fn text(&mut self, ended: &Ended, text: &str) {
        match ended {
            Ended::Done => self.line(&harmless(text.trim_end())),
            Ended::Cancelled => (self.talk)("interrupted"),
            Ended::Refused(why) | Ended::Failed(why) => (self.talk)(why),
            Ended::TurnsUsedUp(turns) => {
                (self.talk)(&format!("it did not come to an end in {turns} turns"));
            }
        }
    }

    fn object(&mut self, object: &Value) {
        self.line(&harmless_json(&object.to_string()));
    }

    fn line(&mut self, line: &str) {
        if self.broken.is_none() {
            let written = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
            self.broken = written.err();
        }
    }
}
