//! Reads a title and the working folder from the first lines of a transcript, of which it reads only a bounded part.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use longhaul_core::json::{ObjectReader, text_of};
use longhaul_core::message::{BlockKind, EntryKind, EntryView, LineScanner};

use super::walk;
use crate::lines::LineReader;

/// The maximum part of a file to read.
const PART: u64 = 256 << 10;
const BUFFER: usize = 32 << 10;
/// Titles are cut after this many characters.
const TITLE: usize = 100;

/// The first thing the user said.
pub(super) fn title(path: &Path) -> io::Result<Option<String>> {
    first(path, |view| {
        let flags = view.facets.flags;
        if view.facets.kind != EntryKind::User || flags.meta || flags.compact_summary {
            return None;
        }
        view.facets
            .blocks
            .iter()
            .filter(|block| block.kind == BlockKind::Text && !block.inner && !block.blank)
            .find_map(|block| title_from(&text_of(block.body.of(view.line))))
    })
}

/// The folder that a session was begun in, according to the first entry that names one.
///
/// # Errors
/// Fails if the transcript cannot be read.
pub fn working_folder(transcript: &Path) -> io::Result<Option<PathBuf>> {
    first(transcript, |view| {
        ObjectReader::new(view.line)
            .string("cwd")
            .map(|cwd| PathBuf::from(cwd.into_owned()))
    })
}

/// Whether a project's folder belongs to a working folder, according to the entries of its sessions.
pub(super) fn is_of_project(folder: &Path, wanted: &Path) -> bool {
    walk::children(folder, &mut Vec::new())
        .iter()
        .filter(|path| walk::is_transcript(path) && path.is_file())
        .any(|path| {
            let named = self::working_folder(path);
            named.is_ok_and(|named| named.is_some_and(|named| named == wanted))
        })
}

/// The first answer that `ask` gives for an entry at the beginning of the file.
fn first<T>(path: &Path, mut ask: impl FnMut(EntryView<'_>) -> Option<T>) -> io::Result<Option<T>> {
    let mut lines = LineReader::with_buffer(File::open(path)?.take(PART), BUFFER);
    let mut scanner = LineScanner::default();
    while let Some(line) = lines.next()? {
        if let Ok(facets) = scanner.scan(line.bytes)
            && let Some(answer) = ask(facets.view(line.bytes))
        {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

/// A title from a user's text: its first line. Texts that the host wrapped in tags were not typed by the user, but a
/// command of the user's own is followed by what was typed.
fn title_from(text: &str) -> Option<String> {
    let text = text.trim();
    let typed = text.strip_suffix("</typed-command>");
    let text = match typed.and_then(|text| text.rsplit_once("<typed-command>")) {
        Some((_, typed)) => typed.trim(),
        None if text.starts_with('<') || text.starts_with("[Request interrupted by user") => {
            return None;
        }
        None => text,
    };
    let line = text.lines().next()?.trim();
    let mut title: String = line
        .chars()
        .filter(|c| !c.is_control())
        .take(TITLE)
        .collect();
    if line.chars().nth(TITLE).is_some() {
        title.push('…');
    }
    (!title.is_empty()).then_some(title)
}
