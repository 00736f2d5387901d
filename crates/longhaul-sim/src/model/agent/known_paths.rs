//! The paths that the agent knows: from listings and searches, from its reads and writes, and from the user's words.

use std::collections::BTreeSet;

use crate::model::conversation::ToolExchange;
use crate::model::toolbox::{PATH_FIELDS, ToolPurpose, kind_of_name};
use crate::request::MessagesRequest;

const MOST_FILES: usize = 300;
const MOST_LISTINGS: usize = 40;
const MOST_LINES: usize = 200;

/// The paths it knows.
#[derive(Debug, Default)]
pub(super) struct KnownPaths {
    /// The files, with the newest knowledge first.
    pub(super) files: Vec<String>,
    /// The folders.
    pub(super) folders: Vec<String>,
    /// The files that the user named.
    pub(super) named: Vec<String>,
    /// The files that the agent has read or written.
    pub(super) read: BTreeSet<String>,
    /// The paths that turned out to be unreadable.
    pub(super) bad: BTreeSet<String>,
}

impl KnownPaths {
    /// Collects the paths in these calls and words.
    pub(super) fn of(exchanges: &[ToolExchange<'_>], folder: Option<&str>, words: &str) -> Self {
        let mut places = Self::default();
        let mut listings = 0;
        for exchange in exchanges
            .iter()
            .rev()
            .filter(|exchange| exchange.answered())
        {
            let kind = kind_of_name(exchange.name);
            match kind {
                ToolPurpose::Read
                | ToolPurpose::Edit
                | ToolPurpose::MultiEdit
                | ToolPurpose::Write
                | ToolPurpose::Editor => {
                    let Some(path) = exchange.input_any(PATH_FIELDS) else {
                        continue;
                    };
                    if exchange.succeeded() {
                        places.read.insert(path.to_owned());
                        places.file(path.to_owned());
                    } else if kind == ToolPurpose::Read && !places.read.contains(path) {
                        places.bad.insert(path.to_owned());
                    }
                }
                ToolPurpose::Glob | ToolPurpose::Grep | ToolPurpose::List | ToolPurpose::Bash
                    if listings < MOST_LISTINGS && exchange.succeeded() =>
                {
                    listings += 1;
                    places.listing(kind, exchange, folder);
                }
                _ => {}
            }
        }
        for word in words.split_whitespace() {
            let word = word
                .trim_matches(|letter: char| "`'\"(),:;!?@".contains(letter))
                .trim_end_matches('.');
            if is_path(word)
                && word.contains('.')
                && word.rsplit('.').next().is_some_and(|end| end.len() <= 5)
            {
                places.named.push(joined(folder, word));
            }
        }
        let bad = std::mem::take(&mut places.bad);
        places.files.retain(|file| !bad.contains(file));
        places.bad = bad;
        places
    }

    fn listing(&mut self, kind: ToolPurpose, exchange: &ToolExchange<'_>, folder: Option<&str>) {
        let text = exchange.text();
        let base = match kind {
            ToolPurpose::List => exchange
                .input_any(PATH_FIELDS)
                .map(|path| joined(folder, path)),
            ToolPurpose::Bash => match shown_by(exchange.input_text("command").unwrap_or("")) {
                ShownPaths::Nothing => return,
                ShownPaths::Folder(inner) => Some(joined(folder, &inner)),
                ShownPaths::Paths => None,
            },
            _ => None,
        };
        let base = base.as_deref().or(folder);
        for line in text.lines().take(MOST_LINES) {
            let line = line.trim().trim_start_matches("- ");
            let line = match kind {
                ToolPurpose::Grep => line.split(':').next().unwrap_or(""),
                // `git status --short` and `ls -l` put the name last.
                ToolPurpose::Bash => line.rsplit(char::is_whitespace).next().unwrap_or(""),
                _ => line,
            };
            let name = line.trim_start_matches("./");
            if let Some(inner) = name.strip_suffix('/') {
                if is_path(inner) || plain_name(inner) {
                    let inner = joined(base, inner);
                    if !self.folders.contains(&inner) && self.folders.len() < MOST_FILES {
                        self.folders.push(inner);
                    }
                }
            } else if is_path(name) {
                self.file(joined(base, name));
            }
        }
    }

    fn file(&mut self, path: String) {
        if self.files.len() < MOST_FILES && readable(&path) && !self.files.contains(&path) {
            if let Some((parent, _)) = path.rsplit_once('/')
                && !parent.is_empty()
                && !self.folders.iter().any(|folder| folder == parent)
            {
                self.folders.push(parent.to_owned());
            }
            self.files.push(path);
        }
    }

    /// Whether a file of this name is known.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.files
            .iter()
            .any(|file| file.rsplit('/').next() == Some(name))
    }

    /// The folder that holds every absolute path the agent knows.
    pub(super) fn common_folder(&self) -> Option<String> {
        let mut shared: Option<&str> = None;
        for file in self
            .files
            .iter()
            .filter(|file| file.starts_with('/'))
            .take(40)
        {
            let mut parent = file.rsplit_once('/').map_or("", |(parent, _)| parent);
            if let Some(shared) = shared {
                while !(shared == parent || shared.starts_with(&format!("{parent}/"))) {
                    parent = parent.rsplit_once('/').map_or("", |(parent, _)| parent);
                }
            }
            shared = Some(parent);
        }
        shared
            .filter(|folder| !folder.is_empty())
            .map(str::to_owned)
    }
}

enum ShownPaths {
    Nothing,
    Folder(String),
    Paths,
}

/// What kind of paths the output of a command lists.
fn shown_by(command: &str) -> ShownPaths {
    if command.contains(['|', '&', ';']) {
        return ShownPaths::Nothing;
    }
    let mut words = command.split_whitespace();
    match (words.next(), words.next()) {
        (Some("ls"), next) => {
            let target = next
                .into_iter()
                .chain(words)
                .find(|word| !word.starts_with('-'));
            ShownPaths::Folder(target.unwrap_or(".").trim_matches('\'').to_owned())
        }
        (Some("find" | "fd" | "rg"), _) | (Some("git"), Some("ls-files" | "status")) => {
            ShownPaths::Paths
        }
        _ => ShownPaths::Nothing,
    }
}

/// The working folder, according to the host.
pub(super) fn working_folder(request: &MessagesRequest) -> Option<String> {
    const MARKS: &[&str] = &[
        "orking directory:",
        "orking folder:",
        "urrent directory:",
        "cwd:",
        "<cwd>",
        "roject root:",
    ];
    let texts = request.system.iter().filter_map(|block| block.text("text"));
    for text in texts {
        for mark in MARKS {
            let Some((_, after)) = text.split_once(mark) else {
                continue;
            };
            // Some prompts quote the path, others do not.
            let line = after
                .trim_start_matches(|letter: char| letter.is_whitespace() || "`\"".contains(letter))
                .split(['\n', '<', '`', '"'])
                .next()
                .unwrap_or("")
                .trim();
            if line.starts_with('/') && line.len() < 300 {
                return Some(line.trim_end_matches('/').to_owned());
            }
        }
    }
    None
}

/// A path below a folder; an absolute path is unchanged.
pub(super) fn joined(folder: Option<&str>, path: &str) -> String {
    let path = path.trim_start_matches("./");
    match folder {
        Some(folder) if !path.starts_with('/') => match path {
            "" | "." => folder.to_owned(),
            _ => format!("{}/{path}", folder.trim_end_matches('/')),
        },
        _ => path.to_owned(),
    }
}

/// The last part of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

/// The text after the last dot of a file's name.
pub(super) fn extension(path: &str) -> &str {
    name_of(path).rsplit_once('.').map_or("", |(_, end)| end)
}

fn plain_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() < 120
        && text
            .chars()
            .all(|letter| letter.is_alphanumeric() || "._-+@/".contains(letter))
}

fn is_path(text: &str) -> bool {
    plain_name(text)
        && !text.starts_with('-')
        && !text.contains("//")
        && text.chars().any(char::is_alphabetic)
        && (text.contains('/')
            || text
                .rsplit_once('.')
                .is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty()))
}

fn readable(path: &str) -> bool {
    const CLOSED: &[&str] = &[
        "png", "jpg", "jpeg", "gif", "ico", "svg", "pdf", "zip", "gz", "xz", "zst", "tar", "woff",
        "woff2", "ttf", "so", "a", "o", "bin", "exe", "dll", "jar", "class", "wasm", "mp4", "mp3",
        "db", "sqlite", "pyc", "ipynb",
    ];
    const ASIDE: &[&str] = &[
        "/.git/",
        "/node_modules/",
        "/target/",
        "/.venv/",
        "/__pycache__/",
    ];
    !CLOSED.contains(&extension(path)) && !ASIDE.iter().any(|aside| path.contains(aside))
}
