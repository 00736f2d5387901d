//! Files that a prompt mentions as `@path`: their content goes with the prompt. Only files in the folders of the session
//! are attached, and none that a rule hides: a prompt may be pasted from anywhere.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::ProjectSetup;
use crate::agent::UserPrompt;
use crate::files::{OpenedFile, resolve};

/// The maximum number of files that go with one prompt.
const MOST_FILES: usize = 10;
/// The maximum number of lines and of bytes of each.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 100_000;
/// Signs that end a sentence rather than a path.
const AFTER: [char; 9] = [',', '.', ';', ':', '!', '?', ')', '"', '\''];

/// A prompt with the files that it mentions.
#[derive(Debug)]
pub(crate) struct PromptWithFiles {
    /// The prompt, with its attachments.
    pub(crate) prompt: UserPrompt,
    /// What was attached and what was not, for people.
    pub(crate) notices: Vec<String>,
}

impl ProjectSetup {
    /// Attaches the files that a prompt mentions.
    pub(crate) fn with_files(&self, cwd: &Path, text: String) -> PromptWithFiles {
        let mut notices = Vec::new();
        let mut attachments = Vec::new();
        for name in mentioned(&text).into_iter().take(MOST_FILES) {
            match self.attachment(cwd, name) {
                Attached::File(value, lines) => {
                    attachments.push(value);
                    notices.push(format!("attached {name} ({lines})"));
                }
                Attached::Refused(why) => notices.push(format!("{name} is not attached: {why}")),
                Attached::NoFile => {}
            }
        }
        PromptWithFiles {
            prompt: UserPrompt {
                text,
                attachments,
                ..UserPrompt::default()
            },
            notices,
        }
    }

    fn attachment(&self, cwd: &Path, name: &str) -> Attached {
        let path = cwd.join(name);
        // What does not exist is no mention: an address, a decorator, a handle.
        if !path.is_file() {
            return Attached::NoFile;
        }
        let Ok(real) = resolve(&path) else {
            return Attached::NoFile;
        };
        let folders = std::iter::once(cwd).chain(self.further.iter().map(PathBuf::as_path));
        if !folders.into_iter().any(|folder| real.starts_with(folder)) {
            return Attached::Refused("it is outside of this folder; ask for it to be read");
        }
        if self.gate.permissions.denies_reading(&real) {
            return Attached::Refused("a rule forbids reading it");
        }
        let content = OpenedFile::regular(&real).and_then(OpenedFile::content);
        let Ok(content) = content else {
            return Attached::Refused("it cannot be read");
        };
        let Ok(text) = String::from_utf8(content) else {
            return Attached::Refused("it is not text");
        };
        let total = text.lines().count();
        let shown = beginning(&text);
        let lines = shown.lines().count();
        let value = json!({
            "type": "file",
            "filename": real,
            "content": { "type": "text", "file": {
                "filePath": real, "content": shown, "numLines": lines, "startLine": 1, "totalLines": total,
            }},
        });
        let about = match (lines, total) {
            (1, 1) => "1 line".to_owned(),
            (lines, total) if lines == total => format!("{total} lines"),
            (lines, total) => format!("the first {lines} of {total} lines"),
        };
        Attached::File(value, about)
    }
}

enum Attached {
    File(Value, String),
    Refused(&'static str),
    NoFile,
}

/// The beginning of a text that is attached.
fn beginning(text: &str) -> &str {
    let by_lines = text.match_indices('\n').nth(MOST_LINES - 1);
    let end = by_lines
        .map_or(text.len(), |(at, _)| at + 1)
        .min(MOST_BYTES);
    let end = (0..=end).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// The words of a text that begin with `@`, without it, each once.
fn mentioned(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for word in text.split_whitespace() {
        let word = word.trim_start_matches(['(', '"', '\'']);
        let Some(name) = word.strip_prefix('@') else {
            continue;
        };
        let name = name.trim_end_matches(AFTER);
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_an_at_sign_are_mentions() {
        let found = mentioned("Compare @src/a.rs with (@b.txt), ask me@home.org; again @src/a.rs.");
        assert_eq!(found, ["src/a.rs", "b.txt"]);
        assert_eq!(beginning(&"x\n".repeat(3_000)).lines().count(), MOST_LINES);
        assert_eq!(beginning(&"ä".repeat(60_000)).len(), MOST_BYTES);
    }
}
