//! Works on a command of the user's own: the commands for the shell in its text run first, each as a call of the model
//! would (hooks, rules, questions), and their output takes their place. The rules of the command hold from there until
//! its turn ends.

use std::sync::Arc;

use serde_json::Value;

use super::requested_call::RequestedCall;
use super::running::Agent;
use super::tool_executor::CallAudience;
use super::turn_rules::TurnRules;
use super::user_prompt::UserPrompt;
use crate::event::PromptOutcome;
use crate::own_command::{CommandPart, FilledPrompt, OwnCommand, SHELL, shell_input};
use crate::tool::SingleCall;

impl Agent {
    /// Works on a command with what its words mention.
    pub(crate) async fn run_own_command(
        &mut self,
        command: OwnCommand,
        mentioned: UserPrompt,
    ) -> PromptOutcome {
        let gate = self.cross_session.shared.recipe.gate.clone();
        for notice in gate.allow_for_turn(&command.allowed_tools) {
            self.notice(format!("/{}: {notice}", command.name));
        }
        let _until_the_end = TurnRules::of(gate);
        match self.filled(&command).await {
            Ok(text) => {
                let typed = Some(command.typed).filter(|typed| !typed.is_empty());
                let said = UserPrompt {
                    text,
                    typed,
                    ..mentioned
                };
                self.prompt(said).await
            }
            Err(ended) => {
                self.tell_ended(&ended);
                ended
            }
        }
    }

    /// The prompt with the output of its commands. An error says why it is not sent.
    async fn filled(&mut self, command: &OwnCommand) -> Result<String, PromptOutcome> {
        let mut prompt = FilledPrompt::of(command).map_err(|why| {
            PromptOutcome::Refused(format!("/{} was not sent: {why}.", command.name))
        })?;
        for (at, part) in command.parts.iter().enumerate() {
            match part {
                CommandPart::Text(words) => prompt.text(words),
                CommandPart::Shell(shell) => {
                    prompt.output(&self.output(command, at, shell).await?);
                }
            }
        }
        Ok(prompt.done())
    }

    /// The output of a command for the shell.
    async fn output(
        &mut self,
        command: &OwnCommand,
        at: usize,
        shell: &str,
    ) -> Result<Value, PromptOutcome> {
        let cancel = self.cross_session.cancellation.token();
        let mut executor = self.opened.worker.tool_executor.clone();
        // These are no calls of the model: they are told about in sentences.
        executor.audience = CallAudience::Progress(Arc::new(|_| {}));
        let call = RequestedCall {
            id: format!("command_{}", at + 1),
            name: SHELL.to_owned(),
            input: Some(shell_input(command, shell)),
        };
        match executor.run_one(&call, &cancel).await {
            SingleCall::Ran(output) => {
                let ended = if output.is_error { "failed, " } else { "" };
                self.notice(format!(
                    "/{} ran `{shell}`: {ended}{}",
                    command.name, output.line
                ));
                Ok(output.content)
            }
            SingleCall::NotRun(why) => Err(PromptOutcome::Refused(format!(
                "/{} was not sent, because `{shell}` did not run: {why}",
                command.name
            ))),
            SingleCall::Stopped => Err(PromptOutcome::Cancelled),
        }
    }
}
