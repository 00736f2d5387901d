//! The folder that a conversation was recorded in, as it is now. Files are read again only from there.

use std::path::{Path, PathBuf};

use longhaul_core::engine::GatheredContext;
use longhaul_core::figures::counted;
use longhaul_core::rehydrate::{FileText, RestoreInput, RestoreSourceResult};

use longhaul_store::Env;

use crate::memory_files::{self, SessionFolders};
use crate::model::Boxed;
use crate::workspace::{RestoreRequest, Workspace, read};

/// Reads files again, but none outside the recorded folder: a transcript may come from anywhere and name any path.
#[derive(Debug)]
pub(super) struct RecordedFolder {
    /// The folder with its links resolved, or why there is none.
    folder: Result<PathBuf, String>,
    /// Where memory files are looked for.
    memory: Option<SessionFolders>,
}

impl RecordedFolder {
    pub(super) fn at(cwd: &Path, env: Option<&Env>) -> Self {
        let folder = match longhaul_store::real_path(cwd) {
            _ if !cwd.is_absolute() => Err("the recording names no folder".to_owned()),
            // Everything is below the root, so it would limit nothing.
            Ok(folder) if folder.parent().is_none() => {
                Err("the recorded folder is the whole file system".to_owned())
            }
            Ok(folder) if folder.is_dir() => Ok(folder),
            _ => Err(format!(
                "the folder that it was recorded in, {}, is not here",
                cwd.display()
            )),
        };
        let memory = env.map(|env| memory_files::places(env, cwd));
        Self { folder, memory }
    }
}

fn read_below(folder: &Path, path: &Path) -> RestoreSourceResult<FileText> {
    let failed = |why: String| RestoreSourceResult::Failed {
        what: path.display().to_string(),
        why,
    };
    let real = match longhaul_store::real_path(&folder.join(path)) {
        Ok(real) => real,
        Err(error) => return failed(error.to_string()),
    };
    if !real.starts_with(folder) {
        return failed("it lies outside the recorded folder".to_owned());
    }
    match read(real) {
        RestoreSourceResult::Found(found) => RestoreSourceResult::Found(FileText {
            path: path.to_owned(),
            ..found
        }),
        RestoreSourceResult::Failed { why, .. } => failed(why),
    }
}

impl Workspace for RecordedFolder {
    fn gather<'a>(&'a self, wanted: &'a RestoreRequest) -> Boxed<'a, GatheredContext> {
        let files = match &self.folder {
            Ok(folder) => wanted
                .files
                .iter()
                .map(|file| read_below(folder, &file.path))
                .collect(),
            Err(_) if wanted.files.is_empty() => Vec::new(),
            // One note for all of them.
            Err(why) => vec![RestoreSourceResult::Failed {
                what: format!(
                    "What was read last ({})",
                    counted(wanted.files.len() as u64, "file")
                ),
                why: why.clone(),
            }],
        };
        let gathered = RestoreInput {
            files,
            ..RestoreInput::default()
        };
        Box::pin(async move {
            GatheredContext {
                gathered,
                prefix: None,
            }
        })
    }

    fn compact_instructions(&self) -> Boxed<'_, Option<String>> {
        Box::pin(async move {
            let found = memory_files::load(self.memory.as_ref()?);
            Some(memory_files::compact_instructions(&found.files).unwrap_or_default())
        })
    }
}
