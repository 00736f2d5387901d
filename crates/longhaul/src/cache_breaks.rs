//! Reports cache breaks: the diff goes to a file that the user can open, the figures to the log (D3, E1).
//!
//! What broke and why is decided in `longhaul_core::cache`.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use longhaul_core::cache::{CacheFinding, CacheFindingKind};
use longhaul_store::{create_private_folders, keep_private};

/// The name of the folder, below the one that the host gives.
const FOLDER: &str = "cache-breaks";
/// How many diffs are kept.
const KEPT: usize = 50;
/// The longest name of a source in a file name.
const LONGEST_SOURCE: usize = 60;

/// The folder that gets the diffs.
#[derive(Debug, Clone)]
pub struct CacheBreakFolder {
    folder: PathBuf,
}

/// What is reported about a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheBreakNotice {
    /// One sentence for people, which names the file.
    pub sentence: String,
    /// The path of the diff; `None` if it could not be written.
    pub diff: Option<PathBuf>,
}

impl CacheBreakFolder {
    /// Writes diffs to the folder `cache-breaks` below this one, which is created when it is needed.
    pub fn below(folder: &Path) -> Self {
        Self {
            folder: folder.join(FOLDER),
        }
    }

    /// Writes the diff and the event, and describes the finding. A diff that cannot be written stops nothing.
    pub fn report(&self, finding: &CacheFinding) -> CacheBreakNotice {
        let diff = match self.write(finding) {
            Ok(path) => Some(path),
            Err(error) => {
                tracing::warn!(folder = %self.folder.display(), %error, "the diff of a cache break was not written");
                None
            }
        };
        let path = diff.as_ref().map(|path| path.display().to_string());
        record(finding, path.as_deref());
        CacheBreakNotice {
            sentence: finding.sentence(path.as_deref()),
            diff,
        }
    }

    /// Writes the diff to a file of its own, which only the user may read. The newest fifty are kept.
    ///
    /// # Errors
    /// Fails if the folder or the file cannot be written.
    pub fn write(&self, finding: &CacheFinding) -> io::Result<PathBuf> {
        create_private_folders(&self.folder)?;
        let mut options = OpenOptions::new();
        keep_private(options.write(true).create_new(true));
        let name = name(finding);
        for nth in 1..=KEPT {
            let name = match nth {
                1 => format!("{name}.diff"),
                _ => format!("{name}-{nth}.diff"),
            };
            let path = self.folder.join(name);
            match options.open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
                Ok(mut file) => {
                    file.write_all(finding.diff.as_bytes())?;
                    self.drop_oldest();
                    return Ok(path);
                }
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Names begin with the time, so they sort by time. Files that are not ours stay.
    fn drop_oldest(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
        names.retain(|name| {
            name.ends_with(".diff") && name.starts_with(|c: char| c.is_ascii_digit())
        });
        names.sort_unstable();
        for name in names.iter().rev().skip(KEPT) {
            // Another process may have been quicker; the rest is deleted next time.
            let _ = fs::remove_file(self.folder.join(name));
        }
    }
}

/// Time and source, in characters that every file system accepts.
fn name(finding: &CacheFinding) -> String {
    let time = finding.at.strftime("%Y%m%dT%H%M%S.%3fZ");
    let plain = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c,
        _ => '_',
    };
    let source = finding.source.chars().map(plain).take(LONGEST_SOURCE);
    format!("{time}-{}", source.collect::<String>())
}

/// Writes the event to the log, with the path of the diff if there is one (E1).
pub(crate) fn record(finding: &CacheFinding, diff: Option<&str>) {
    let changes: Vec<String> = finding.changes.iter().map(ToString::to_string).collect();
    let cost_usd = finding.cost.map(|cost| cost.to_f64());
    macro_rules! tell {
        ($level:ident, $event:literal) => {
            tracing::$level!(
                event = $event,
                source = finding.source,
                model = finding.model,
                cause = finding.cause.name(),
                changes = changes.join("; "),
                pre_tokens = finding.from,
                post_tokens = finding.to,
                missed_tokens = finding.missed,
                cost_usd,
                idle_seconds = finding.idle_seconds,
                diff,
                "{finding}"
            )
        };
    }
    match finding.kind {
        CacheFindingKind::Break => tell!(warn, "cache_break"),
        CacheFindingKind::Unread => tell!(info, "cache_unread"),
    }
}
