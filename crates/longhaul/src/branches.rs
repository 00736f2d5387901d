//! Abandoned branches of a session that hold prompts: they are reported when the session is resumed, and can be resumed
//! on request. Nothing is deleted: resuming a branch appends a line, and the branch that was current is then the
//! abandoned one.

use std::path::Path;

use jiff::Timestamp;
use longhaul_core::boundary::{LineError, LineStamp, RewindRecord};
use longhaul_core::engine::UuidSequence;
use longhaul_core::facts::HostTexts;
use longhaul_core::json::ObjectReader;
use longhaul_core::message::{Entry, EntryKind};
use longhaul_store::{
    AppendError, Durability, ReadError, ResumedConversation, TranscriptWriter, resume,
};

use crate::rewind::user_text;
use crate::session::open::random_seed;
use crate::session::recorded::identity;
use crate::undo::WholeTranscript;

/// An abandoned branch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftBranch {
    /// The uuid of its newest prompt, by which the branch can be resumed.
    pub uuid: String,
    /// How many prompts of the user are on it.
    pub prompts: usize,
    /// The text of the newest prompt.
    pub newest: String,
    /// When the newest prompt was sent.
    pub at: Option<Timestamp>,
}

/// Why a branch was not resumed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BranchError {
    /// There is no such branch.
    #[error("no branch of this session has a prompt whose id begins with {0}; nothing was changed")]
    NoSuchBranch(String),
    /// The transcript cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The line cannot be created.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The transcript cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// The branches of a session that were abandoned without the user's doing. Branches that a rewind abandoned do not
/// count, and neither do those whose prompts are all in the conversation too, as after an undo.
///
/// # Errors
/// Fails if the transcript cannot be read.
pub fn abandoned(path: &Path) -> Result<Vec<LeftBranch>, ReadError> {
    let resumed = resume(path)?;
    let texts = HostTexts::builtin();
    let rewound = rewound(&resumed);
    let current: Vec<String> = resumed
        .entries
        .iter()
        .filter_map(|entry| user_text(entry.view(), &texts))
        .collect();
    let mut abandoned = Vec::new();
    for branch in &resumed.abandoned {
        if branch.iter().any(|entry| rewound.contains(&uuid(entry))) {
            continue;
        }
        let prompts = branch.iter().filter_map(|entry| {
            let text = user_text(entry.view(), &texts)?;
            (!current.contains(&text)).then_some((entry, text))
        });
        let prompts: Vec<(&Entry, String)> = prompts.collect();
        if let Some((entry, text)) = prompts.last() {
            abandoned.push(LeftBranch {
                uuid: uuid(entry),
                prompts: prompts.len(),
                newest: text.clone(),
                at: entry.view().timestamp(),
            });
        }
    }
    Ok(abandoned)
}

/// Resumes the branch that has a prompt whose uuid begins with `id`.
///
/// # Errors
/// Fails if no abandoned branch has such a prompt, and if the transcript cannot be read or written. Nothing is
/// changed then.
pub fn resume_branch(path: &Path, id: &str, now: Timestamp) -> Result<(), BranchError> {
    let read = WholeTranscript::of(path)?;
    let none = || BranchError::NoSuchBranch(id.to_owned());
    let branches = longhaul_core::facts::left_branches(&read.table, &read.conversation);
    let has = |row: &u32| !id.is_empty() && read.uuid(*row).starts_with(id);
    let branch = branches.iter().find(|rows| rows.iter().any(has));
    let branch = branch.ok_or_else(none)?;
    let newest = branch.last().copied().ok_or_else(none)?;
    // The first entry of the current branch, which will be abandoned, after the two separated.
    let parting = branch
        .first()
        .and_then(|row| read.conversation.parent(*row));
    let view = &read.conversation.view().rows;
    let after = view.iter().find(|row| parting.is_none_or(|at| **row > at));
    let abandoned = after.map(|row| read.uuid(*row)).unwrap_or_default();
    let mut ids = UuidSequence::new(random_seed());
    let identity = identity(&read.view(), path, &mut ids);
    let own = ids.next_uuid();
    let line = RewindRecord {
        envelope: identity.envelope(),
        stamp: LineStamp {
            uuid: &own,
            timestamp: now,
        },
        parent: Some(&read.uuid(newest)),
        left: &abandoned,
    }
    .line()?;
    let writer = TranscriptWriter::open(path, Durability::EveryAppend)?;
    let mut writer = writer.knowing(&read.loaded);
    let _ = writer.append_all(&[line])?;
    Ok(writer.close()?)
}

fn uuid(entry: &Entry) -> String {
    let view = entry.view();
    view.text(view.facets.uuid).into_owned()
}

/// The entries that rewinds of this conversation abandoned.
fn rewound(resumed: &ResumedConversation) -> Vec<String> {
    let is_system = |entry: &&Entry| entry.facets().kind == EntryKind::System;
    let lines = resumed
        .entries
        .iter()
        .filter(is_system)
        .filter_map(|entry| {
            let line = ObjectReader::new(entry.view().line);
            let metadata = line.object("rewindMetadata")?;
            Some(metadata.string("leftUuid")?.into_owned())
        });
    lines.collect()
}
