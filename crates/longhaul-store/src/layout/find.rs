//! Finds a session by its id, or by the beginning of it, in one of several homes.

use std::path::PathBuf;

use super::{BadSessionId, Home, SessionId, UnlistedPath, walk};

/// No session was found, or more than one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// The text cannot be a session id.
    #[error(transparent)]
    BadId(#[from] BadSessionId),
    /// No session has this id, and none has an id that begins with it.
    #[error("no session {id} found under {}", list(searched))]
    NotFound {
        /// The id that was searched for.
        id: SessionId,
        /// The folders that were searched.
        searched: Vec<PathBuf>,
        /// The paths that could not be read.
        problems: Vec<UnlistedPath>,
    },
    /// Several sessions have this id or one that begins with it.
    #[error(
        "{id} may mean any of {}; give more of the id, or the path of the file",
        list(candidates)
    )]
    Ambiguous {
        /// The id that was searched for.
        id: SessionId,
        /// The transcripts that the id may mean.
        candidates: Vec<PathBuf>,
    },
}

fn list(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 10;
    let mut text: Vec<String> = (paths.iter().take(SHOWN))
        .map(|path| path.display().to_string())
        .collect();
    if paths.len() > SHOWN {
        text.push(format!("{} more", paths.len() - SHOWN));
    }
    text.join(", ")
}

/// Finds a session's transcript in these homes. A whole id wins over ids that begin with it.
///
/// # Errors
/// Fails if the text cannot be an id, if no session has it, and if it is the beginning of several ids; the error lists
/// those.
pub fn find_session(homes: &[&Home], id_or_prefix: &str) -> Result<PathBuf, FindError> {
    let _span = tracing::debug_span!("find_session", id_or_prefix).entered();
    let id = SessionId::parse(id_or_prefix)?;
    let mut problems = Vec::new();
    let mut exact = Vec::new();
    let mut beginning = Vec::new();
    for home in homes {
        for project in walk::children(&home.projects(), &mut problems) {
            if !project.is_dir() {
                continue;
            }
            for path in walk::children(&project, &mut problems) {
                let Some(found) = SessionId::of_transcript(&path) else {
                    continue;
                };
                if found == id && path.is_file() {
                    exact.push(path);
                } else if found.as_str().starts_with(id.as_str())
                    && !found.is_subagent()
                    && path.is_file()
                {
                    beginning.push(path);
                }
            }
        }
    }
    let mut candidates = if exact.is_empty() { beginning } else { exact };
    match candidates.pop() {
        None => Err(FindError::NotFound {
            id,
            searched: homes.iter().map(|home| home.projects()).collect(),
            problems,
        }),
        Some(only) if candidates.is_empty() => Ok(only),
        Some(last) => {
            candidates.push(last);
            Err(FindError::Ambiguous { id, candidates })
        }
    }
}
