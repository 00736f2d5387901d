//! The notes file: sections under headings, each with a description and a body. People edit it by hand, so its bytes
//! are kept as they are, and only the body of a section is ever replaced.
//!
//! A section begins at a line that starts with `# ` outside of fenced code. Its description is the first line after
//! that if the whole line is in italics. Text before the first section belongs to no section.

use std::ops::Range;

use super::fence::fenced_lines;

/// The notes of a session, as they are in the file.
///
/// ```
/// use longhaul_core::notes::SessionNotes;
///
/// let notes = SessionNotes::parse("# Current state\n_What is being done_\n\nReading.\n\n# Errors\n");
/// let (number, section) = notes.find("current state").ok_or("no such section")?;
/// assert_eq!(section.body, "Reading.");
/// let changed = notes.with_body(number, "The test passes.").map_err(|_| "the frame is broken")?;
/// assert!(changed.text().contains("_What is being done_"), "headings and descriptions stay");
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionNotes {
    text: String,
    places: Vec<SectionRanges>,
}

/// The positions of a section's parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SectionRanges {
    title: Range<usize>,
    description: Option<Range<usize>>,
    /// Everything after heading and description, blank lines included.
    room: Range<usize>,
}

/// One section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotesSection<'a> {
    /// The text of the section's heading.
    pub title: &'a str,
    /// The line in italics below the heading, including its asterisks or underscores.
    pub description: Option<&'a str>,
    /// The notes in the section, without blank lines around them.
    pub body: &'a str,
}

impl<'a> NotesSection<'a> {
    fn frame(self) -> (&'a str, Option<&'a str>) {
        (self.title, self.description)
    }

    /// Whether a title refers to this section.
    pub(crate) fn is_titled(&self, title: &str) -> bool {
        self.title.to_lowercase() == title.trim().to_lowercase()
    }
}

/// A change would alter headings or descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the headings and descriptions of the notes must stay as they are")]
pub struct BrokenNotesFrame;

impl SessionNotes {
    /// Reads the file. Any text is valid.
    pub fn parse(text: impl Into<String>) -> Self {
        let text = text.into();
        let places = places(&text);
        Self { text, places }
    }

    /// The file, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the sections, in order.
    pub fn sections(&self) -> impl Iterator<Item = NotesSection<'_>> {
        self.places.iter().map(|place| NotesSection {
            title: &self.text[place.title.clone()],
            description: place.description.clone().map(|at| &self.text[at]),
            body: &self.text[self.core(place)],
        })
    }

    /// Returns the first section with this title, and its index.
    pub fn find(&self, title: &str) -> Option<(usize, NotesSection<'_>)> {
        let mut sections = self.sections().enumerate();
        sections.find(|(_, section)| section.is_titled(title))
    }

    /// The text before the first section.
    pub fn preamble(&self) -> &str {
        let whole = &self.text[..self.start(0)];
        whole.strip_prefix(BOM).unwrap_or(whole)
    }

    /// Returns the heading and description of a section unchanged, up to its body; empty after the last section.
    pub(super) fn frame_of(&self, section: usize) -> &str {
        let room = self.places.get(section).map(|place| place.room.start);
        let start = self.start(section);
        &self.text[start..room.unwrap_or(start)]
    }

    /// Returns the notes with another body in one section; the rest stays byte for byte. Line ends become those of the
    /// file.
    ///
    /// # Errors
    /// Fails if there is no such section, or if the body would add or change a section.
    pub fn with_body(&self, section: usize, body: &str) -> Result<Self, BrokenNotesFrame> {
        let place = self.places.get(section).ok_or(BrokenNotesFrame)?;
        let core = self.core(place);
        let end = self.line_end();
        let lines = trimmed(body)
            .lines()
            .map(|line| line.trim_end_matches('\r'));
        let body = lines.collect::<Vec<_>>().join(end);
        let (before, behind) = (&self.text[..core.start], &self.text[core.end..]);
        let text = match (core.is_empty(), body.is_empty()) {
            (true, true) => return Ok(self.clone()),
            (false, true) => [before, behind.strip_prefix(end).unwrap_or(behind)].concat(),
            (false, false) => [before, &body, behind].concat(),
            (true, false) => {
                let line = match before.chars().next_back() {
                    Some('\n') => "",
                    // The first half of a line ending.
                    Some('\r') => "\n",
                    _ => end,
                };
                let gap = if behind.is_empty() || behind.starts_with(['\r', '\n']) {
                    ""
                } else {
                    end
                };
                [before, line, &body, end, gap, behind].concat()
            }
        };
        let changed = Self::parse(text);
        // A fence may also hide a heading and reveal another of the same name, so bodies are compared, too.
        let wanted = self.sections().enumerate().map(|(at, old)| match at {
            at if at == section => NotesSection { body: &body, ..old },
            _ => old,
        });
        if wanted.eq(changed.sections()) {
            Ok(changed)
        } else {
            Err(BrokenNotesFrame)
        }
    }

    /// Whether these notes may be changed to `changed`: it must have the same sections with the same descriptions in
    /// the same order.
    ///
    /// # Errors
    /// Fails if a section or its description is missing, added, changed or moved.
    pub fn allows(&self, changed: &Self) -> Result<(), BrokenNotesFrame> {
        let same = self
            .sections()
            .map(NotesSection::frame)
            .eq(changed.sections().map(NotesSection::frame));
        if same { Ok(()) } else { Err(BrokenNotesFrame) }
    }

    /// Returns where a section's heading begins; after the last section, the end of the text.
    fn start(&self, section: usize) -> usize {
        let title = self.places.get(section).map(|place| place.title.start);
        title.map_or(self.text.len(), |title| {
            self.text[..title].rfind('\n').map_or_else(
                || {
                    if self.text.starts_with(BOM) {
                        BOM.len_utf8()
                    } else {
                        0
                    }
                },
                |line| line + 1,
            )
        })
    }

    /// Returns the range of the body without blank lines around it; if there is no body, the position where it would
    /// begin.
    fn core(&self, place: &SectionRanges) -> Range<usize> {
        let room = &self.text[place.room.clone()];
        let body = trimmed(room);
        if body.is_empty() {
            place.room.start..place.room.start
        } else {
            let start = place.room.start + (room.trim_end().len() - body.len());
            start..start + body.len()
        }
    }

    /// Returns the line end that the file uses.
    fn line_end(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            None if self.text.ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }
}

const BOM: char = '\u{feff}';

/// Returns a text without blank lines at its ends. The indentation of its first line stays.
fn trimmed(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    &text[text[..blank].rfind('\n').map_or(0, |line| line + 1)..]
}

fn places(text: &str) -> Vec<SectionRanges> {
    let mut places: Vec<SectionRanges> = Vec::new();
    let fenced = fenced_lines(text.split_inclusive('\n'));
    let mut at = 0;
    // Whether the next line may still be the description of the newest section.
    let mut fresh = false;
    for (line, fenced) in text.split_inclusive('\n').zip(fenced) {
        let (start, end) = (at, at + line.len());
        at = end;
        let shown = match start {
            0 => line.strip_prefix(BOM).unwrap_or(line),
            _ => line,
        };
        let skipped = line.len() - shown.len();
        if !fenced && let Some(title) = title(shown) {
            let from = start + skipped + title.start;
            if let Some(last) = places.last_mut() {
                last.room.end = start;
            }
            places.push(SectionRanges {
                title: from..from + title.len(),
                description: None,
                room: end..text.len(),
            });
            fresh = true;
            continue;
        }
        let words = line.trim();
        if !fresh || words.is_empty() {
            continue;
        }
        fresh = false;
        if is_italic(words)
            && let Some(last) = places.last_mut()
        {
            let from = start + (line.len() - line.trim_start().len());
            last.description = Some(from..from + words.len());
            last.room.start = end;
        }
    }
    places
}

/// Returns the range of the title within a first-level heading line.
fn title(line: &str) -> Option<Range<usize>> {
    let rest = line.strip_prefix("# ")?;
    let words = rest.trim();
    let from = 2 + (rest.len() - rest.trim_start().len());
    (!words.is_empty()).then(|| from..from + words.len())
}

fn is_italic(line: &str) -> bool {
    ['_', '*'].into_iter().any(|mark| {
        let inside = line
            .strip_prefix(mark)
            .and_then(|rest| rest.strip_suffix(mark));
        inside.is_some_and(|words| {
            !words.trim().is_empty() && !words.starts_with(mark) && !words.ends_with(mark)
        })
    })
}
