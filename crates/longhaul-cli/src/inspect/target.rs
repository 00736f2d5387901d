//! What `inspect` was pointed at: a file, a folder, a session by its id, standard input.

use std::path::{Path, PathBuf};

use longhaul_store::layout::{Env, FindError, Home, find_session};

use crate::failure::Failure;

/// Something to inspect.
pub(super) enum Target {
    File(PathBuf),
    Folder(PathBuf),
    Stdin,
}

impl Target {
    /// A path that exists is that path; anything else may be a session id.
    pub(super) fn find(text: &str, env: &Env) -> Result<Self, Failure> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        let path = Path::new(text);
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Ok(Self::Folder(path.to_owned())),
            Ok(_) => Ok(Self::File(path.to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => session(text, env),
            Err(source) => Err(Failure::Read {
                path: path.to_owned(),
                source,
            }),
        }
    }
}

fn session(text: &str, env: &Env) -> Result<Target, Failure> {
    let homes: Vec<Home> = [Home::longhaul(env), Home::claude(env)]
        .into_iter()
        .flatten()
        .collect();
    let homes: Vec<&Home> = homes.iter().collect();
    find_session(&homes, text)
        .map(Target::File)
        .map_err(|find| match find {
            // What cannot be an id was meant as a path.
            FindError::BadId(_) => Failure::NoSuchFile {
                target: text.to_owned(),
            },
            find @ FindError::NotFound { .. } => Failure::NoSuchTarget {
                target: text.to_owned(),
                find,
            },
            find => Failure::Find(find),
        })
}
