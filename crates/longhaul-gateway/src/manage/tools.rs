//! The known tools of agents (U1), and the texts that agents put into user messages: a table, `tools.toml`, that
//! settings add to.
//!
//! The same name may belong to several agents. A call then belongs to the tool whose path field it has, and a result
//! may be cleared only if no agent with a tool of that name wants it kept.

use std::sync::Arc;

use longhaul_core::facts::{FileAction, FileTool, HostText, SentenceWords, Vocabulary};
use longhaul_core::json::ObjectReader;
use longhaul_core::micro::ClearableTools;
use serde::Deserialize;

const BUILTIN: &str = include_str!("tools.toml");

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Shows a file.
    Read,
    /// Writes a whole file.
    Write,
    /// Changes a part of a file.
    Edit,
    /// Runs commands.
    Shell,
    /// Finds files, or positions in them.
    Search,
    /// Fetches from the web.
    Web,
    /// Shows a screen.
    Screen,
    /// Any tool whose results exist nowhere else: answers of people, todo lists, sub-agents, notebooks.
    Keep,
}

/// One row of the table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownTool {
    /// The agent that has the tool.
    pub agent: String,
    /// Its name; a trailing `*` stands for any ending.
    pub name: String,
    /// What the tool does.
    pub kind: ToolKind,
    /// For tools that do several things: the value of the field `command` for this one.
    pub command: Option<String>,
    /// The field that holds the path.
    pub path: Option<String>,
    /// Fields by which a read requests only a part.
    #[serde(default)]
    pub part: Vec<String>,
    /// The field that holds the complete text to write.
    pub text: Option<String>,
    /// The field that holds the text to replace.
    pub old: Option<String>,
    /// The field that holds the replacement.
    pub new: Option<String>,
    /// The field that requests replacing all occurrences.
    pub all: Option<String>,
}

impl KnownTool {
    fn is_named(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == self.name,
        }
    }

    fn fits(&self, input: ObjectReader<'_>) -> bool {
        let says = || input.string("command");
        let has_path = |path: &String| input.string(path).is_some();
        (self.command.is_none() || self.command.as_deref() == says().as_deref())
            && self.path.as_ref().is_none_or(has_path)
    }
}

/// A text that an agent, not its user, puts into user messages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AgentText {
    /// The agent that writes the text.
    pub agent: String,
    /// How the text is recognized.
    #[serde(flatten)]
    pub mark: AgentTextPattern,
}

/// How a text of an agent is recognized.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentTextPattern {
    /// The beginning of a text that is entirely the agent's.
    Begins(String),
    /// The beginning of a text that is entirely the agent's; if nothing follows it, the next text of the message is a
    /// tool's.
    Announces(String),
    /// The name of an XML-like element.
    Element(String),
    /// The beginning of a line from which on a text is the agent's.
    Tail(String),
}

/// The table of known tools.
#[derive(Debug, Clone)]
pub struct KnownTools {
    rows: Vec<KnownTool>,
    texts: Vec<AgentText>,
}

#[derive(Deserialize)]
struct KnownToolsFile {
    tool: Vec<KnownTool>,
    #[serde(default)]
    text: Vec<AgentText>,
}

impl KnownTools {
    /// The built-in table.
    pub fn builtin() -> Self {
        // A test reads it; an unreadable table names no tool, and then nothing is cleared.
        Self::read(BUILTIN).unwrap_or(Self {
            rows: Vec::new(),
            texts: Vec::new(),
        })
    }

    /// Reads a table.
    pub fn read(text: &str) -> Result<Self, toml::de::Error> {
        let table: KnownToolsFile = toml::from_str(text)?;
        Ok(Self {
            rows: table.tool,
            texts: table.text,
        })
    }

    /// All rows.
    pub fn rows(&self) -> &[KnownTool] {
        &self.rows
    }

    /// The texts of agents.
    pub fn texts(&self) -> &[AgentText] {
        &self.texts
    }

    /// The row that a call belongs to: the first with its name whose command and path it has.
    pub fn of_call(&self, name: &str, input: ObjectReader<'_>) -> Option<&KnownTool> {
        let mut named = self.rows.iter().filter(|tool| tool.is_named(name));
        named.find(|tool| tool.fits(input))
    }

    /// Whether a tool of this name shows files.
    pub(super) fn shows_files(&self, name: &str) -> bool {
        let mut named = self.rows.iter().filter(|tool| tool.is_named(name));
        named.any(|tool| tool.kind == ToolKind::Read)
    }

    /// The tools whose results may be cleared, and those that a user adds by name (a trailing `*` stands for any
    /// ending). A tool whose results some agent wants kept is not added: its results cannot be produced again.
    pub fn clearable(&self, more: &[String]) -> ClearableTools {
        let (kept, known): (Vec<&KnownTool>, _) =
            (self.rows.iter()).partition(|row| row.kind == ToolKind::Keep);
        let names = known.iter().map(|row| row.name.clone());
        ClearableTools::only(names.chain(more.iter().cloned()))
            .except(kept.iter().map(|row| row.name.clone()))
    }

    /// The vocabulary by which facts are recognized: the file names in the calls of any agent, and words for rules.
    pub fn vocabulary(&self, words: &SentenceWords) -> Arc<Vocabulary> {
        let files = self.rows.iter().filter_map(|row| {
            Some(FileTool {
                name: row.name.clone(),
                path: row.path.clone()?,
                action: match row.kind {
                    ToolKind::Read => FileAction::Read,
                    ToolKind::Write => FileAction::Write,
                    ToolKind::Edit => FileAction::Edit,
                    _ => return None,
                },
                command: row.command.clone(),
            })
        });
        let mut vocabulary = Vocabulary::with_words(words).unwrap_or_else(|error| {
            tracing::warn!(%error, "the words that are set (rules.words, called_off.words) are not used");
            Vocabulary::default()
        });
        vocabulary.file_tools.extend(files);
        let texts = self.texts.iter().map(|text| match &text.mark {
            AgentTextPattern::Begins(begin) => HostText::Begins(begin.clone()),
            AgentTextPattern::Announces(begin) => HostText::Announces(begin.clone()),
            AgentTextPattern::Element(name) => HostText::Element(name.clone()),
            AgentTextPattern::Tail(begin) => HostText::Tail(begin.clone()),
        });
        vocabulary.host_texts = vocabulary.host_texts.with(texts);
        for name in ["todowrite", "todo_write", "write_todos"] {
            vocabulary.todo_tools.push(name.to_owned());
        }
        Arc::new(vocabulary)
    }
}
