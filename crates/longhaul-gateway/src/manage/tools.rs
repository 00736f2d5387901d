//! What is known of the tools that agents bring (U1), and of the texts that they put into messages of the user: a table,
//! `tools.toml`, that settings add to.
//!
//! The same name may belong to several agents. Such a tool is taken for the one whose path a call names, and a result may be
//! cleared only if no agent of that name wants it kept.

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
    /// Writes a file whole.
    Write,
    /// Changes a part of a file.
    Edit,
    /// Runs commands.
    Shell,
    /// Finds files or places in them.
    Search,
    /// Fetches from the web.
    Web,
    /// Shows a screen.
    Screen,
    /// Anything whose results exist nowhere else: answers of people, todo lists, sub-agents, notebooks.
    Keep,
}

/// One row of the table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownTool {
    /// Whose it is.
    pub agent: String,
    /// Its name; a trailing `*` stands for any ending.
    pub name: String,
    /// What it does.
    pub kind: ToolKind,
    /// For tools that do several things: what the field `command` says for this one.
    pub command: Option<String>,
    /// The field that holds the path.
    pub path: Option<String>,
    /// Fields by which a read asks for a part.
    #[serde(default)]
    pub part: Vec<String>,
    /// The field that holds the whole text that is written.
    pub text: Option<String>,
    /// The field that holds what is replaced.
    pub old: Option<String>,
    /// The field that holds what replaces it.
    pub new: Option<String>,
    /// The field that asks to replace it everywhere.
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

/// A text that an agent, not its user, puts into messages of the user.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AgentText {
    /// Whose it is.
    pub agent: String,
    /// What it is known by.
    #[serde(flatten)]
    pub mark: AgentTextPattern,
}

/// What a text of an agent is known by.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentTextPattern {
    /// How a text begins that is the agent's as a whole.
    Begins(String),
    /// The same; and if it says no more, the next text of the message is a tool's.
    Announces(String),
    /// The name of an element.
    Element(String),
    /// How a line begins from which on a text is the agent's.
    Tail(String),
}

/// The table.
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
    /// The table that comes with the gateway.
    pub fn builtin() -> Self {
        // A test reads it; what cannot be read names no tool, and then nothing is cleared.
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

    /// The row that a call belongs to: the first of its name whose command and path it has.
    pub fn of_call(&self, name: &str, input: ObjectReader<'_>) -> Option<&KnownTool> {
        let mut named = self.rows.iter().filter(|tool| tool.is_named(name));
        named.find(|tool| tool.fits(input))
    }

    /// The tools whose results may be cleared, and those that a user adds by name (a trailing `*` stands for any ending).
    /// What some agent keeps is not added: it cannot be had again.
    pub fn clearable(&self, more: &[String]) -> ClearableTools {
        let (kept, known): (Vec<&KnownTool>, _) =
            (self.rows.iter()).partition(|row| row.kind == ToolKind::Keep);
        let names = known.iter().map(|row| row.name.clone());
        ClearableTools::only(names.chain(more.iter().cloned()))
            .except(kept.iter().map(|row| row.name.clone()))
    }

    /// What facts are recognised by: the files that calls name, whichever agent's they are, and words for rules.
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
