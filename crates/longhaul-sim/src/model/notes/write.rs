//! What belongs into each section of the notes: facts of the conversation, added to the existing text, within the caps.

use super::shown_notes::{ShownNotes, ShownNotesSection};
use crate::model::conversation::{clip, first_line, gist};
use crate::model::digest::{ConversationDigest, DigestFileAction};

/// A number of bytes that surely fit into a token.
const BYTES_A_TOKEN: usize = 3;
/// The caps in tokens, for a section and for all, where the prompt gives none.
const CAPS: (usize, usize) = (2_000, 12_000);

/// How new lines are combined with the existing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SectionMerge {
    /// They replace it.
    Replace,
    /// They are added to it.
    Add,
    /// They are written only if the section is empty.
    Once,
}

/// The sections that change, with their new text in full.
pub(super) fn changes<'p>(
    page: &'p ShownNotes<'p>,
    digest: &ConversationDigest<'_>,
    room: usize,
) -> Vec<(&'p ShownNotesSection<'p>, String)> {
    let count = page.sections.len().max(1);
    let total = page.total_cap.unwrap_or(CAPS.1) * BYTES_A_TOKEN;
    // An edit repeats the old text, so half of the reply's length is for new text.
    let share = (total / count).min(room / 2 / count).max(120);
    let cap = (page.section_cap.unwrap_or(CAPS.0) * BYTES_A_TOKEN).min(share);
    let mut changes = Vec::new();
    for section in &page.sections {
        let (way, lines) = lines(section.title, digest);
        let body = merged(
            section.body,
            &lines,
            way,
            cap.saturating_sub(section.head.len()),
        );
        if body != section.body && !body.is_empty() {
            changes.push((section, format!("{}\n{body}", section.head)));
        }
    }
    changes
}

fn merged(old: &str, lines: &[String], way: SectionMerge, cap: usize) -> String {
    let kept: Vec<&str> = match way {
        SectionMerge::Replace if !lines.is_empty() => Vec::new(),
        SectionMerge::Once if !old.trim().is_empty() => return fitted(old.lines().collect(), cap),
        _ => old.lines().collect(),
    };
    let mut all = kept.clone();
    let fresh = lines
        .iter()
        .map(String::as_str)
        .filter(|line| !kept.contains(line));
    all.extend(fresh);
    fitted(all, cap)
}

/// The lines within the cap; the oldest are dropped first.
fn fitted(lines: Vec<&str>, cap: usize) -> String {
    let mut used = 0;
    let mut from = lines.len();
    while from > 0 && used + lines[from - 1].len() < cap {
        from -= 1;
        used += lines[from].len() + 1;
    }
    match (from == lines.len(), lines.last()) {
        (true, Some(last)) => clip(last, cap).to_owned(),
        _ => lines[from..].join("\n"),
    }
}

/// What the conversation provides for a section with this title.
fn lines(title: &str, digest: &ConversationDigest<'_>) -> (SectionMerge, Vec<String>) {
    let title = title.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| title.contains(word));
    let changed = || {
        digest
            .files
            .iter()
            .filter(|file| file.done != DigestFileAction::Read)
    };
    let newest = digest.messages.last();
    if has(&["title"]) {
        let words = digest
            .messages
            .first()
            .map(|message| first_line(message, 60).to_owned());
        (SectionMerge::Once, words.into_iter().collect())
    } else if has(&["current", "state"]) {
        let mut lines: Vec<String> = newest
            .map(|message| format!("- At work on: {}", first_line(message, 200)))
            .into_iter()
            .collect();
        let open = digest
            .todos
            .iter()
            .filter(|(_, status)| status != "completed");
        lines.extend(open.map(|(content, status)| format!("- Open ({status}): {content}")));
        lines.extend(
            digest
                .said
                .last()
                .map(|text| format!("- Last said: {}", gist(text, 200))),
        );
        (SectionMerge::Replace, lines)
    } else if has(&["task", "specification", "request"]) {
        (
            SectionMerge::Add,
            digest
                .messages
                .iter()
                .map(|message| format!("- The user: \"{}\"", first_line(message, 400)))
                .collect(),
        )
    } else if has(&["file", "function"]) {
        let line = |file: &crate::model::digest::DigestFile| {
            let done = if file.done == DigestFileAction::Read {
                "read"
            } else {
                "changed"
            };
            format!("- `{}` ({done})", file.path)
        };
        (
            SectionMerge::Add,
            digest.files.iter().rev().map(line).collect(),
        )
    } else if has(&["workflow", "command"]) {
        let mut lines: Vec<String> = digest
            .ran
            .iter()
            .map(|ran| format!("- `{}`", first_line(&ran.command, 160)))
            .collect();
        dedup(&mut lines);
        (SectionMerge::Add, lines)
    } else if has(&["error", "correction"]) {
        let line = |failure: &crate::model::digest::DigestFailure| {
            format!(
                "- {}: {} ({})",
                failure.call,
                failure.error,
                failure.fix.as_deref().unwrap_or("open")
            )
        };
        let mut lines = digest.failures.iter().map(line).collect();
        dedup(&mut lines);
        (SectionMerge::Add, lines)
    } else if has(&["documentation", "system", "codebase"]) {
        let mut folders: Vec<String> = digest
            .files
            .iter()
            .filter_map(|file| file.path.rsplit_once('/'))
            .map(|(folder, _)| format!("- Work went on in `{folder}`"))
            .collect();
        dedup(&mut folders);
        (SectionMerge::Add, folders)
    } else if has(&["learning", "lesson"]) {
        let mut fixed: Vec<String> = digest
            .failures
            .iter()
            .filter_map(|failure| {
                failure
                    .fix
                    .as_ref()
                    .map(|fix| format!("- After \"{}\": {fix}", failure.error))
            })
            .collect();
        dedup(&mut fixed);
        (SectionMerge::Add, fixed)
    } else if has(&["result", "outcome"]) {
        let mut lines: Vec<String> = changed()
            .map(|file| format!("- Changed `{}`", file.path))
            .collect();
        lines.extend(
            digest
                .ran
                .iter()
                .rev()
                .find(|ran| !ran.failed)
                .map(|ran| format!("- `{}` said: {}", first_line(&ran.command, 80), ran.said)),
        );
        (SectionMerge::Add, lines)
    } else if has(&["log", "history"]) {
        (
            SectionMerge::Add,
            digest
                .walk
                .iter()
                .map(|line| format!("- {}", first_line(line, 160)))
                .collect(),
        )
    } else {
        (
            SectionMerge::Add,
            digest
                .said
                .last()
                .map(|text| format!("- {}", gist(text, 200)))
                .into_iter()
                .collect(),
        )
    }
}

fn dedup(lines: &mut Vec<String>) {
    let mut seen = std::collections::BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
}
