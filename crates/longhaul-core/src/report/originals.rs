//! Where to find content that has left the window, and the sentences of a loss report that say so.

use super::LossReport;

/// Who keeps content that has left the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OriginalsLocation {
    /// The transcript keeps it, and also the archive beside it if there is one.
    #[default]
    Transcript,
    /// The client keeps it and sends its whole history with each request.
    Client,
}

/// Whether content that leaves the window was archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveOutcome {
    /// The content was archived.
    Yes,
    /// There is no archive.
    NoArchive,
    /// The archive could not be written.
    Failed,
}

impl OriginalsLocation {
    /// Adds the sentences about user messages that are not in view word for word.
    pub(crate) fn tell_of_messages(self, report: &mut LossReport) {
        let messages = report.user_messages;
        if messages.shortened + messages.omitted > 0 {
            let place = match self {
                Self::Transcript => "the transcript",
                Self::Client => "the client's own history",
            };
            report.notes.push(format!(
                "User messages that were shortened or left out are whole in {place}."
            ));
        }
    }

    /// Adds the sentences about the archive. A client has everything anyway.
    pub(crate) fn tell_of_archive(self, archive: ArchiveOutcome, report: &mut LossReport) {
        let note = match (self, archive) {
            (_, ArchiveOutcome::Yes) => {
                report.results.archived = report.results.cleared;
                return;
            }
            (Self::Client, _) => return,
            (Self::Transcript, ArchiveOutcome::NoArchive) => {
                "There is no archive: the summarized messages are only in the transcript."
            }
            (Self::Transcript, ArchiveOutcome::Failed) => {
                "The archive could not be written: the summarized messages are only in the transcript."
            }
        };
        report.notes.push(note.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f10_a_report_says_to_its_reader_where_the_rest_is() {
        let mut report = LossReport::default();
        OriginalsLocation::Transcript.tell_of_messages(&mut report);
        assert!(report.notes.is_empty(), "all of it is in view");
        report.user_messages.shortened = 1;
        OriginalsLocation::Transcript.tell_of_messages(&mut report);
        OriginalsLocation::Client.tell_of_messages(&mut report);
        assert!(report.notes[0].contains("in the transcript"));
        assert!(report.notes[1].contains("in the client's own history"));
        let told = report.notes.len();
        OriginalsLocation::Client.tell_of_archive(ArchiveOutcome::NoArchive, &mut report);
        assert_eq!(report.notes.len(), told, "the client has everything");
        OriginalsLocation::Transcript.tell_of_archive(ArchiveOutcome::Failed, &mut report);
        assert!(report.notes[told].contains("could not be written"));
    }
}
