//! Lists the sessions that can be resumed. Each transcript is read once, to count the replies in it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_core::json::ObjectReader;
use longhaul_core::message::{EntryKind, LineScanner};
use longhaul_store::layout::{Env, Home, HomeOwner, sessions};
use longhaul_store::tail::TailReader;

/// How many lines at the end of a transcript may name the branch and the folder.
const TAIL: usize = 20;

/// A session that can be resumed, with the facts that a list of sessions shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// The session's id.
    pub id: String,
    /// The session's transcript.
    pub path: PathBuf,
    /// The user's first prompt.
    pub title: Option<String>,
    /// When the transcript was last written to.
    pub modified: SystemTime,
    /// The number of the model's replies; `None` if the transcript cannot be read.
    pub turns: Option<usize>,
    /// The git branch that the session was last on.
    pub branch: Option<String>,
    /// The folder that the session was last in.
    pub cwd: Option<String>,
    /// The program that owns the session. Another program's session is copied when it is resumed.
    pub owner: HomeOwner,
}

/// The sessions of the project in folder `cwd`, both Longhaul's and Claude Code's, newest first.
pub fn list(env: &Env, cwd: &Path) -> Vec<ListedSession> {
    let homes = [Home::longhaul(env), Home::claude(env)];
    let mut all = Vec::new();
    for home in homes.into_iter().flatten() {
        for folder in home.find_project(cwd).0 {
            let sessions = sessions(&folder).sessions;
            for session in sessions.into_iter().filter(|session| session.size > 0) {
                let read = TranscriptTail::of(&session.path).ok();
                let turns = read.as_ref().map(|end| end.turns);
                let end = read.unwrap_or_default();
                all.push(ListedSession {
                    id: session.id.as_str().to_owned(),
                    title: session.title,
                    modified: session.modified,
                    turns,
                    branch: end.branch,
                    cwd: end.cwd,
                    owner: home.owner(),
                    path: session.path,
                });
            }
        }
    }
    all.sort_by_key(|session| std::cmp::Reverse(session.modified));
    all
}

/// Facts from the last lines of a transcript, and the number of replies in all of it.
#[derive(Debug, Default)]
struct TranscriptTail {
    branch: Option<String>,
    cwd: Option<String>,
    turns: usize,
}

impl TranscriptTail {
    fn of(path: &Path) -> std::io::Result<Self> {
        let mut lines = TailReader::new(File::open(path)?)?;
        let mut scanner = LineScanner::default();
        let mut end = Self::default();
        let mut seen = 0;
        let mut last = None;
        while let Some(line) = lines.next()? {
            seen += 1;
            let Ok(facets) = scanner.scan(line.bytes) else {
                continue;
            };
            let view = facets.view(line.bytes);
            if seen <= TAIL && facets.uuid.is_present() {
                let object = ObjectReader::new(line.bytes);
                let text = |name| object.string(name).map(|text| text.into_owned());
                end.branch = end.branch.take().or_else(|| text("gitBranch"));
                end.cwd = end.cwd.take().or_else(|| text("cwd"));
            }
            // One reply can take several lines; they are adjacent and have the same message id.
            let message = view.message_id();
            if facets.kind == EntryKind::Assistant && facets.is_reply() {
                end.turns += usize::from(message.is_none() || message != last);
                last = message;
            }
        }
        Ok(end)
    }
}
