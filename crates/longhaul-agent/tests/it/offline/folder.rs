//! A folder with simple tools: they really read files, but have no permissions and run nothing.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use serde_json::{Value, json};

/// The tools of a folder.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) root: PathBuf,
    /// Tools that the user does not allow.
    pub(crate) denied: Vec<&'static str>,
}

impl Folder {
    pub(crate) fn new(root: &Path) -> Self {
        let root = root.canonicalize().unwrap();
        Self {
            root,
            denied: Vec::new(),
        }
    }

    pub(crate) fn system(&self) -> String {
        format!(
            "You help people.\n\n# Environment\n\n- Working directory: `{}`\n",
            self.root.display()
        )
    }

    /// Runs a call and returns its text, and whether it failed.
    pub(crate) fn run(&self, name: &str, input: &Value) -> (String, bool) {
        if self.denied.contains(&name) {
            return (format!("Permission denied: {name} was not allowed."), true);
        }
        let text = |field: &str| input[field].as_str().unwrap_or("").to_owned();
        let path = || self.root.join([text("file_path"), text("path")].concat());
        let done = match name {
            "Glob" => Ok(self.glob(&text("pattern"), &self.root.join(text("path")))),
            "Grep" => Ok(self.grep(
                &text("pattern"),
                input["head_limit"].as_u64().unwrap_or(100),
            )),
            "Read" => read(&path(), input["limit"].as_u64().unwrap_or(2_000)),
            "Write" => std::fs::write(path(), text("content"))
                .map(|()| "Written.".to_owned())
                .map_err(|why| why.to_string()),
            "Edit" => match std::fs::read_to_string(path()) {
                Ok(old) if old.contains(&text("old_string")) => {
                    let new = old.replacen(&text("old_string"), &text("new_string"), 1);
                    std::fs::write(path(), new)
                        .map(|()| "Edited.".to_owned())
                        .map_err(|why| why.to_string())
                }
                Ok(_) => Err("The text is not in the file.".to_owned()),
                Err(why) => Err(why.to_string()),
            },
            "TodoWrite" => Ok("The list is kept.".to_owned()),
            "Bash" => match text("command").strip_prefix("cat ") {
                Some(name) => read(&self.root.join(name), 2_000),
                None => Ok(format!("ran {}", text("command"))),
            },
            "Task" => Ok("There are some files.".to_owned()),
            _ => Err(format!("{name} does not work here.")),
        };
        match done {
            Ok(said) => (said, false),
            Err(said) => (said, true),
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    path => files.push(path),
                }
            }
        }
        files.sort();
        files
    }

    fn glob(&self, pattern: &str, base: &Path) -> String {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let Ok(glob) = glob.map(|glob| glob.compile_matcher()) else {
            return "No files found".to_owned();
        };
        let fits = |path: &PathBuf| {
            path.strip_prefix(base)
                .is_ok_and(|path| glob.is_match(path))
        };
        let found: Vec<String> = self
            .files()
            .iter()
            .filter(|path| fits(path))
            .map(|path| path.display().to_string())
            .collect();
        if found.is_empty() {
            "No files found".to_owned()
        } else {
            found.join("\n")
        }
    }

    fn grep(&self, pattern: &str, most: u64) -> String {
        let pattern = regex::Regex::new(pattern).expect("a pattern that can be read");
        let mut found = String::new();
        let mut left = most;
        for path in self.files() {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            for (at, line) in text
                .lines()
                .enumerate()
                .filter(|(_, line)| pattern.is_match(line))
            {
                if left == 0 {
                    return found;
                }
                left -= 1;
                let _ = writeln!(found, "{}:{}:{line}", path.display(), at + 1);
            }
        }
        if found.is_empty() {
            "No matches found".to_owned()
        } else {
            found
        }
    }
}

fn read(path: &Path, limit: u64) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| "This is a binary file and cannot be shown.".to_owned())?;
    let lines = text
        .lines()
        .take(usize::try_from(limit).unwrap())
        .enumerate();
    Ok(lines
        .map(|(at, line)| format!("{:>6}\t{line}\n", at + 1))
        .collect())
}

/// A small project.
pub(crate) fn project(root: &Path, files: usize, lines: usize) {
    let put = |name: &str, text: &str| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(
        "README.md",
        "# The harbour office\n\nKeeps books.\n\n## Use\n\nRun it.\n",
    );
    put("Cargo.toml", "[package]\nname = \"harbour\"\n");
    for file in 0..files {
        let mut text = format!("//! Part {file}.\n\npub fn part_{file}(ships: u32) -> u32 {{\n");
        for line in 0..lines {
            let _ = writeln!(
                text,
                "    let berth_{line} = ships.wrapping_mul({line}) + part_{};",
                (file + 1) % files
            );
        }
        text.push_str("}\n");
        put(&format!("src/part_{file}.rs"), &text);
    }
}

/// The tools as they appear in requests.
pub(crate) fn definitions() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer", "minimum": 0 });
    let tool = |name: &str, properties: Value, required: &[&str]| {
        json!({ "name": name, "description": format!("{name}, as you know it."), "input_schema": {
            "type": "object", "properties": properties, "required": required, "additionalProperties": false } })
    };
    let modes = json!({ "type": "string", "enum": ["content", "files_with_matches", "count"] });
    let state = json!({ "type": "string", "enum": ["pending", "in_progress", "completed"] });
    let todo = json!({ "type": "object", "properties": { "content": text, "status": state, "activeForm": text },
        "required": ["content", "status", "activeForm"], "additionalProperties": false });
    vec![
        tool(
            "Read",
            json!({ "file_path": text, "offset": number, "limit": number }),
            &["file_path"],
        ),
        tool(
            "Glob",
            json!({ "pattern": text, "path": text }),
            &["pattern"],
        ),
        tool(
            "Grep",
            json!({ "pattern": text, "path": text, "output_mode": modes, "-n": { "type": "boolean" }, "head_limit": number }),
            &["pattern"],
        ),
        tool(
            "TodoWrite",
            json!({ "todos": { "type": "array", "items": todo } }),
            &["todos"],
        ),
        tool(
            "Bash",
            json!({ "command": text, "timeout": number }),
            &["command"],
        ),
        tool(
            "Edit",
            json!({ "file_path": text, "old_string": text, "new_string": text }),
            &["file_path", "old_string", "new_string"],
        ),
        tool(
            "Write",
            json!({ "file_path": text, "content": text }),
            &["file_path", "content"],
        ),
        tool(
            "Task",
            json!({ "description": text, "prompt": text, "subagent_type": { "type": "string", "enum": ["explore", "general"] } }),
            &["description", "prompt", "subagent_type"],
        ),
        tool(
            "WebFetch",
            json!({ "url": text, "prompt": text }),
            &["url", "prompt"],
        ),
        tool("Recall", json!({ "query": text }), &["query"]),
    ]
}
