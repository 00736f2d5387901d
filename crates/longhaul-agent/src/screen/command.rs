//! The commands: their names, a sentence about each, and how a line is parsed as one.

use super::flow::WrappedLine;
use super::host::CommandItem;
use super::style::{BOLD, dim, styled};

/// A built-in command of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltinCommand {
    Clear,
    Compact,
    Context,
    Cost,
    Exit,
    Help,
    Hooks,
    Model,
    Notes,
    Report,
    Resume,
    Rewind,
}

impl BuiltinCommand {
    /// All commands, in the order in which they are listed.
    pub(crate) const ALL: [Self; 12] = [
        Self::Clear,
        Self::Compact,
        Self::Context,
        Self::Cost,
        Self::Exit,
        Self::Help,
        Self::Hooks,
        Self::Model,
        Self::Notes,
        Self::Report,
        Self::Resume,
        Self::Rewind,
    ];

    /// The command's name, without the slash.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Context => "context",
            Self::Cost => "cost",
            Self::Exit => "exit",
            Self::Help => "help",
            Self::Hooks => "hooks",
            Self::Model => "model",
            Self::Notes => "notes",
            Self::Report => "report",
            Self::Resume => "resume",
            Self::Rewind => "rewind",
        }
    }

    /// What the command does.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Clear => "begin a new conversation; the old one can be resumed",
            Self::Compact => "summarize the conversation, with a preview; takes instructions",
            Self::Context => "show what fills the window",
            Self::Cost => "the costs by purpose",
            Self::Exit => "leave",
            Self::Help => "keys and commands",
            Self::Hooks => "the hooks that are set up",
            Self::Model => "switch to another model; takes its name",
            Self::Notes => "the notes kept of this session",
            Self::Report => "what the newest compaction dropped, kept and put back",
            Self::Resume => "resume an earlier session",
            Self::Rewind => "go back to a message, summarize from or up to it, undo a compaction",
        }
    }

    /// Whether it changes the conversation, and so has to wait for work in progress.
    pub(crate) fn waits(self) -> bool {
        match self {
            Self::Clear | Self::Compact | Self::Model | Self::Resume | Self::Rewind => true,
            Self::Context
            | Self::Cost
            | Self::Exit
            | Self::Help
            | Self::Hooks
            | Self::Notes
            | Self::Report => false,
        }
    }
}

/// The meaning of an input line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParsedInput {
    /// A prompt for the model.
    Prompt,
    /// A built-in command, and its arguments.
    Builtin(BuiltinCommand, String),
    /// A command of the user, and its arguments.
    Own(String, String),
    /// A command that does not exist.
    Unknown(String),
}

/// Parses a line.
pub(crate) fn read(text: &str, own: &[CommandItem]) -> ParsedInput {
    let Some(line) = text.trim().strip_prefix('/') else {
        return ParsedInput::Prompt;
    };
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim().to_owned();
    let builtin = BuiltinCommand::ALL
        .into_iter()
        .find(|command| command.name() == name);
    match builtin {
        Some(command) => ParsedInput::Builtin(command, rest),
        None if name == "quit" => ParsedInput::Builtin(BuiltinCommand::Exit, rest),
        None if own.iter().any(|command| command.name == name) => {
            ParsedInput::Own(name.to_owned(), rest)
        }
        // This is a path and not a command.
        None if name.contains('/') || name.is_empty() => ParsedInput::Prompt,
        None => ParsedInput::Unknown(name.to_owned()),
    }
}

/// The keys that `/help` lists.
const KEYS: [(&str, &str); 10] = [
    ("enter", "send; while the model works, send when it is done"),
    ("alt-enter, ctrl-j, \\ enter", "a new line"),
    (
        "up, down",
        "move; at the first or last line, earlier and later prompts",
    ),
    ("tab", "complete a /command or an @path"),
    (
        "shift-tab",
        "what may run without asking: ask, accept edits, plan",
    ),
    ("esc", "stop what is running"),
    (
        "ctrl-c",
        "stop; when nothing runs, empty the prompt; twice, leave",
    ),
    ("ctrl-d", "leave, when the prompt is empty"),
    (
        "ctrl-o",
        "the whole transcript, with every result and report",
    ),
    ("ctrl-z", "suspend the program; fg brings it back"),
];

/// The text of `/help`.
pub(crate) fn help(own: &[CommandItem]) -> Vec<WrappedLine> {
    let entry = |name: String, about: &str, room: usize| {
        let pad = " ".repeat(room.saturating_sub(name.chars().count()));
        WrappedLine::new(
            vec![
                styled(format!("  {name}{pad}  "), BOLD),
                dim(about.to_owned()),
            ],
            room + 4,
        )
    };
    let mut lines = vec![WrappedLine::blank(), WrappedLine::styled("Keys", BOLD)];
    lines.extend(
        KEYS.iter()
            .map(|(key, about)| entry((*key).to_owned(), about, 28)),
    );
    lines.push(WrappedLine::styled("Commands", BOLD));
    let builtin = BuiltinCommand::ALL.into_iter();
    lines.extend(builtin.map(|command| entry(format!("/{}", command.name()), command.about(), 10)));
    if !own.is_empty() {
        lines.push(WrappedLine::styled("Your commands", BOLD));
    }
    lines.extend((own.iter()).map(|command| {
        let name = super::text::clean_line(&command.name);
        entry(
            format!("/{name}"),
            &super::text::clean_line(&command.description),
            10,
        )
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q3_a_line_is_a_prompt_or_a_command() {
        let own = [CommandItem {
            name: "review".into(),
            description: String::new(),
        }];
        let typed = |text| read(text, &own);
        assert_eq!(typed("hello"), ParsedInput::Prompt);
        assert_eq!(
            typed("/compact keep the API "),
            ParsedInput::Builtin(BuiltinCommand::Compact, "keep the API".into())
        );
        assert_eq!(
            typed("/review it"),
            ParsedInput::Own("review".into(), "it".into())
        );
        assert_eq!(typed("/usr/bin/x is broken"), ParsedInput::Prompt);
        assert_eq!(typed("/contxt"), ParsedInput::Unknown("contxt".into()));
        assert_eq!(
            typed("/quit"),
            ParsedInput::Builtin(BuiltinCommand::Exit, String::new())
        );
    }

    #[test]
    fn q3_help_names_every_command() {
        let text: Vec<String> = help(&[]).iter().map(WrappedLine::text).collect();
        let text = text.join("\n");
        for command in BuiltinCommand::ALL {
            assert!(text.contains(&format!("/{}", command.name())));
        }
    }
}
