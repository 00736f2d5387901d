//! Commands without a screen: the results of `/compact`, `/context` and others as text, for print mode (Q4).

use std::sync::Arc;

use longhaul::session::CompactOutcome;
use longhaul_core::engine::CompactRequest;
use longhaul_core::models::ModelTable;
use longhaul_store::Env;

use super::mentions::with_mentions;
use super::read_only_queries::ReadOnlyQueries;
use crate::agent::{Agent, UserPrompt};
use crate::own_command::OwnCommand;
use crate::project_setup::{InvokedCommand, ProjectSetup};
use crate::screen::command::{self, BuiltinCommand, ParsedInput};
use crate::screen::flow::WrappedLine;
use crate::screen::{ColorSupport, CommandItem, SessionPage, answer_lines, context, event_lines};

/// The width of drawings where there is no screen.
const WIDTH: usize = 80;

/// Runs commands and returns their results as text.
pub struct TextCommands {
    queries: ReadOnlyQueries,
    workplace: Arc<ProjectSetup>,
}

/// The outcome of an input line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CommandOutcome {
    /// The line is a prompt: the line itself, or what a server's prompt stands for.
    Prompt(UserPrompt),
    /// The line is a command of the user's own, to be worked on.
    Own(OwnCommand),
    /// The line was a command, and this is its result.
    Done(String),
    /// The line was a command that could not be run.
    Refused(String),
}

impl TextCommands {
    /// Runs commands for an agent in a project.
    pub fn new(agent: &Agent, workplace: Arc<ProjectSetup>, env: Env, models: ModelTable) -> Self {
        Self {
            queries: ReadOnlyQueries {
                outlook: agent.handle(),
                cwd: agent.place().cwd.clone(),
                workplace: workplace.clone(),
                config: agent.config().clone(),
                env,
                models,
            },
            workplace,
        }
    }

    /// Runs a line if it is a command.
    pub(crate) async fn carry_out(&self, agent: &mut Agent, text: &str) -> CommandOutcome {
        let own = self.own();
        match command::read(text, &own) {
            ParsedInput::Prompt => CommandOutcome::Prompt(UserPrompt::text(text)),
            // In print mode, nobody types commands for a shell.
            ParsedInput::Shell(_) | ParsedInput::NoShellCommand => {
                CommandOutcome::Prompt(UserPrompt::text(text))
            }
            ParsedInput::Builtin(BuiltinCommand::Init, _) => {
                CommandOutcome::Prompt(UserPrompt::text(command::INIT))
            }
            ParsedInput::Own(name, arguments) => {
                match self.workplace.command(&name, &arguments).await {
                    Ok(InvokedCommand::Own(command)) => CommandOutcome::Own(command),
                    Ok(InvokedCommand::Prompt(said)) => CommandOutcome::Prompt(said),
                    Err(why) => CommandOutcome::Refused(why),
                }
            }
            ParsedInput::Unknown(name) => {
                CommandOutcome::Refused(format!("there is no command /{name}; /help lists all"))
            }
            ParsedInput::Builtin(command, rest) => match self.builtin(agent, command, rest).await {
                Ok(text) => CommandOutcome::Done(text),
                Err(why) => CommandOutcome::Refused(why),
            },
        }
    }

    fn own(&self) -> Vec<CommandItem> {
        let commands = self.workplace.commands().into_iter();
        commands
            .map(|(name, description)| CommandItem { name, description })
            .collect()
    }

    fn page(&self, page: SessionPage) -> Result<String, String> {
        let text = self.queries.page(page).map_err(|why| why.to_string())?;
        Ok(text.trim_end().to_owned())
    }

    /// Attaches what a prompt mentions.
    pub(crate) async fn with_mentions(&self, agent: &mut Agent, said: UserPrompt) -> UserPrompt {
        with_mentions(agent, &self.workplace, said).await
    }

    async fn builtin(
        &self,
        agent: &mut Agent,
        command: BuiltinCommand,
        rest: String,
    ) -> Result<String, String> {
        match command {
            BuiltinCommand::Compact => compact(agent, rest).await,
            BuiltinCommand::Clear => {
                agent.clear().await.map_err(|error| error.to_string())?;
                Ok(format!("A new session: {}", agent.session_id()))
            }
            BuiltinCommand::Model if rest.is_empty() => Ok(agent.model().to_owned()),
            BuiltinCommand::Model => {
                let switched = agent.switch_model(&rest).await;
                switched.map_err(|error| error.to_string())?;
                let used = format!("{rest} is used from now on.");
                Ok(match agent.assumptions().is_empty() {
                    true => used,
                    false => format!("{used} {}", answer_lines::unknown_model(&rest)),
                })
            }
            BuiltinCommand::Resume if rest.is_empty() => {
                Err("/resume needs the id of a session here; --resume takes one, too".to_owned())
            }
            BuiltinCommand::Resume => {
                let resumed = agent.resume(&rest).await;
                resumed.map_err(|error| error.to_string())?;
                Ok(format!("Resumed: {}", agent.session_id()))
            }
            BuiltinCommand::Rewind => {
                Err("/rewind picks a message on a screen; start without -p to use it".to_owned())
            }
            // It was a prompt.
            BuiltinCommand::Exit | BuiltinCommand::Init => Ok(String::new()),
            BuiltinCommand::Export => self.queries.export(&rest).map_err(|why| why.to_string()),
            BuiltinCommand::Agents => self.page(SessionPage::Agents),
            BuiltinCommand::Mcp => self.page(SessionPage::Mcp),
            BuiltinCommand::Memory => self.page(SessionPage::Memory),
            BuiltinCommand::Permissions => self.page(SessionPage::Permissions),
            BuiltinCommand::Status => self.page(SessionPage::Status),
            BuiltinCommand::Help => Ok(lines(&command::help(&self.own()))),
            BuiltinCommand::Context => {
                let view = self.queries.context().map_err(|why| why.to_string())?;
                Ok(lines(&context::picture(&view, WIDTH, ColorSupport::Off)))
            }
            BuiltinCommand::Cost if rest.is_empty() => {
                let token = agent.cancellation().token();
                let read = self.queries.outlook.earlier_usage_is_read();
                // Whoever interrupts it gets what is known so far.
                let _ = token.run_until_cancelled(read).await;
                Ok(lines(&answer_lines::cost(&self.queries.cost())))
            }
            BuiltinCommand::Cost => {
                let policy = command::economy(&rest)?;
                agent.set_economy(policy);
                Ok(answer_lines::economy_set(policy))
            }
            BuiltinCommand::Effort if rest.is_empty() => {
                Ok(answer_lines::effort(agent.agent_status().effort))
            }
            BuiltinCommand::Effort => {
                let effort = command::effort(&rest)?;
                agent.set_effort(effort)?;
                Ok(answer_lines::effort_set(effort))
            }
            BuiltinCommand::Hooks => Ok(lines(&answer_lines::hooks(&self.queries.hooks()))),
            BuiltinCommand::Notes => {
                let notes = self.queries.notes().map_err(|why| why.to_string())?;
                if notes.trim().is_empty() {
                    Ok("There are no notes of this session yet.".to_owned())
                } else {
                    Ok(notes)
                }
            }
            BuiltinCommand::Report => self.queries.report(None).map_err(|why| why.to_string()),
        }
    }
}

async fn compact(agent: &mut Agent, instructions: String) -> Result<String, String> {
    let request = CompactRequest {
        instructions: Some(instructions).filter(|text| !text.is_empty()),
        ..CompactRequest::default()
    };
    match agent.compact(request).await {
        Ok(CompactOutcome::Done(done)) => Ok(event_lines::compacted(&done)),
        // No preview was requested.
        Ok(CompactOutcome::Preview(_)) => Ok(String::new()),
        Err(error) => Err(error.to_string()),
    }
}

fn lines(flow: &[WrappedLine]) -> String {
    let lines: Vec<String> = flow
        .iter()
        .map(|line| line.text().trim_end().to_owned())
        .collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
