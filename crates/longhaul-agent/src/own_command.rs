//! A command of the user's own (`/name`), as it was called: its prompt, with commands for the shell whose output belongs
//! into it, and the rules that hold for its turn.

use serde_json::{Value, json};

/// A command that was called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnCommand {
    /// The command's name, without the slash.
    pub name: String,
    /// The prompt, in its order.
    pub parts: Vec<CommandPart>,
    /// Rules for calls that may run without asking until the turn ends, as they are written.
    pub allowed_tools: Vec<String>,
    /// What the user typed; empty if the model invoked it.
    pub typed: String,
}

/// A part of a command's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandPart {
    /// Text.
    Text(String),
    /// A command for the shell (``!`git status` ``), whose output takes its place.
    Shell(String),
}

impl OwnCommand {
    /// The prompt with the commands for the shell as they are written.
    pub fn text(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            CommandPart::Text(text) => text.clone(),
            CommandPart::Shell(command) => format!("!`{command}`"),
        });
        parts.collect()
    }

    /// The text alone: what a command for the shell contains, mentions no files.
    pub(crate) fn words(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            CommandPart::Text(text) => Some(text.as_str()),
            CommandPart::Shell(_) => None,
        });
        texts.collect::<Vec<_>>().join(" ")
    }
}

/// The element around output. The conversation's facts know that it holds no words of the user.
const ELEMENT: &str = "command-output";
/// The most commands for the shell in one prompt, and the most bytes of all their output.
const MOST_COMMANDS: usize = 20;
const MOST_OUTPUT: usize = 60_000;

/// There are more commands for the shell than one prompt may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has more than {MOST_COMMANDS} commands for the shell")]
pub(crate) struct TooManyCommands;

/// The prompt of a command while its commands for the shell run, one after the other.
#[derive(Debug)]
pub(crate) struct FilledPrompt {
    text: String,
    room: usize,
}

impl FilledPrompt {
    /// Begins the prompt of this command.
    pub(crate) fn of(command: &OwnCommand) -> Result<Self, TooManyCommands> {
        let is_shell = |part: &&CommandPart| matches!(part, CommandPart::Shell(_));
        if command.parts.iter().filter(is_shell).count() > MOST_COMMANDS {
            return Err(TooManyCommands);
        }
        Ok(Self {
            text: String::new(),
            room: MOST_OUTPUT,
        })
    }

    /// Adds text.
    pub(crate) fn text(&mut self, words: &str) {
        self.text.push_str(words);
    }

    /// Adds the output of a command for the shell.
    pub(crate) fn output(&mut self, content: &Value) {
        let output = match content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let output = bounded(&output, self.room);
        self.room = self.room.saturating_sub(output.len());
        self.text.push_str(&element(&output));
    }

    /// The whole prompt.
    pub(crate) fn done(self) -> String {
        self.text
    }
}

/// The input of the call that runs a command for the shell.
pub(crate) fn shell_input(command: &OwnCommand, shell: &str) -> Value {
    json!({ "command": shell, "description": format!("For /{}", command.name) })
}

/// The tool that runs commands for the shell.
pub(crate) const SHELL: &str = "Bash";

/// Finds the commands for the shell in a prompt: each begins at a word and ends in the same line.
pub(crate) fn parts(body: &str) -> Vec<CommandPart> {
    let mut parts = Vec::new();
    let mut from = 0;
    while let Some((begin, command, end)) = next_shell(body, from) {
        if begin > from {
            parts.push(CommandPart::Text(body[from..begin].to_owned()));
        }
        parts.push(CommandPart::Shell(command.to_owned()));
        from = end;
    }
    if from < body.len() {
        parts.push(CommandPart::Text(body[from..].to_owned()));
    }
    parts
}

/// The next command for the shell: where it begins, the command, and where it ends.
fn next_shell(body: &str, from: usize) -> Option<(usize, &str, usize)> {
    let begins = body[from..].match_indices("!`").map(|(at, _)| from + at);
    begins
        .filter(|at| {
            body[..*at]
                .chars()
                .next_back()
                .is_none_or(char::is_whitespace)
        })
        .find_map(|at| {
            let inside = &body[at + 2..];
            let length = inside.find(['`', '\n'])?;
            let command = inside[..length].trim();
            let is_closed = inside[length..].starts_with('`');
            (is_closed && !command.is_empty()).then_some((at, command, at + 2 + length + 1))
        })
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
    fn q1_commands_for_the_shell_are_found_where_they_are_meant() {
        let shell = |command: &str| CommandPart::Shell(command.to_owned());
        let text = |text: &str| CommandPart::Text(text.to_owned());
        assert_eq!(
            parts("On !`git branch` now:\n!`git status`\nDone."),
            [
                text("On "),
                shell("git branch"),
                text(" now:\n"),
                shell("git status"),
                text("\nDone.")
            ]
        );
        for plain in [
            "wow!`x`",
            "a `!` b",
            "!`` x",
            "!`never\nclosed`",
            "!`open",
            "",
        ] {
            assert!(
                parts(plain)
                    .iter()
                    .all(|part| matches!(part, CommandPart::Text(_))),
                "{plain}"
            );
        }
    }

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
