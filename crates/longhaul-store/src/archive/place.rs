//! The path of a transcript's archive: always under our home, in the folder of the session.

use std::path::{Path, PathBuf};

use longhaul_core::xxh3::xxh3_64;

use crate::fork::project_name;
use crate::layout::{EXTENSION, Home, SessionId, subagents_folder};

/// The beginning of every archive name, and the part that all of them contain: logs and damaged archives add an
/// ending.
const NAME: (&str, &str) = ("archive", ".db");

/// Whether a file in a session's folder is an archive, its log, or a damaged one.
pub(crate) fn is_archive_name(name: &str) -> bool {
    name.strip_prefix(NAME.0)
        .is_some_and(|rest| rest.contains(NAME.1))
}

/// The path of a transcript's archive. For one of our own sessions it is `<session>/archive.db` next to the transcript.
/// For any other it is the place under our home that a fork would have, with a hash of the path in its name, since two
/// programs may use the same id. A sub-agent's transcript has its archive with its session, so that both are deleted
/// together.
pub fn archive_path(home: &Home, transcript: &Path) -> PathBuf {
    let real = crate::real_path(transcript).unwrap_or_else(|_| transcript.to_owned());
    let projects = crate::real_path(&home.projects()).unwrap_or_else(|_| home.projects());
    let session = session_of(&real);
    let id = SessionId::of_transcript(&session);
    let project = (session.parent()).filter(|folder| folder.parent() == Some(&*projects));
    if let (Some(project), Some(id), true) = (project, &id, session == real) {
        return project
            .join(id.as_str())
            .join(format!("{}{}", NAME.0, NAME.1));
    }
    let name = id.map_or_else(|| "file".to_owned(), |id| id.as_str().to_owned());
    let mark = xxh3_64(real.as_os_str().as_encoded_bytes());
    home.projects()
        .join(project_name(&session))
        .join(name)
        .join(format!("{}-{mark:016x}{}", NAME.0, NAME.1))
}

/// The transcript of the session that a transcript belongs to: a sub-agent's belongs to its parent session, any other
/// to itself.
fn session_of(transcript: &Path) -> PathBuf {
    let folder = transcript.parent().and_then(Path::parent);
    let session = folder.map(|folder| {
        let mut name = folder.as_os_str().to_owned();
        name.push(format!(".{EXTENSION}"));
        PathBuf::from(name)
    });
    session
        .filter(|session| subagents_folder(session) == transcript.parent().unwrap_or(transcript))
        .unwrap_or_else(|| transcript.to_owned())
}
