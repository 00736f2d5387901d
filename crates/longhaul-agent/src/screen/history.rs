//! Earlier prompts, per project, stored in one file.
//!
//! The file is only appended to and, when it has grown to twice the limit, written anew next to it and renamed. A
//! history that cannot be read or written is ignored: it must not keep anyone from working.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use longhaul_store::keep_private;
use serde::{Deserialize, Serialize};

/// The number of lines that are kept for all projects.
const KEPT: usize = 2_000;
/// A longer prompt is not saved.
const LONGEST: usize = 64 * 1024;

#[derive(Serialize, Deserialize)]
struct HistoryRecord {
    project: String,
    text: String,
}

/// Earlier prompts, and the user's position among them.
#[derive(Debug, Default)]
pub(crate) struct PromptHistory {
    file: Option<PathBuf>,
    project: String,
    texts: Vec<String>,
    /// The prompt that is shown; `None` if it is the draft.
    at: Option<usize>,
    draft: String,
}

impl PromptHistory {
    /// Loads the prompts of a project from a file.
    pub(crate) fn load(file: Option<PathBuf>, project: &Path) -> Self {
        let project = project.to_string_lossy().into_owned();
        let stored = file.as_deref().map(fs::read_to_string);
        let lines = stored.and_then(Result::ok).unwrap_or_default();
        let all: Vec<&str> = lines.lines().collect();
        if let (Some(file), true) = (file.as_deref(), all.len() > 2 * KEPT) {
            shorten(file, &all[all.len() - KEPT..]);
        }
        let records = all
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok());
        let texts = records
            .filter(|record: &HistoryRecord| record.project == project)
            .map(|record| record.text)
            .collect();
        Self {
            file,
            project,
            texts,
            ..Self::default()
        }
    }

    /// Adds the prompt that was just sent.
    pub(crate) fn add(&mut self, text: &str) {
        self.at = None;
        self.draft.clear();
        if self.texts.last().is_some_and(|last| last == text) || text.len() > LONGEST {
            return;
        }
        self.texts.push(text.to_owned());
        if let Some(file) = self.file.as_deref() {
            let record = HistoryRecord {
                project: self.project.clone(),
                text: text.to_owned(),
            };
            if let Err(error) = append(file, &record) {
                tracing::debug!(%error, "the history cannot be written");
            }
        }
    }

    /// All prompts, newest first, each once.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &str> {
        let mut seen = std::collections::HashSet::new();
        let texts = self.texts.iter().rev().map(String::as_str);
        texts.filter(move |text| seen.insert(*text))
    }

    /// The prompt before the one that is shown.
    pub(crate) fn earlier(&mut self, shown: &str) -> Option<&str> {
        let at = match self.at {
            None => {
                shown.clone_into(&mut self.draft);
                self.texts.len().checked_sub(1)?
            }
            Some(at) => at.checked_sub(1)?,
        };
        self.at = Some(at);
        self.texts.get(at).map(String::as_str)
    }

    /// The prompt after the one that is shown; after the newest, the draft.
    pub(crate) fn later(&mut self) -> Option<&str> {
        let at = self.at? + 1;
        if at < self.texts.len() {
            self.at = Some(at);
            return self.texts.get(at).map(String::as_str);
        }
        self.at = None;
        Some(&self.draft)
    }

    /// Leaves the history, because the shown prompt was changed and is now a draft.
    pub(crate) fn leave(&mut self) {
        self.at = None;
    }
}

fn append(file: &Path, record: &HistoryRecord) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    keep_private(OpenOptions::new().append(true).create(true))
        .open(file)?
        .write_all(&line)
}

fn shorten(file: &Path, lines: &[&str]) {
    let shortened = || -> std::io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        for line in lines {
            writeln!(new, "{line}")?;
        }
        new.persist(file)?;
        Ok(())
    };
    if let Err(error) = shortened() {
        tracing::debug!(%error, "the history cannot be shortened");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_history_goes_back_and_returns_to_the_draft() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/history.jsonl");
        let project = Path::new("/one");
        let mut history = PromptHistory::load(Some(file.clone()), project);
        assert_eq!(history.earlier(""), None);
        for text in ["first", "second\nline", "second\nline"] {
            history.add(text);
        }
        PromptHistory::load(Some(file.clone()), Path::new("/two")).add("elsewhere");
        let mut history = PromptHistory::load(Some(file), project);
        assert_eq!(history.earlier("dra"), Some("second\nline"));
        assert_eq!(history.earlier("second\nline"), Some("first"));
        assert_eq!(history.earlier("first"), None);
        assert_eq!(history.later(), Some("second\nline"));
        assert_eq!(history.later(), Some("dra"));
        assert_eq!(history.later(), None);
    }

    #[test]
    fn q2_the_file_stays_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.jsonl");
        let line = r#"{"project":"/p","text":"x"}"#;
        fs::write(&file, format!("{line}\n").repeat(2 * KEPT + 1)).unwrap();
        PromptHistory::load(Some(file.clone()), Path::new("/p"));
        assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), KEPT);
    }
}
