//! What a rewind can do at a message, and the restoring of files: which of them tools changed since, and what ran that
//! nothing can undo.

use std::path::Path;

use longhaul::rewind;
use longhaul_core::figures::counted;
use longhaul_core::message::BlockKind;

use super::transcript;
use crate::agent::SessionSnapshot;
use crate::files::{ConflictPolicy, FileCheckpoints, RestorableFile};
use crate::screen::{HostRefusal, PlannedFile, RewindPlan};
use crate::session_paths::SessionPaths;

/// The tool that runs commands.
const COMMANDS: &str = "Bash";

/// What can be done at a message.
pub(super) fn plan(
    look: &SessionSnapshot,
    cwd: &Path,
    uuid: &str,
) -> Result<RewindPlan, HostRefusal> {
    let points = rewind::rewind_points(&look.transcript).map_err(refusal)?;
    let point = points.iter().find(|point| point.uuid == uuid);
    let in_view = point.is_some_and(|point| point.in_view);
    let first = points.iter().find(|point| point.in_view);
    let place = place(look, cwd);
    let files = changed(&place, uuid, &points)?;
    Ok(RewindPlan {
        files: files
            .iter()
            .map(|file| PlannedFile {
                name: shown(&file.path, cwd),
                state: file.state,
            })
            .collect(),
        commands: commands_since(&look.transcript, uuid).map_err(refusal)?,
        summarizes_from: in_view,
        summarizes_up_to: in_view && first.is_some_and(|first| first.uuid != uuid),
    })
}

/// Puts back what files held before a message. Returns what was done, in a sentence.
pub(super) fn restore(
    place: &SessionPaths,
    uuid: &str,
    conflicts: ConflictPolicy,
) -> Result<String, HostRefusal> {
    let points = rewind::rewind_points(&place.transcript).map_err(refusal)?;
    let files = changed(place, uuid, &points)?;
    let done = FileCheckpoints::of_session(place).restore(&files, conflicts);
    let mut said = vec![format!("{} restored", files_of(done.restored.len()))];
    if !done.left.is_empty() {
        let names: Vec<String> = done
            .left
            .iter()
            .map(|path| shown(path, &place.cwd))
            .collect();
        said.push(format!("left as it is: {}", names.join(", ")));
    }
    for (path, why) in &done.failed {
        said.push(format!("{} not restored: {why}", shown(path, &place.cwd)));
    }
    Ok(said.join("; "))
}

fn changed(
    place: &SessionPaths,
    uuid: &str,
    points: &[rewind::RewindPoint],
) -> Result<Vec<RestorableFile>, HostRefusal> {
    let point = points.iter().find(|point| point.uuid == uuid);
    match point.and_then(|point| point.at) {
        Some(at) => FileCheckpoints::of_session(place)
            .since(at)
            .map_err(refusal),
        None => Ok(Vec::new()),
    }
}

/// The number of commands that ran after a message.
fn commands_since(path: &Path, uuid: &str) -> std::io::Result<usize> {
    let (mut is_after, mut commands) = (false, 0);
    transcript::each(path, |view| {
        is_after |= view.text(view.facets.uuid) == uuid;
        if is_after {
            let own = view.facets.blocks.iter().filter(|block| !block.inner);
            let ran = own.filter(|block| {
                block.kind == BlockKind::ToolUse && view.text(block.name) == COMMANDS
            });
            commands += ran.count();
        }
    })?;
    Ok(commands)
}

pub(super) fn place(look: &SessionSnapshot, cwd: &Path) -> SessionPaths {
    SessionPaths {
        cwd: cwd.to_owned(),
        more: Vec::new(),
        transcript: look.transcript.clone(),
    }
}

/// A path as people know it: relative to the folder where it is below it.
fn shown(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

fn files_of(number: usize) -> String {
    counted(number as u64, "file")
}

fn refusal(error: impl std::fmt::Display) -> HostRefusal {
    HostRefusal(error.to_string())
}
