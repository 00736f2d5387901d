//! What a prompt mentions as `@path` or `@server:uri`: its content goes with the prompt. Only files in the folders of the
//! session are attached, and none that a rule hides: a prompt may be pasted from anywhere. How much of a file is attached
//! is in `attached_beginning.rs`.

use std::path::{Path, PathBuf};

use longhaul_core::figures::{counted_as, grouped};
use serde_json::{Value, json};

use super::ProjectSetup;
use super::attached_beginning::AttachedBeginning;
use crate::agent::UserPrompt;
use crate::files::{OpenedFile, UnusableFile, amount, resolve};
use crate::mention::{Mention, MentionStyle};

/// The maximum number of mentions that are followed in one prompt.
const MOST_MENTIONS: usize = 10;
/// The maximum number of names in the listing of a folder.
const MOST_NAMES: usize = 500;
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
        let mut mentions = Mention::all(&prompt.text);
        mentions.retain(|mention| means_something(cwd, mention));
        let followed = mentions.len().min(MOST_MENTIONS);
        let rest = mentions.split_off(followed);
        for Mention { name, style } in &mentions {
            let attached = match self.attachment(cwd, name) {
                Attached::Nothing => self.resource(name).await,
                attached => attached,
            };
            match attached {
                Attached::Content(value, about) => {
                    prompt.attachments.extend(value);
                    notices.push(format!("attached {name} ({about})"));
                }
                Attached::Pictures(value, pictures, about) => {
                    prompt.attachments.extend(value);
                    prompt.blocks.extend(pictures);
                    notices.push(format!("attached {name} ({about})"));
                }
                Attached::Refused(why) => notices.push(format!("{name} is not attached: {why}")),
                Attached::Nothing if *style == MentionStyle::Marked || looks_like_path(name) => {
                    notices.push(format!(
                        "{name} is not attached: there is no such file here"
                    ));
                }
                Attached::Nothing => {}
            }
        }
        notices.extend(too_many(&rest));
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
            Some(Ok(read)) => Attached::Pictures(read.attachment, read.pictures, read.about),
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
        if path.symlink_metadata().is_err() {
            return Attached::Nothing;
        }
        let Ok(real) = resolve(&path) else {
            return refused("its links lead around in a circle");
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
        let opened = match OpenedFile::regular(&real) {
            Ok(opened) => opened,
            Err(UnusableFile::Special(_)) => {
                return refused("it is a pipe, a socket or a device, not a file");
            }
            Err(UnusableFile::Missing(_)) => return refused("it is a link to nothing"),
            Err(_) => return refused("it cannot be read"),
        };
        let size = opened.metadata.len();
        let Ok(content) = opened.content() else {
            return refused("it cannot be read");
        };
        // As the tool `Read` judges it.
        if memchr::memchr(0, &content).is_some() {
            return Attached::Refused(format!("it is a binary file of {}", amount(size)));
        }
        let Some(beginning) = AttachedBeginning::of(&content, size) else {
            return refused("it is not text");
        };
        let file = json!({
            "filePath": real,
            "content": beginning.content(),
            "numLines": beginning.lines,
            "startLine": 1,
            "totalLines": beginning.total,
        });
        let value = json!({
            "type": "file",
            "filename": real,
            "content": { "type": "text", "file": file },
        });
        Attached::Content(Some(value), beginning.told())
    }
}

/// Whether a mention is meant as one: an address, a decorator or a handle that is no file is left alone.
fn means_something(cwd: &Path, mention: &Mention) -> bool {
    mention.style == MentionStyle::Marked
        || looks_like_path(&mention.name)
        || mention.name.contains(':')
        || cwd.join(&mention.name).symlink_metadata().is_ok()
}

/// Says which mentions are not followed because there are so many.
fn too_many(rest: &[Mention]) -> Option<String> {
    let named = rest.iter().take(MOST_MENTIONS);
    let mut names: Vec<String> = named.map(|mention| mention.name.clone()).collect();
    if rest.len() > names.len() {
        names.push(format!(
            "{} more",
            grouped((rest.len() - names.len()) as u64)
        ));
    }
    (!names.is_empty()).then(|| {
        format!(
            "not attached, because a prompt can mention no more than {MOST_MENTIONS}: {}",
            names.join(", ")
        )
    })
}

/// Whether somebody who writes this after an `@` means a file: a decorator or a handle has neither sign.
fn looks_like_path(name: &str) -> bool {
    name.contains(['/', '.']) && !name.contains(['(', '@'])
}

enum Attached {
    /// A text, as an attachment, and how long it is.
    Content(Option<Value>, String),
    /// A text, pictures as blocks, or both, and how much it is.
    Pictures(Option<Value>, Vec<Value>, String),
    Refused(String),
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_and_decorators_are_no_paths() {
        for (name, is_path) in [
            ("nope.txt", true),
            ("src/x", true),
            ("property", false),
            ("app.get(", false),
        ] {
            assert_eq!(looks_like_path(name), is_path, "{name}");
        }
    }
}
