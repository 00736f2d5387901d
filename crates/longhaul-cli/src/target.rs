//! What a command was pointed at: a file, a folder, a session by its id, standard input.

use std::path::{Path, PathBuf};

use longhaul_store::layout::{Env, FindError, Home, find_session};

use crate::failure::Failure;

/// Something to read.
pub(crate) enum Target {
    File(PathBuf),
    Folder(PathBuf),
    Stdin,
}

impl Target {
    /// A path that exists is that path; anything else may be a session id.
    pub(crate) fn find(path: &Path, env: &Env) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::Stdin);
        }
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Ok(Self::Folder(path.to_owned())),
            Ok(_) => Ok(Self::File(path.to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => session(path, env),
            Err(source) => Err(Failure::Read {
                path: path.to_owned(),
                source,
            }),
        }
    }
}

fn session(path: &Path, env: &Env) -> Result<Target, Failure> {
    let target = path.display().to_string();
    // A link to nowhere is there, under its name; what it leads to is not.
    if let Ok(goal) = std::fs::read_link(path) {
        return Err(Failure::DanglingLink { target, goal });
    }
    let homes: Vec<Home> = [Home::longhaul(env), Home::claude(env)]
        .into_iter()
        .flatten()
        .collect();
    let homes: Vec<&Home> = homes.iter().collect();
    find_session(&homes, &path.to_string_lossy())
        .map(Target::File)
        .map_err(|find| match find {
            // What cannot be an id was meant as a path.
            FindError::BadId(_) => Failure::NoSuchFile { target },
            find @ FindError::NotFound { .. } => Failure::NoSuchTarget { target, find },
            find => Failure::Find(find),
        })
}
