//! A file that a search asks the host for, and what was supplied for it.

use std::path::PathBuf;

use super::content::{ContentUnavailable, LoadedMemoryFile};
use crate::hash::Map;

/// A file that a search needs to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WantedFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Who asks for the file.
    pub authority: ReadAuthority,
}

/// Who asks for a file to be read. A project's files may come from anybody, so reading files outside of the project for
/// them needs the user's consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReadAuthority {
    /// The file is one of the user's own files for all projects, or one of these imports it.
    User,
    /// The file is a file of the project, or one of these imports it. `CLAUDE.local.md` counts as one, since it can be
    /// committed too.
    Project,
}

/// What was supplied so far.
pub(super) type SuppliedFiles = Map<WantedFile, Result<LoadedMemoryFile, ContentUnavailable>>;
