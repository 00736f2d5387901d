//! A command of the user's own (`/name`), as it was called: its prompt, with commands for the shell whose output belongs
//! into it, and the rules that hold for its turn.

/// A command that was called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnCommand {
    /// The command's name, without the slash.
    pub name: String,
    /// The prompt, in its order.
    pub parts: Vec<CommandPart>,
    /// Rules for calls that may run without asking until the turn ends, as they are written.
    pub allowed_tools: Vec<String>,
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
}
