//! The archive of a transcript, brought up to date with it. It lies under our home, whoever's the transcript is.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_core::transcript::format::{self, Verdict};
use longhaul_store::archive::{Archive, ArchiveError, Progress, archive_path};
use longhaul_store::layout::Home;

use crate::failure::{Failure, warn};
use crate::progress;

/// How the index is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    /// What is new is added.
    Extended,
    /// From nothing.
    Anew,
}

/// An archive that is up to date with its transcript.
pub(super) struct Followed {
    pub(super) archive: Archive,
    transcript: PathBuf,
}

impl Followed {
    pub(super) fn open(home: &Home, transcript: &Path, index: Index) -> Result<Self, Failure> {
        recognise(transcript)?;
        let mut followed = Self {
            archive: Archive::open(&archive_path(home, transcript))?,
            transcript: transcript.to_owned(),
        };
        followed.tell_notice();
        match followed.index(index) {
            Err(ArchiveError::Damaged { .. }) => followed.mended(),
            done => Ok(done.map(|()| followed)?),
        }
    }

    /// The same with a new archive in place of the damaged one.
    pub(super) fn mended(self) -> Result<Self, Failure> {
        let mut followed = Self {
            archive: self.archive.mend()?,
            ..self
        };
        followed.tell_notice();
        followed.index(Index::Extended)?;
        Ok(followed)
    }

    fn tell_notice(&self) {
        if let Some(notice) = self.archive.notice() {
            warn(&notice.to_string());
        }
    }

    fn index(&mut self, index: Index) -> Result<(), ArchiveError> {
        let bar = progress::bytes(0);
        bar.set_message("indexing");
        let show = |progress: Progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
            ControlFlow::Continue(())
        };
        let done = match index {
            Index::Anew => self.archive.rebuild(&self.transcript, show),
            Index::Extended => self.archive.index(&self.transcript, show),
        };
        bar.finish_and_clear();
        done.map(|_| ())
    }
}

/// Refuses a file that is another format's, before anything is made for it.
fn recognise(transcript: &Path) -> Result<(), Failure> {
    let mut head = Vec::new();
    File::open(transcript)
        .and_then(|file| file.take(format::HEAD_BYTES as u64).read_to_end(&mut head))
        .map_err(|source| Failure::Read {
            path: transcript.to_owned(),
            source,
        })?;
    let name = transcript.display().to_string();
    match format::recognise(&head) {
        Verdict::Foreign(foreign) => Err(Failure::Foreign { name, foreign }),
        Verdict::Transcript | Verdict::Unclear => Ok(()),
    }
}
