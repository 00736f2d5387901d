//! What a prompt mentions as `@path` or `@server:uri`: its content goes with the prompt. Only files in the folders of the
//! session are attached, and none that a rule hides: a prompt may be pasted from anywhere.

use std::path::{Path, PathBuf};

use longhaul_core::figures::{counted, counted_as, grouped};
use serde_json::{Value, json};

use super::ProjectSetup;
use crate::agent::UserPrompt;
use crate::files::{OpenedFile, resolve};

/// The maximum number of mentions that are followed in one prompt.
const MOST_MENTIONS: usize = 10;
/// The maximum number of lines and of bytes of a file.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 100_000;
/// The maximum number of names in the listing of a folder.
const MOST_NAMES: usize = 500;
/// Signs that end a sentence rather than a path.
const AFTER: [char; 9] = [',', '.', ';', ':', '!', '?', ')', '"', '\''];

/// A prompt with what it mentions.
#[derive(Debug)]
pub(crate) struct PromptWithMentions {
    /// The prompt, with its attachments.
    pub(crate) prompt: UserPrompt,
    /// What was attached and what was not, for people.
    pub(crate) notices: Vec<String>,
}

impl ProjectSetup {
    /// Attaches what a prompt mentions.
    pub(crate) async fn with_mentions(
        &self,
        cwd: &Path,
        mut prompt: UserPrompt,
    ) -> PromptWithMentions {
        let mut notices = Vec::new();
        let text = prompt.text.clone();
        for name in mentioned(&text).into_iter().take(MOST_MENTIONS) {
            let attached = match self.attachment(cwd, name) {
                Attached::Nothing => self.resource(name).await,
                attached => attached,
            };
            match attached {
                Attached::Content(value, about) => {
                    prompt.attachments.extend(value);
                    notices.push(format!("attached {name} ({about})"));
                }
                Attached::Pictures(value, pictures) => {
                    let about = counted(pictures.len() as u64, "picture");
                    prompt.attachments.extend(value);
                    prompt.blocks.extend(pictures);
                    notices.push(format!("attached {name} ({about})"));
                }
                Attached::Refused(why) => notices.push(format!("{name} is not attached: {why}")),
                Attached::Nothing if looks_like_path(name) => {
                    notices.push(format!(
                        "{name} is not attached: there is no such file here"
                    ));
                }
                Attached::Nothing => {}
            }
        }
        PromptWithMentions { prompt, notices }
    }

    /// The resource of a server that a mention means.
    async fn resource(&self, name: &str) -> Attached {
        let Some(servers) = &self.tool_provisioner.servers else {
            return Attached::Nothing;
        };
        match servers.resource(name).await {
            None => Attached::Nothing,
            Some(Err(why)) => Attached::Refused(why),
            Some(Ok(read)) if read.pictures.is_empty() => {
                Attached::Content(read.attachment, counted(read.lines as u64, "line"))
            }
            Some(Ok(read)) => Attached::Pictures(read.attachment, read.pictures),
        }
    }

    /// The names in a folder; those that a rule hides are left out.
    fn folder(&self, name: &str, real: &Path) -> Attached {
        let Ok(entries) = std::fs::read_dir(real) else {
            return Attached::Refused("it cannot be read".to_owned());
        };
        let entries = entries.flatten().filter(|entry| {
            let is_git = entry.file_name() == ".git";
            !is_git && !self.permissions.denies_reading(&entry.path())
        });
        let mut names: Vec<String> = entries
            .map(|entry| {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let end = if is_folder { "/" } else { "" };
                format!("{}{end}", entry.file_name().to_string_lossy())
            })
            .collect();
        names.sort();
        let about = counted_as(names.len() as u64, "entry", "entries");
        let hidden = names.len().saturating_sub(MOST_NAMES);
        names.truncate(MOST_NAMES);
        if hidden > 0 {
            names.push(format!("… and {} more", grouped(hidden as u64)));
        }
        let listing = match names.is_empty() {
            true => "(empty)".to_owned(),
            false => names.join("\n"),
        };
        let value = json!({
            "type": "directory",
            "path": real,
            "content": listing,
            "displayPath": name,
        });
        Attached::Content(Some(value), format!("a folder, {about}"))
    }

    fn attachment(&self, cwd: &Path, name: &str) -> Attached {
        let refused = |why: &str| Attached::Refused(why.to_owned());
        let path = cwd.join(name);
        // What does not exist is no mention: an address, a decorator, a handle.
        if !path.is_file() && !path.is_dir() {
            return Attached::Nothing;
        }
        let Ok(real) = resolve(&path) else {
            return Attached::Nothing;
        };
        let folders = std::iter::once(cwd).chain(self.further.iter().map(PathBuf::as_path));
        if !folders.into_iter().any(|folder| real.starts_with(folder)) {
            return refused("it is outside of this folder; ask for it to be read");
        }
        if self.permissions.denies_reading(&real) {
            return refused("a rule forbids reading it");
        }
        if real.is_dir() {
            return self.folder(name, &real);
        }
        let content = OpenedFile::regular(&real).and_then(OpenedFile::content);
        let Ok(content) = content else {
            return refused("it cannot be read");
        };
        let Ok(text) = String::from_utf8(content) else {
            return refused("it is not text");
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
        let about = if lines == total {
            counted(total as u64, "line")
        } else {
            format!(
                "the first {} of {}",
                grouped(lines as u64),
                counted(total as u64, "line")
            )
        };
        Attached::Content(Some(value), about)
    }
}

/// Whether somebody who writes this after an `@` means a file: a decorator or a handle has neither sign.
fn looks_like_path(name: &str) -> bool {
    name.contains(['/', '.']) && !name.contains(['(', '@'])
}

enum Attached {
    /// A text, as an attachment, and how long it is.
    Content(Option<Value>, String),
    /// Pictures, as blocks, and maybe a text.
    Pictures(Option<Value>, Vec<Value>),
    Refused(String),
    Nothing,
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
        assert_eq!(
            mentioned("see @docs:file:///a.txt."),
            ["docs:file:///a.txt"]
        );
        for (name, is_path) in [
            ("nope.txt", true),
            ("src/x", true),
            ("property", false),
            ("app.get(", false),
        ] {
            assert_eq!(looks_like_path(name), is_path, "{name}");
        }
        assert_eq!(beginning(&"x\n".repeat(3_000)).lines().count(), MOST_LINES);
        assert_eq!(beginning(&"ä".repeat(60_000)).len(), MOST_BYTES);
    }
}
