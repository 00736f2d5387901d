//! Commands without a screen: what `/compact`, `/context` and the others come to as text, for print mode (Q4).

use std::sync::Arc;

use longhaul::session::CompactOutcome;
use longhaul_core::engine::CompactRequest;
use longhaul_core::models::ModelTable;
use longhaul_store::Env;

use super::looks::Looks;
use crate::agent::Agent;
use crate::screen::command::{self, Builtin, Typed};
use crate::screen::flow::Flow;
use crate::screen::{Colour, CommandItem, answer_lines, context, tell};
use crate::workplace::Workplace;

/// How wide pictures are where there is no screen.
const WIDTH: usize = 80;

/// Carries out commands.
pub struct TextCommands {
    looks: Looks,
    workplace: Arc<Workplace>,
}

/// What a line came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// It is a prompt: the line itself, or what a command of the user's stands for.
    Prompt(String),
    /// It was a command, and this is what there is to say about it.
    Done(String),
    /// It was a command, and it was not carried out.
    Refused(String),
}

impl TextCommands {
    /// For an agent in a workplace.
    pub fn new(agent: &Agent, workplace: Arc<Workplace>, env: Env, models: ModelTable) -> Self {
        Self {
            looks: Looks {
                outlook: agent.outlook(),
                cwd: agent.place().cwd.clone(),
                workplace: workplace.clone(),
                env,
                models,
            },
            workplace,
        }
    }

    /// Carries a line out if it is a command.
    pub(crate) async fn carry_out(&self, agent: &mut Agent, text: &str) -> Carried {
        let own = self.own();
        match command::read(text, &own) {
            Typed::Prompt => Carried::Prompt(text.to_owned()),
            Typed::Own(name, arguments) => match self.workplace.command(&name, &arguments).await {
                Ok(prompt) => Carried::Prompt(prompt),
                Err(why) => Carried::Refused(why),
            },
            Typed::Unknown(name) => {
                Carried::Refused(format!("there is no command /{name}; /help lists all"))
            }
            Typed::Builtin(command, rest) => match self.builtin(agent, command, rest).await {
                Ok(text) => Carried::Done(text),
                Err(why) => Carried::Refused(why),
            },
        }
    }

    fn own(&self) -> Vec<CommandItem> {
        let commands = self.workplace.commands().into_iter();
        commands
            .map(|(name, description)| CommandItem { name, description })
            .collect()
    }

    async fn builtin(
        &self,
        agent: &mut Agent,
        command: Builtin,
        rest: String,
    ) -> Result<String, String> {
        match command {
            Builtin::Compact => compact(agent, rest).await,
            Builtin::Clear => {
                agent.clear().await.map_err(|error| error.to_string())?;
                Ok(format!("A new session: {}", agent.session_id()))
            }
            Builtin::Model if rest.is_empty() => Ok(agent.model().to_owned()),
            Builtin::Model => {
                let switched = agent.switch_model(&rest).await;
                switched.map_err(|error| error.to_string())?;
                Ok(format!("{rest} is asked from now on."))
            }
            Builtin::Resume if rest.is_empty() => {
                Err("/resume needs the id of a session here; --resume takes one, too".to_owned())
            }
            Builtin::Resume => {
                let resumed = agent.resume(&rest).await;
                resumed.map_err(|error| error.to_string())?;
                Ok(format!("Resumed: {}", agent.session_id()))
            }
            Builtin::Rewind => {
                Err("/rewind picks a message on a screen; without -p it can be used".to_owned())
            }
            Builtin::Exit => Ok(String::new()),
            Builtin::Help => Ok(lines(&command::help(&self.own()))),
            Builtin::Context => {
                let view = self.looks.context().map_err(|why| why.to_string())?;
                Ok(lines(&context::picture(&view, WIDTH, Colour::Off)))
            }
            Builtin::Cost => Ok(lines(&answer_lines::cost(&self.looks.cost()))),
            Builtin::Hooks => Ok(lines(&answer_lines::hooks(&self.looks.hooks()))),
            Builtin::Notes => {
                let notes = self.looks.notes().map_err(|why| why.to_string())?;
                match notes.trim().is_empty() {
                    true => Ok("There are no notes of this session yet.".to_owned()),
                    false => Ok(notes),
                }
            }
            Builtin::Report => self.looks.report(None).map_err(|why| why.to_string()),
        }
    }
}

async fn compact(agent: &mut Agent, instructions: String) -> Result<String, String> {
    let request = CompactRequest {
        instructions: Some(instructions).filter(|text| !text.is_empty()),
        ..CompactRequest::default()
    };
    match agent.compact(request).await {
        Ok(CompactOutcome::Done(done)) => Ok(tell::compacted(&done)),
        // A preview was not asked for.
        Ok(CompactOutcome::Preview(_)) => Ok(String::new()),
        Err(error) => Err(error.to_string()),
    }
}

fn lines(flow: &[Flow]) -> String {
    let lines: Vec<String> = flow
        .iter()
        .map(|line| line.text().trim_end().to_owned())
        .collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
