//! Notes from an answer in text, where the parent has no tool that edits files (S3): changed sections in `<notes>` tags.
//!
//! The same guard holds as for edits: nothing but the bodies of sections that are there.

use super::SessionNotes;

/// What an answer came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedAnswer {
    /// The notes with what could be taken.
    pub notes: SessionNotes,
    /// The titles of sections that are different now, in the order of the answer.
    pub changed: Vec<String>,
    /// What was not taken.
    pub refused: Vec<RefusedSection>,
}

/// A section of the answer that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSection {
    /// Its title in the answer.
    pub title: String,
    /// Why.
    pub why: SectionRefusal,
}

/// Why a section was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionRefusal {
    /// The notes have no such section.
    Unknown,
    /// The answer has it twice; the first was taken.
    Repeated,
    /// It is blank and would wipe out what is noted there.
    Blank,
    /// It would add headings or a description.
    BreaksFrame,
}

/// An answer of which nothing can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnusableAnswer {
    /// There are no tags in it.
    #[error("the model answered without notes")]
    NoNotes,
    /// The closing tag is missing, so the last section may be cut short.
    #[error("the model's notes were cut off")]
    CutOff,
}

const OPENING: &str = "<notes>";
const CLOSING: &str = "</notes>";

/// Puts the sections of an answer into the notes.
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
        // Words in italics that are not our description are something noted.
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
