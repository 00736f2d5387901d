//! The commands: their names, a sentence about each, and how a line is parsed as one.

use longhaul_core::economy::EconomyPolicy;

use super::flow::WrappedLine;
use super::host::CommandItem;
use super::style::{BOLD, dim, styled};
use crate::effort::EffortSetting;

/// A built-in command of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltinCommand {
    Agents,
    Clear,
    Compact,
    Context,
    Cost,
    Effort,
    Exit,
    Export,
    Help,
    Hooks,
    Init,
    Mcp,
    Memory,
    Model,
    Notes,
    Permissions,
    Report,
    Resume,
    Rewind,
    Status,
}

impl BuiltinCommand {
    /// All commands, in the order in which they are listed.
    pub(crate) const ALL: [Self; 20] = [
        Self::Agents,
        Self::Clear,
        Self::Compact,
        Self::Context,
        Self::Cost,
        Self::Effort,
        Self::Exit,
        Self::Export,
        Self::Help,
        Self::Hooks,
        Self::Init,
        Self::Mcp,
        Self::Memory,
        Self::Model,
        Self::Notes,
        Self::Permissions,
        Self::Report,
        Self::Resume,
        Self::Rewind,
        Self::Status,
    ];

    /// The command's name, without the slash.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Context => "context",
            Self::Cost => "cost",
            Self::Effort => "effort",
            Self::Exit => "exit",
            Self::Export => "export",
            Self::Help => "help",
            Self::Hooks => "hooks",
            Self::Init => "init",
            Self::Mcp => "mcp",
            Self::Memory => "memory",
            Self::Model => "model",
            Self::Notes => "notes",
            Self::Permissions => "permissions",
            Self::Report => "report",
            Self::Resume => "resume",
            Self::Rewind => "rewind",
            Self::Status => "status",
        }
    }

    /// What may be typed after the name; empty for most commands.
    pub(crate) fn takes(self) -> &'static str {
        match self {
            Self::Compact => "[instructions]",
            Self::Cost => "[economy off|clear|full]",
            Self::Effort => "[low to max|off|auto]",
            Self::Export => "[file]",
            Self::Model => "[name]",
            Self::Resume => "[id]",
            _ => "",
        }
    }

    /// The command as it is typed.
    fn usage(self) -> String {
        format!("/{} {}", self.name(), self.takes())
            .trim_end()
            .to_owned()
    }

    /// What the command does.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Agents => "the kinds of sub-agents",
            Self::Clear => "begin a new conversation; the old one can be resumed",
            Self::Compact => "summarize the conversation, with a preview",
            Self::Context => "show what fills the window",
            Self::Cost => "costs, what paid off, and what is decided by price",
            Self::Effort => "how hard the model thinks",
            Self::Exit => "leave",
            Self::Export => "write the conversation into a text file",
            Self::Help => "keys and commands",
            Self::Hooks => "the hooks that are set up",
            Self::Init => "let the model write a CLAUDE.md for this project",
            Self::Mcp => "the MCP servers and how many tools they have",
            Self::Memory => "the memory files that the model reads",
            Self::Model => "switch to another model",
            Self::Notes => "the notes kept of this session",
            Self::Permissions => "the rules about what may run",
            Self::Report => "what the newest compaction dropped, kept and put back",
            Self::Resume => "resume an earlier session",
            Self::Rewind => {
                "go back to a message, with files or without; summarize from or up to it; undo a compaction"
            }
            Self::Status => "the session, its model and its folder",
        }
    }

    /// Whether it changes the conversation, and so has to wait for work in progress.
    pub(crate) fn waits(self) -> bool {
        match self {
            Self::Clear
            | Self::Compact
            | Self::Effort
            | Self::Init
            | Self::Model
            | Self::Resume
            | Self::Rewind => true,
            Self::Agents
            | Self::Context
            | Self::Cost
            | Self::Exit
            | Self::Export
            | Self::Help
            | Self::Hooks
            | Self::Mcp
            | Self::Memory
            | Self::Notes
            | Self::Permissions
            | Self::Report
            | Self::Status => false,
        }
    }
}

/// The prompt of `/init`.
pub(crate) const INIT: &str = include_str!("init.md");

/// Parses the arguments of `/cost`: what is decided by price from now on.
pub(crate) fn economy(rest: &str) -> Result<EconomyPolicy, String> {
    let mut words = rest.split_whitespace();
    let policy = match (words.next(), words.next(), words.next()) {
        (Some("economy"), Some(name), None) => EconomyPolicy::named(name),
        _ => None,
    };
    policy.ok_or_else(|| "usage: /cost, or /cost economy off, clear or full".to_owned())
}

/// Parses the argument of `/effort`.
pub(crate) fn effort(rest: &str) -> Result<EffortSetting, String> {
    EffortSetting::named(rest).ok_or_else(|| format!("/effort takes {}", EffortSetting::NAMES))
}

/// The meaning of an input line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParsedInput {
    /// A prompt for the model.
    Prompt,
    /// A command for the shell.
    Shell(String),
    /// The sign for the shell without a command.
    NoShellCommand,
    /// A built-in command, and its arguments.
    Builtin(BuiltinCommand, String),
    /// A command of the user, and its arguments.
    Own(String, String),
    /// A command that does not exist.
    Unknown(String),
}

/// Parses a line.
pub(crate) fn read(text: &str, own: &[CommandItem]) -> ParsedInput {
    if let Some(command) = text.trim().strip_prefix('!') {
        return match command.trim() {
            "" => ParsedInput::NoShellCommand,
            command => ParsedInput::Shell(command.to_owned()),
        };
    }
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
const KEYS: [(&str, &str); 15] = [
    ("enter", "send; while the model works, send when it is done"),
    ("alt-enter, ctrl-j, \\ enter", "a new line"),
    (
        "up, down",
        "move; at the first or last line, earlier and later prompts",
    ),
    ("tab", "complete a /command or an @path"),
    (
        "@path, @server:uri",
        "attach a file of this folder, a resource of an MCP server",
    ),
    (
        "ctrl-v, a pasted path",
        "attach the picture on the clipboard, or in that file",
    ),
    (
        "!command",
        "run a command in the shell; the model sees its output",
    ),
    ("ctrl-r", "search earlier prompts"),
    ("ctrl-g", "write the prompt in $EDITOR"),
    (
        "shift-tab",
        "what may run without asking: ask, accept edits, plan",
    ),
    (
        "esc",
        "stop what is running; twice, empty the prompt or go back to a message",
    ),
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
            .map(|(key, about)| entry((*key).to_owned(), about, 30)),
    );
    lines.push(WrappedLine::styled("Commands", BOLD));
    let builtin = BuiltinCommand::ALL.into_iter();
    lines.extend(builtin.map(|command| entry(command.usage(), command.about(), 30)));
    if !own.is_empty() {
        lines.push(WrappedLine::styled("Your commands", BOLD));
    }
    lines.extend((own.iter()).map(|command| {
        let name = super::text::clean_line(&command.name);
        entry(
            format!("/{name}"),
            &super::text::clean_line(&command.description),
            30,
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
        assert_eq!(typed("! ls -l"), ParsedInput::Shell("ls -l".into()));
        assert_eq!(typed("!"), ParsedInput::NoShellCommand);
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
    fn q3_the_prompt_of_init_is_short() {
        assert!(INIT.len() < 1_200);
        insta::assert_snapshot!(INIT);
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
