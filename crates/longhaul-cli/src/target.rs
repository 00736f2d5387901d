//! The target of a command: a file, a folder, a session by its id, standard input.

use std::path::{Path, PathBuf};

use longhaul_store::layout::{Env, FindError, Home, find_session};

use crate::failure::CliError;

/// What to inspect.
pub(crate) enum InspectionTarget {
    File(PathBuf),
    Folder(PathBuf),
    Stdin,
}

impl InspectionTarget {
    /// Resolves a target: a path that exists is that path; anything else may be a session id.
    pub(crate) fn find(path: &Path, env: &Env) -> Result<Self, CliError> {
        if path == Path::new("-") {
            return Ok(Self::Stdin);
        }
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Ok(Self::Folder(path.to_owned())),
            Ok(_) => Ok(Self::File(path.to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => session(path, env),
            Err(source) => Err(CliError::Read {
                path: path.to_owned(),
                source,
            }),
        }
    }
}

fn session(path: &Path, env: &Env) -> Result<InspectionTarget, CliError> {
    let target = path.display().to_string();
    // A broken link exists under its name; only its target does not.
    if let Ok(goal) = std::fs::read_link(path) {
        return Err(CliError::DanglingLink { target, goal });
    }
    let homes: Vec<Home> = [Home::longhaul(env), Home::claude(env)]
        .into_iter()
        .flatten()
        .collect();
    let homes: Vec<&Home> = homes.iter().collect();
    find_session(&homes, &path.to_string_lossy())
        .map(InspectionTarget::File)
        .map_err(|find| match find {
            // A text that cannot be an id was meant as a path.
            FindError::BadId(_) => CliError::NoSuchFile { target },
            find @ FindError::NotFound { .. } => CliError::NoSuchTarget { target, find },
            find => CliError::Find(find),
        })
}
