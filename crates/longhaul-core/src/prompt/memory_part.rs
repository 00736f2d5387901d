//! The memory files in the user context, within their budget (A4).
//!
//! If they exceed the budget, small files stay whole and large ones are cut at a line; if there are more than can be
//! shown in a useful way, the last ones are left out. The model and the host are told about each cut.

use std::borrow::Cow;

use super::fragment::{fill, one_line, shown_path};
use super::memory::MemoryFile;
use super::share;
use super::truncated_source::TruncatedSource;
use crate::tokens::cut;
use crate::tokens::{Estimate, RoughEstimator};

/// The minimum number of units for a file that is cut: with less it is left out.
const LEAST_UNITS: u64 = 400;

/// The separator between two files.
const BETWEEN: &str = "\n\n";

/// Returns the files with their titles, in at most `tokens` tokens by padded estimate.
pub(super) fn memory_part(
    files: &[MemoryFile],
    tokens: u64,
    cuts: &mut Vec<TruncatedSource>,
) -> Option<String> {
    let between = cut::units(BETWEEN);
    let files: Vec<_> = files
        .iter()
        .filter(|file| !file.text.trim().is_empty())
        .collect();
    let most = cut::units_within(tokens);
    let wants: Vec<_> = files
        .iter()
        .map(|file| wanted_units(file) + between)
        .collect();
    let mut level = share::level(&wants, most);
    let mut shown = files.len();
    if level < LEAST_UNITS {
        let room = most.saturating_sub(cut::units(&left_out(usize::MAX, u64::MAX)) + between);
        shown = share::how_many(&wants, room, LEAST_UNITS);
        level = share::level(&wants[..shown], room);
    }
    let mut parts = Vec::new();
    let mut missing = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let part = if at < shown {
            memory_file(file, level.saturating_sub(between))
        } else {
            None
        };
        let (part, cut) = match part {
            Some((part, cut)) => (Some(part), cut),
            None => (None, Some(cut_of(file, ""))),
        };
        match part {
            Some(part) => parts.push(part),
            None => missing.extend(cut.clone()),
        }
        cuts.extend(cut);
    }
    if !missing.is_empty() {
        let tokens: Estimate = missing.iter().map(|cut| cut.missing).sum();
        let note = left_out(missing.len(), tokens.unpadded());
        // If the window has no room for the note, it has none for the files either. The host is told regardless.
        let used: u64 = parts.iter().map(|part| cut::units(part) + between).sum();
        if used + cut::units(&note) <= most {
            parts.push(note);
        }
    }
    (!parts.is_empty()).then(|| parts.join(BETWEEN))
}

/// Returns the units of a file that is shown as far as it was read.
fn wanted_units(file: &MemoryFile) -> u64 {
    let note = match file.unread_bytes {
        0 => 0,
        _ => cut::units(&cut_note(file, "")) + 1,
    };
    cut::units(&titled(file, file.text.trim())) + note
}

/// Returns a file with its title in at most `most` units, and what had to be cut. Returns `None` if it cannot be shown
/// at all.
fn memory_file(file: &MemoryFile, most: u64) -> Option<(String, Option<TruncatedSource>)> {
    let text = file.text.trim();
    if wanted_units(file) <= most && file.unread_bytes == 0 {
        return Some((titled(file, text), None));
    }
    // The note is longest if everything is missing.
    let around = cut::units(&titled(file, "")) + cut::units(&cut_note(file, "")) + 3;
    let kept = cut::at_line(text, most.checked_sub(around)?).trim_end();
    if kept.is_empty() {
        return None;
    }
    let shown = format!("{kept}\n{}", cut_note(file, kept));
    Some((titled(file, &shown), Some(cut_of(file, kept))))
}

fn titled(file: &MemoryFile, text: &str) -> String {
    let kind = file.described();
    fill(
        include_str!("fragments/memory_file.md"),
        |name| match name {
            "path" => Some(shown_path(&file.path)),
            "kind" => Some(one_line(&kind)),
            _ => Some(text.into()),
        },
    )
    .text
}

fn cut_of(file: &MemoryFile, kept: &str) -> TruncatedSource {
    let text = file.text.trim();
    TruncatedSource {
        path: file.path.clone(),
        kept: RoughEstimator::text(kept),
        missing: RoughEstimator::text(&text[kept.len()..])
            + Estimate::new(file.unread_bytes.div_ceil(4)),
    }
}

pub(super) fn cut_note(file: &MemoryFile, kept: &str) -> String {
    let missing = cut_of(file, kept).missing.unpadded().to_string();
    fill(include_str!("fragments/memory_cut.md"), |name| match name {
        "path" => Some(shown_path(&file.path)),
        _ => Some(Cow::Borrowed(&*missing)),
    })
    .text
}

fn left_out(files: usize, tokens: u64) -> String {
    fill(
        include_str!("fragments/memory_left_out.md"),
        |name| match name {
            "files" => Some(files.to_string().into()),
            _ => Some(tokens.to_string().into()),
        },
    )
    .text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::memory::MemoryFileKind;

    fn file(path: &str, text: String) -> MemoryFile {
        MemoryFile {
            path: path.into(),
            kind: MemoryFileKind::Project,
            imported_by: None,
            text,
            unread_bytes: 0,
        }
    }

    #[test]
    fn a4_where_not_even_a_note_has_room_nothing_is_said_and_the_host_is_told() {
        let files = [file("/p/CLAUDE.md", "Use tabs.\n".repeat(100))];
        let mut cuts = Vec::new();
        assert_eq!(memory_part(&files, 10, &mut cuts), None);
        assert_eq!(cuts.len(), 1);
    }

    #[test]
    fn a4_a_file_that_cannot_be_shown_is_named_in_a_note_where_that_has_room() {
        let files = [file(
            &format!("/{}", "p".repeat(4_000)),
            "Use tabs.\n".repeat(900),
        )];
        let mut cuts = Vec::new();
        let part = memory_part(&files, 200, &mut cuts).unwrap();
        assert!(part.contains("1 more"), "{part}");
        assert_eq!(cuts.len(), 1);
    }
}
