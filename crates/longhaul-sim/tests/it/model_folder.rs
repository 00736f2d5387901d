//! A folder in memory and the tools of a coding agent over it, as strict as real ones: edits must match once, paths must
//! exist.

use std::collections::BTreeMap;

use longhaul_sim::request::ApiTool;
use serde_json::{Value, json};

use crate::model_talk::{Answer, described, failed, fine, tool};

pub(crate) struct Folder {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) edits: usize,
    pub(crate) test_runs: usize,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let mut files = BTreeMap::new();
        let areas = ["parser", "store", "cache", "queue", "report", "config"];
        for (index, area) in areas.iter().enumerate() {
            for part in 0..5 {
                let mut body = format!("//! Part {part} of the {area}.\n\nuse std::fmt;\n\n");
                for item in 0..(4 + (index + part) % 7) {
                    body.push_str(&format!(
                        "/// Step {item}.\npub fn {area}_{part}_step_{item}(input: &str) -> usize {{\n    let count = input.len() + {item};\n    count * {part}\n}}\n\n"
                    ));
                }
                files.insert(format!("/proj/src/{area}/part_{part}.rs"), body);
            }
        }
        files.insert(
            "/proj/Cargo.toml".to_owned(),
            "[package]\nname = \"proj\"\n\n[dependencies]\n".to_owned(),
        );
        files.insert(
            "/proj/README.md".to_owned(),
            "# Proj\n\nA small thing.\n\n## Use\n\nRun it.\n".to_owned(),
        );
        Self {
            files,
            edits: 0,
            test_runs: 0,
        }
    }

    pub(crate) fn run(&mut self, name: &str, input: &Value) -> Answer {
        let text = |field: &str| input.get(field).and_then(Value::as_str).unwrap_or("");
        match name {
            "Read" => self.read(text("file_path"), input),
            "Glob" => self.glob(text("pattern")),
            "Grep" => self.grep(text("pattern"), text("output_mode")),
            "Edit" => self.edit(text("file_path"), text("old_string"), text("new_string")),
            "Write" => {
                self.files
                    .insert(text("file_path").to_owned(), text("content").to_owned());
                fine("File written.")
            }
            "Bash" => self.bash(text("command")),
            "TodoWrite" => fine("Noted."),
            _ => fine("Two entries were found.\nNothing else."),
        }
    }

    fn read(&self, path: &str, input: &Value) -> Answer {
        let Some(body) = self.files.get(path) else {
            return failed("File does not exist.");
        };
        let from = input
            .get("offset")
            .and_then(Value::as_u64)
            .unwrap_or(1)
            .max(1) as usize;
        let limit = input.get("limit").and_then(Value::as_u64).unwrap_or(2000) as usize;
        let lines = body.lines().enumerate().skip(from - 1).take(limit);
        let shown: Vec<String> = lines
            .map(|(at, line)| format!("{:>6}→{line}", at + 1))
            .collect();
        if shown.is_empty() {
            failed("The file is shorter than that offset.")
        } else {
            fine(&shown.join("\n"))
        }
    }

    fn glob(&self, pattern: &str) -> Answer {
        let wanted = pattern.trim_start_matches("**/");
        let fits = |path: &&String| {
            let name = path.rsplit('/').next().unwrap();
            let parts: Vec<&str> = wanted.split('*').collect();
            let mut rest = name;
            for part in &parts {
                let Some(at) = rest.find(part) else {
                    return false;
                };
                rest = &rest[at + part.len()..];
            }
            wanted.ends_with('*') || rest.is_empty()
        };
        let found: Vec<&String> = self.files.keys().filter(fits).collect();
        if found.is_empty() {
            fine("No files found")
        } else {
            fine(
                &found
                    .iter()
                    .map(|path| path.as_str())
                    .collect::<Vec<_>>()
                    .join("\n"),
            )
        }
    }

    fn grep(&self, pattern: &str, mode: &str) -> Answer {
        let mut shown = Vec::new();
        for (path, body) in &self.files {
            for (at, line) in body
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains(pattern))
            {
                shown.push(format!("{path}:{}:{line}", at + 1));
            }
            if mode != "content" && body.contains(pattern) {
                shown.retain(|line| !line.starts_with(path.as_str()) || line == path);
                shown.push(path.clone());
            }
        }
        shown.truncate(60);
        if shown.is_empty() {
            fine("No matches found")
        } else {
            fine(&shown.join("\n"))
        }
    }

    fn edit(&mut self, path: &str, old: &str, new: &str) -> Answer {
        let Some(body) = self.files.get_mut(path) else {
            return failed("File does not exist.");
        };
        match (old == new, body.matches(old).count()) {
            (true, _) => failed("Nothing would change: old_string and new_string are the same."),
            (_, 0) => failed("String to replace not found in file."),
            (_, 1) => {
                *body = body.replacen(old, new, 1);
                self.edits += 1;
                fine("The file was updated.")
            }
            (_, many) => failed(&format!("Found {many} matches of the string to replace.")),
        }
    }

    fn bash(&mut self, command: &str) -> Answer {
        if command == "git ls-files" {
            let names: Vec<&str> = self
                .files
                .keys()
                .filter_map(|path| path.strip_prefix("/proj/"))
                .collect();
            return fine(&names.join("\n"));
        }
        if let Some(folder) = command.strip_prefix("ls -1p") {
            let folder = folder.trim();
            let folder = if folder.is_empty() { "/proj" } else { folder };
            let mut names: Vec<String> = Vec::new();
            for path in self.files.keys() {
                if let Some(rest) = path.strip_prefix(&format!("{folder}/")) {
                    let name = rest
                        .split_once('/')
                        .map_or(rest.to_owned(), |(inner, _)| format!("{inner}/"));
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
            return if names.is_empty() {
                failed("Exit code 2\nls: no such folder")
            } else {
                fine(&names.join("\n"))
            };
        }
        if command.starts_with("cargo test") {
            self.test_runs += 1;
            return match self.test_runs % 3 {
                0 => failed(
                    "Exit code 101\ntest parser::step ... FAILED\nsrc/parser/part_1.rs:12: assertion failed",
                ),
                _ => fine("test result: ok. 12 passed"),
            };
        }
        fine("")
    }
}

/// The tools of a coding agent, with schemas as hosts write them.
pub(crate) fn coding_tools() -> Vec<ApiTool> {
    let string = json!({ "type": "string" });
    let number = json!({ "type": "number" });
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    vec![
        tool(
            "Read",
            object(
                json!({ "file_path": string, "offset": number, "limit": number }),
                json!(["file_path"]),
            ),
        ),
        tool(
            "Grep",
            object(
                json!({
                    "pattern": string, "path": string, "glob": string, "-i": { "type": "boolean" }, "-n": { "type": "boolean" },
                    "head_limit": number,
                    "output_mode": { "type": "string", "enum": ["content", "files_with_matches", "count"] },
                }),
                json!(["pattern"]),
            ),
        ),
        tool(
            "Glob",
            object(
                json!({ "pattern": string, "path": string }),
                json!(["pattern"]),
            ),
        ),
        tool(
            "Edit",
            object(
                json!({ "file_path": string, "old_string": string, "new_string": string, "replace_all": { "type": "boolean", "default": false } }),
                json!(["file_path", "old_string", "new_string"]),
            ),
        ),
        tool(
            "Write",
            object(
                json!({ "file_path": string, "content": string }),
                json!(["file_path", "content"]),
            ),
        ),
        tool(
            "Bash",
            object(
                json!({ "command": string, "timeout": number, "description": string, "run_in_background": { "type": "boolean" } }),
                json!(["command"]),
            ),
        ),
        tool(
            "TodoWrite",
            object(
                json!({ "todos": { "type": "array", "items": object(
                    json!({
                        "content": { "type": "string", "minLength": 1 }, "activeForm": { "type": "string", "minLength": 1 },
                        "status": { "type": "string", "enum": ["pending", "in_progress", "completed"] },
                    }),
                    json!(["content", "status", "activeForm"]),
                ) } }),
                json!(["todos"]),
            ),
        ),
        described(
            "Task",
            "Starts a helper. Kinds:\n- explorer: looks around\n- general-purpose: does anything",
            object(
                json!({ "description": string, "prompt": string, "subagent_type": string }),
                json!(["description", "prompt", "subagent_type"]),
            ),
        ),
        tool(
            "mcp__tracker__search_issues",
            object(
                json!({
                    "query": string, "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
                    "state": { "enum": ["open", "closed", "all"] },
                    "labels": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 3 },
                }),
                json!(["query", "state"]),
            ),
        ),
    ]
}
