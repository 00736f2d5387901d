//! Works on a command of the user's own: the commands for the shell in its text run first, each as a call of the model
//! would (hooks, rules, questions), and their output takes their place. The rules of the command hold from there until
//! its turn ends.

use std::sync::Arc;

use serde_json::{Value, json};

use super::running::Agent;
use super::tool_executor::{CallAudience, RequestedCall, SingleCall};
use super::user_prompt::UserPrompt;
use crate::event::PromptOutcome;
use crate::own_command::{CommandPart, OwnCommand};
use crate::permission::Gate;

/// The tool that runs commands.
const SHELL: &str = "Bash";
/// The element around output. The conversation's facts know that it holds no words of the user.
const ELEMENT: &str = "command-output";
/// The most commands for the shell in one command, and the most bytes of all their output.
const MOST_COMMANDS: usize = 20;
const MOST_OUTPUT: usize = 60_000;

/// Rules that hold until this is dropped.
struct TurnRules(Arc<dyn Gate>);

impl Drop for TurnRules {
    fn drop(&mut self) {
        self.0.end_turn_rules();
    }
}

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
        let _until_the_end = TurnRules(gate);
        match self.filled(&command).await {
            Ok(text) => self.prompt(UserPrompt { text, ..mentioned }).await,
            Err(ended) => {
                self.tell_ended(&ended);
                ended
            }
        }
    }

    /// The prompt with the output of its commands. An error says why it is not sent.
    async fn filled(&mut self, command: &OwnCommand) -> Result<String, PromptOutcome> {
        let is_shell = |part: &&CommandPart| matches!(part, CommandPart::Shell(_));
        if command.parts.iter().filter(is_shell).count() > MOST_COMMANDS {
            return Err(PromptOutcome::Refused(format!(
                "/{} was not sent: it has more than {MOST_COMMANDS} commands for the shell.",
                command.name
            )));
        }
        let mut text = String::new();
        let mut room = MOST_OUTPUT;
        for (at, part) in command.parts.iter().enumerate() {
            match part {
                CommandPart::Text(words) => text.push_str(words),
                CommandPart::Shell(shell) => {
                    let output = self.output(command, at, shell).await?;
                    let output = bounded(&output, room);
                    room = room.saturating_sub(output.len());
                    text.push_str(&element(&output));
                }
            }
        }
        Ok(text)
    }

    /// The output of a command for the shell.
    async fn output(
        &mut self,
        command: &OwnCommand,
        at: usize,
        shell: &str,
    ) -> Result<String, PromptOutcome> {
        let cancel = self.cross_session.cancellation.token();
        let mut executor = self.opened.worker.tool_executor.clone();
        // These are no calls of the model: they are told about in sentences.
        executor.audience = CallAudience::Progress(Arc::new(|_| {}));
        let call = RequestedCall {
            id: format!("command_{}", at + 1),
            name: SHELL.to_owned(),
            input: Some(json!({
                "command": shell,
                "description": format!("For /{}", command.name),
            })),
        };
        match executor.run_one(&call, &cancel).await {
            SingleCall::Ran(output) => {
                let ended = if output.is_error { "failed, " } else { "" };
                self.notice(format!(
                    "/{} ran `{shell}`: {ended}{}",
                    command.name, output.line
                ));
                Ok(match output.content {
                    Value::String(text) => text,
                    other => other.to_string(),
                })
            }
            SingleCall::NotRun(why) => Err(PromptOutcome::Refused(format!(
                "/{} was not sent, because `{shell}` did not run: {why}",
                command.name
            ))),
            SingleCall::Stopped => Err(PromptOutcome::Cancelled),
        }
    }
}

/// The beginning of an output that fits, with a note about the rest.
fn bounded(output: &str, room: usize) -> String {
    if output.len() <= room {
        return output.to_owned();
    }
    let end = (0..=room).rev().find(|at| output.is_char_boundary(*at));
    let kept = &output[..end.unwrap_or(0)];
    format!(
        "{kept}\n[cut: {} bytes are left out]",
        output.len() - kept.len()
    )
}

/// An output in its element, which the output itself cannot close. A single line stays in its line.
fn element(output: &str) -> String {
    let output = output.replace(&format!("</{ELEMENT}"), &format!("< /{ELEMENT}"));
    let output = output.trim();
    let gap = if output.contains('\n') { "\n" } else { "" };
    format!("<{ELEMENT}>{gap}{output}{gap}</{ELEMENT}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q1_output_is_bounded_and_cannot_end_its_own_element() {
        assert_eq!(element("main\n"), "<command-output>main</command-output>");
        assert_eq!(
            element("a\nb</command-output>c"),
            "<command-output>\na\nb< /command-output>c\n</command-output>"
        );
        assert_eq!(bounded("abc", 3), "abc");
        assert_eq!(bounded("äöü", 3), "ä\n[cut: 4 bytes are left out]");
    }
}
