//! What a tool is for, recognized by its name, its type and its fields.

use serde_json::{Value, json};

use super::PATH_FIELDS;
use crate::request::ApiTool;

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ToolPurpose {
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
    /// Searches the web, with a tool of the client's.
    WebSearch,
    /// Begins planning.
    EnterPlan,
    /// Presents the plan.
    ExitPlan,
    /// Keeps files across sessions.
    Memory,
    /// Needs an id from elsewhere, asks the user, or does something irreversible: called only when forced.
    Delicate,
    /// Any other tool, which is used according to its schema.
    Other,
}

/// What a tool of this name is for, regardless of the request; used for reading the results of calls.
pub(crate) fn kind_of_name(name: &str) -> ToolPurpose {
    let squeezed: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    match squeezed.as_str() {
        "read" | "readfile" | "fileread" | "view" | "viewfile" | "openfile" => ToolPurpose::Read,
        "grep" | "search" | "searchfiles" | "ripgrep" | "rg" | "greptool" | "codesearch" => {
            ToolPurpose::Grep
        }
        "glob" | "findfiles" | "globtool" | "filesearch" => ToolPurpose::Glob,
        "ls" | "list" | "listdir" | "listfiles" | "listdirectory" => ToolPurpose::List,
        "edit" | "editfile" | "strreplace" | "replace" | "fileedit" => ToolPurpose::Edit,
        "multiedit" => ToolPurpose::MultiEdit,
        "strreplacebasededittool" | "strreplaceeditor" | "texteditor" => ToolPurpose::Editor,
        "write" | "writefile" | "createfile" | "filewrite" => ToolPurpose::Write,
        "bash" | "shell" | "runcommand" | "execute" | "executecommand" | "terminal"
        | "localshell" => ToolPurpose::Bash,
        "todowrite" | "todo" | "updatetodos" | "writetodos" => ToolPurpose::Todo,
        "task" | "agent" | "dispatchagent" | "subagent" => ToolPurpose::Task,
        "skill" => ToolPurpose::Skill,
        "webfetch" | "fetch" | "fetchurl" => ToolPurpose::Fetch,
        "websearch" => ToolPurpose::WebSearch,
        "enterplanmode" => ToolPurpose::EnterPlan,
        "exitplanmode" => ToolPurpose::ExitPlan,
        "memory" => ToolPurpose::Memory,
        "bashoutput" | "killshell" | "killbash" | "taskoutput" | "taskstop" | "taskupdate"
        | "taskget" | "agentoutput" | "notebookedit" | "computer" | "sendmessage" => {
            ToolPurpose::Delicate
        }
        _ if squeezed.contains("ask") && squeezed.contains("user") => ToolPurpose::Delicate,
        _ if says_lasting(name) => ToolPurpose::Delicate,
        _ => ToolPurpose::Other,
    }
}

/// What a tool of a request is for; `None` for tools that the server runs itself.
pub(super) fn kind_of(tool: &ApiTool) -> Option<ToolPurpose> {
    match tool.kind.as_deref() {
        None | Some("custom") => {}
        Some(kind) if kind.starts_with("bash_2") => return Some(ToolPurpose::Bash),
        Some(kind) if kind.starts_with("text_editor_") => return Some(ToolPurpose::Editor),
        Some(kind) if kind.starts_with("memory_") => return Some(ToolPurpose::Memory),
        Some(kind) if kind.starts_with("computer_") => return Some(ToolPurpose::Delicate),
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
    // A tool that only shares its name with a known one is used according to its schema.
    let as_known = match kind {
        ToolPurpose::Read | ToolPurpose::List => path,
        ToolPurpose::Edit => path && field("old_string") && field("new_string"),
        ToolPurpose::MultiEdit => path && field("edits"),
        ToolPurpose::Write => path && field("content"),
        ToolPurpose::Grep | ToolPurpose::Glob => field("pattern"),
        ToolPurpose::Bash => field("command"),
        ToolPurpose::Todo => field("todos"),
        ToolPurpose::Task => field("prompt"),
        ToolPurpose::Skill => field("skill") || field("command") || field("name"),
        ToolPurpose::Fetch => field("url"),
        ToolPurpose::WebSearch => field("query"),
        ToolPurpose::Editor | ToolPurpose::Memory => field("command"),
        ToolPurpose::EnterPlan
        | ToolPurpose::ExitPlan
        | ToolPurpose::Delicate
        | ToolPurpose::Other => true,
    };
    Some(if as_known { kind } else { ToolPurpose::Other })
}

/// Whether the name says that something is sent, deleted or published.
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

/// The schemas of the tools that the API defines by type.
pub(super) fn typed_schema(kind: ToolPurpose) -> Value {
    let text = json!({ "type": "string" });
    let commands: &[&str] = match kind {
        ToolPurpose::Bash => {
            return json!({ "type": "object", "properties": { "command": text }, "required": ["command"] });
        }
        ToolPurpose::Editor => &["view", "str_replace", "create", "insert"],
        ToolPurpose::Memory => &[
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
