//! The tools a request offers, told apart by name, type and schema. What is not known is still usable by its schema;
//! tools the server runs itself, tools not yet loaded and tools taken away are not offered to the model.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::chance::Chance;
use super::schema::{Extras, Palette, fit};
use crate::request::{Request, Role, Tool};

/// Names of the field that takes a path, in the order they are looked for.
pub(crate) const PATH_FIELDS: &[&str] = &[
    "file_path",
    "path",
    "filePath",
    "filename",
    "target_file",
    "file",
    "notebook_path",
];

/// How far back discovered tools are looked for.
const LOOK_BACK: usize = 60;

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Reads a file.
    Read,
    /// Searches in files.
    Grep,
    /// Finds files by name.
    Glob,
    /// Lists a folder.
    List,
    /// Replaces a text in a file.
    Edit,
    /// Replaces several texts in a file.
    MultiEdit,
    /// Views, edits and creates files by a command field.
    Editor,
    /// Writes a file.
    Write,
    /// Runs a command.
    Bash,
    /// Replaces the todo list.
    Todo,
    /// Starts a sub-agent.
    Task,
    /// Loads a skill.
    Skill,
    /// Fetches a page.
    Fetch,
    /// Begins planning.
    EnterPlan,
    /// Presents the plan.
    ExitPlan,
    /// Keeps files across sessions.
    Memory,
    /// Needs an id from somewhere, asks the user, or does what cannot be taken back: called only when forced.
    Delicate,
    /// Anything else; used by its schema.
    Other,
}

/// A tool on offer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'a> {
    /// Its definition.
    pub(crate) tool: &'a Tool,
    /// What it is for.
    pub(crate) kind: Kind,
}

impl<'a> Offer<'a> {
    /// Its name.
    pub(crate) fn name(&self) -> &'a str {
        &self.tool.name
    }

    /// What it says of itself.
    pub(crate) fn description(&self) -> &'a str {
        self.tool
            .fields
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or("")
    }

    /// The schema of its input.
    pub(crate) fn schema(&self) -> Cow<'a, Value> {
        match self.tool.fields.get("input_schema") {
            Some(schema) => Cow::Borrowed(schema),
            None => Cow::Owned(typed_schema(self.kind)),
        }
    }

    /// The definition of a field of its input.
    pub(crate) fn field(&self, name: &str) -> Option<Value> {
        self.schema().get("properties")?.get(name).cloned()
    }

    /// The field that takes a path.
    pub(crate) fn path_field(&self) -> Option<&'static str> {
        PATH_FIELDS
            .iter()
            .copied()
            .find(|name| self.field(name).is_some())
    }

    /// An input that keeps of `hints` what its schema has.
    pub(crate) fn input(&self, hints: Value, palette: Palette<'_>, chance: &mut Chance) -> Value {
        let extras = match self.kind {
            Kind::Other => Extras::Some,
            _ => Extras::None,
        };
        fit(&self.schema(), hints, extras, palette, chance)
    }
}

/// The tools on offer.
#[derive(Debug, Clone)]
pub(crate) struct Toolbox<'a> {
    offers: Vec<Offer<'a>>,
}

impl<'a> Toolbox<'a> {
    /// Those of a request.
    pub(crate) fn of(request: &'a Request) -> Self {
        let known = if request.tools.iter().any(|tool| tool.deferred) {
            discovered(request)
        } else {
            BTreeSet::new()
        };
        let gone = removed(request);
        let offers = request
            .tools
            .iter()
            .filter(|tool| !tool.deferred || known.contains(tool.name.as_str()))
            .filter(|tool| !gone.contains(tool.name.as_str()))
            .filter_map(|tool| kind_of(tool).map(|kind| Offer { tool, kind }))
            .collect();
        Self { offers }
    }

    /// The same without those the test refuses.
    pub(crate) fn filtered(mut self, keep: impl Fn(&Offer<'_>) -> bool) -> Self {
        self.offers.retain(keep);
        self
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[Offer<'a>] {
        &self.offers
    }

    /// The first of a kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> Option<Offer<'a>> {
        self.offers.iter().find(|offer| offer.kind == kind).copied()
    }

    /// One by its name.
    pub(crate) fn named(&self, name: &str) -> Option<Offer<'a>> {
        self.offers
            .iter()
            .find(|offer| offer.name() == name)
            .copied()
    }
}

/// What a tool of this name is for, whatever the request; for reading results of calls.
pub(crate) fn kind_of_name(name: &str) -> Kind {
    let squeezed: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    match squeezed.as_str() {
        "read" | "readfile" | "fileread" | "view" | "viewfile" | "openfile" => Kind::Read,
        "grep" | "search" | "searchfiles" | "ripgrep" | "rg" | "greptool" | "codesearch" => {
            Kind::Grep
        }
        "glob" | "findfiles" | "globtool" | "filesearch" => Kind::Glob,
        "ls" | "list" | "listdir" | "listfiles" | "listdirectory" => Kind::List,
        "edit" | "editfile" | "strreplace" | "replace" | "fileedit" => Kind::Edit,
        "multiedit" => Kind::MultiEdit,
        "strreplacebasededittool" | "strreplaceeditor" | "texteditor" => Kind::Editor,
        "write" | "writefile" | "createfile" | "filewrite" => Kind::Write,
        "bash" | "shell" | "runcommand" | "execute" | "executecommand" | "terminal"
        | "localshell" => Kind::Bash,
        "todowrite" | "todo" | "updatetodos" | "writetodos" => Kind::Todo,
        "task" | "agent" | "dispatchagent" | "subagent" => Kind::Task,
        "skill" => Kind::Skill,
        "webfetch" | "fetch" | "fetchurl" => Kind::Fetch,
        "enterplanmode" => Kind::EnterPlan,
        "exitplanmode" => Kind::ExitPlan,
        "memory" => Kind::Memory,
        "bashoutput" | "killshell" | "killbash" | "taskoutput" | "taskstop" | "taskupdate"
        | "taskget" | "agentoutput" | "notebookedit" | "computer" | "sendmessage" => Kind::Delicate,
        _ if squeezed.contains("ask") && squeezed.contains("user") => Kind::Delicate,
        _ if says_lasting(name) => Kind::Delicate,
        _ => Kind::Other,
    }
}

fn kind_of(tool: &Tool) -> Option<Kind> {
    match tool.kind.as_deref() {
        None | Some("custom") => {}
        Some(kind) if kind.starts_with("bash_2") => return Some(Kind::Bash),
        Some(kind) if kind.starts_with("text_editor_") => return Some(Kind::Editor),
        Some(kind) if kind.starts_with("memory_") => return Some(Kind::Memory),
        Some(kind) if kind.starts_with("computer_") => return Some(Kind::Delicate),
        Some(_) => return None,
    }
    let kind = kind_of_name(&tool.name);
    let field = |name: &str| {
        let schema = tool.fields.get("input_schema");
        schema
            .and_then(|schema| schema.get("properties")?.get(name))
            .is_some()
    };
    let path = PATH_FIELDS.iter().any(|name| field(name));
    // A tool that only shares a name with a known one is used by its schema.
    let as_known = match kind {
        Kind::Read | Kind::List => path,
        Kind::Edit => path && field("old_string") && field("new_string"),
        Kind::MultiEdit => path && field("edits"),
        Kind::Write => path && field("content"),
        Kind::Grep | Kind::Glob => field("pattern"),
        Kind::Bash => field("command"),
        Kind::Todo => field("todos"),
        Kind::Task => field("prompt"),
        Kind::Skill => field("skill") || field("command") || field("name"),
        Kind::Fetch => field("url"),
        Kind::Editor | Kind::Memory => field("command"),
        Kind::EnterPlan | Kind::ExitPlan | Kind::Delicate | Kind::Other => true,
    };
    Some(if as_known { kind } else { Kind::Other })
}

/// The name says that something is sent, deleted or put into the world.
fn says_lasting(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    const LASTING: &[&str] = &[
        "delete", "remove", "destroy", "drop", "kill", "send", "deploy", "publish", "push",
        "merge", "purchase", "pay", "cron", "schedule",
    ];
    lower
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| LASTING.iter().any(|word| part.starts_with(word)))
}

/// Schemas of the tools the API defines by type.
fn typed_schema(kind: Kind) -> Value {
    let text = json!({ "type": "string" });
    let commands: &[&str] = match kind {
        Kind::Bash => {
            return json!({ "type": "object", "properties": { "command": text }, "required": ["command"] });
        }
        Kind::Editor => &["view", "str_replace", "create", "insert"],
        Kind::Memory => &[
            "view",
            "create",
            "str_replace",
            "insert",
            "delete",
            "rename",
        ],
        _ => return json!({ "type": "object", "properties": {} }),
    };
    json!({
        "type": "object",
        "properties": {
            "command": { "type": "string", "enum": commands },
            "path": text, "file_text": text, "old_str": text, "new_str": text, "insert_text": text,
            "insert_line": { "type": "integer", "minimum": 0 },
            "view_range": { "type": "array", "items": { "type": "integer" } },
        },
        "required": ["command", "path"],
    })
}

fn discovered(request: &Request) -> BTreeSet<&str> {
    fn names<'v>(value: &'v Value, found: &mut BTreeSet<&'v str>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            Value::Object(map) => {
                if map.get("type").and_then(Value::as_str) == Some("tool_reference") {
                    found.extend(map.get("tool_name").and_then(Value::as_str));
                }
                for key in ["content", "tool_references"] {
                    if let Some(inner) = map.get(key) {
                        names(inner, found);
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    for block in request
        .messages
        .iter()
        .rev()
        .take(LOOK_BACK)
        .flat_map(|message| &message.content)
    {
        if matches!(
            block.kind.as_str(),
            "tool_result" | "tool_search_tool_result"
        ) && let Some(content) = block.fields.get("content")
        {
            names(content, &mut found);
        }
    }
    found
}

fn removed(request: &Request) -> BTreeSet<&str> {
    let mut gone = BTreeSet::new();
    for message in request
        .messages
        .iter()
        .filter(|message| message.role == Role::System)
    {
        for block in &message.content {
            let tool = block.fields.get("tool");
            let name = block
                .text("name")
                .or_else(|| block.text("tool_name"))
                .or_else(|| tool.and_then(Value::as_str))
                .or_else(|| {
                    tool?
                        .get("name")
                        .or_else(|| tool?.get("tool_name"))?
                        .as_str()
                });
            match (block.kind.as_str(), name) {
                ("tool_removal", Some(name)) => gone.insert(name),
                ("tool_addition", Some(name)) => gone.remove(name),
                _ => false,
            };
        }
    }
    gone
}
