//! The archive of a transcript, brought up to date with it. It is under LONGHAUL_HOME, whichever program wrote the
//! transcript.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_store::archive::{Archive, ArchiveError, IndexingProgress, archive_path};
use longhaul_store::layout::Home;

use crate::failure::{CliError, warn};
use crate::progress;
use crate::reading;

/// How the index is updated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexUpdate {
    /// New entries are added.
    Extended,
    /// The index is rebuilt from scratch.
    Anew,
}

/// An archive that is up to date with its transcript.
pub(super) struct UpToDateArchive {
    pub(super) archive: Archive,
    transcript: PathBuf,
}

impl UpToDateArchive {
    pub(super) fn open(
        home: &Home,
        transcript: &Path,
        index: IndexUpdate,
    ) -> Result<Self, CliError> {
        reading::refuse_no_transcript(transcript)?;
        let mut followed = Self {
            archive: Archive::open(&archive_path(home, transcript))?,
            transcript: transcript.to_owned(),
        };
        followed.tell_notice();
        match followed.index(index) {
            Err(ArchiveError::Damaged { .. }) => followed.repaired(),
            done => Ok(done.map(|()| followed)?),
        }
    }

    /// Opens a new archive in place of the damaged one, and brings it up to date.
    pub(super) fn repaired(self) -> Result<Self, CliError> {
        let mut followed = Self {
            archive: self.archive.mend()?,
            ..self
        };
        followed.tell_notice();
        followed.index(IndexUpdate::Extended)?;
        Ok(followed)
    }

    fn tell_notice(&self) {
        if let Some(notice) = self.archive.notice() {
            warn(&notice.to_string());
        }
    }

    fn index(&mut self, index: IndexUpdate) -> Result<(), ArchiveError> {
        let bar = progress::bytes(0);
        bar.set_message("indexing");
        let show = |progress: IndexingProgress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
            ControlFlow::Continue(())
        };
        let done = match index {
            IndexUpdate::Anew => self.archive.rebuild(&self.transcript, show),
            IndexUpdate::Extended => self.archive.index(&self.transcript, show),
        };
        bar.finish_and_clear();
        done.map(|_| ())
    }
}
