//! Applies notes from a text answer, for a parent that has no tool to edit files (S3): changed sections in `<notes>`
//! tags.
//!
//! The guard is the same as for edits: only the bodies of existing sections may change.

use super::SessionNotes;

/// The result of applying an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedAnswer {
    /// The notes with the accepted sections.
    pub notes: SessionNotes,
    /// The titles of the sections that changed, in the order of the answer.
    pub changed: Vec<String>,
    /// The sections that were refused.
    pub refused: Vec<RefusedSection>,
}

/// A section of the answer that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSection {
    /// The section's title in the answer.
    pub title: String,
    /// Why the section was refused.
    pub why: SectionRefusal,
}

/// Why a section of the answer was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionRefusal {
    /// The notes have no such section.
    Unknown,
    /// The answer has the section twice; the first one was accepted.
    Repeated,
    /// The section is blank and would erase its notes.
    Blank,
    /// The section would add headings or a description.
    BreaksFrame,
}

/// Why nothing of an answer can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableAnswer {
    /// The answer has no tags.
    #[error("the model answered without notes")]
    NoNotes,
    /// The closing tag is missing, so the last section may be cut short.
    #[error("the model's notes were cut off")]
    CutOff,
}

const OPENING: &str = "<notes>";
const CLOSING: &str = "</notes>";

/// Applies the sections of an answer to the notes.
///
/// # Errors
/// Fails if the answer holds no notes, or was cut off within them. The notes then stay as they are.
pub fn apply(answer: &str, notes: &SessionNotes) -> Result<AppliedAnswer, UnusableAnswer> {
    let (_, behind) = answer.split_once(OPENING).ok_or(UnusableAnswer::NoNotes)?;
    let (inside, _) = behind.rsplit_once(CLOSING).ok_or(UnusableAnswer::CutOff)?;
    let given = SessionNotes::parse(inside.trim_start());
    let mut applied = AppliedAnswer {
        notes: notes.clone(),
        changed: Vec::new(),
        refused: Vec::new(),
    };
    let mut seen: Vec<usize> = Vec::new();
    for section in given.sections() {
        let taken = applied.take(section.title, section.description, section.body, &mut seen);
        if let Err(why) = taken {
            let title = section.title.to_owned();
            applied.refused.push(RefusedSection { title, why });
        }
    }
    Ok(applied)
}

impl AppliedAnswer {
    fn take(
        &mut self,
        title: &str,
        description: Option<&str>,
        body: &str,
        seen: &mut Vec<usize>,
    ) -> Result<(), SectionRefusal> {
        let (at, ours) = self.notes.find(title).ok_or(SectionRefusal::Unknown)?;
        if seen.contains(&at) {
            return Err(SectionRefusal::Repeated);
        }
        seen.push(at);
        // Text in italics that is not the template's description is part of the notes.
        let body = match description {
            Some(words) if ours.description != Some(words) => format!("{words}\n{body}"),
            _ => body.to_owned(),
        };
        if body.trim().is_empty() {
            return if ours.body.is_empty() {
                Ok(())
            } else {
                Err(SectionRefusal::Blank)
            };
        }
        let title = ours.title.to_owned();
        let changed = self.notes.with_body(at, &body);
        let changed = changed.map_err(|_| SectionRefusal::BreaksFrame)?;
        if changed != self.notes {
            self.notes = changed;
            self.changed.push(title);
        }
        Ok(())
    }
}
