//! Everything that identifies a text as the engine's or the host's: headings, notices, tags. The table is read from the
//! fragments that the engine writes, so the fragments and the guard cannot drift apart; `fragments.rs` lists them.

mod fragments;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use fragments::{FRAGMENTS, FragmentRole};

/// The kind of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MarkerKind {
    /// A heading of a part that the engine writes.
    Heading,
    /// A sentence or note that the engine or the host writes at the beginning of a line.
    Notice,
    /// A tag.
    Tag,
    /// A heading of a summary. Models are asked to write these.
    Section,
    /// A sentence that counts only inside the element in which the host speaks, or as a block of its own.
    Reminder,
}

/// Something that identifies a text as the engine's or the host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The kind of the marker.
    pub kind: MarkerKind,
    /// A line as it could be written, with every placeholder filled.
    pub line: String,
    /// The constant part of the line, without decoration and in lower case.
    core: String,
}

/// A marker with fewer bytes may occur by chance, so it counts only as a heading or as a whole line.
const BY_CHANCE: usize = 20;
/// The number of bytes by which a sentence is recognized.
const OPENING: usize = 40;

/// Returns all markers.
pub fn all() -> &'static [Marker] {
    static ALL: LazyLock<Vec<Marker>> = LazyLock::new(read);
    &ALL
}

/// Returns the files that the markers are read from, by their path in this crate's sources.
pub fn sources() -> impl Iterator<Item = &'static str> {
    FRAGMENTS.iter().map(|fragment| fragment.path)
}

fn read() -> Vec<Marker> {
    let mut all = Vec::new();
    let mut names: BTreeSet<&str> = BTreeSet::from([super::tags::ELEMENT]);
    for fragment in FRAGMENTS {
        if fragment.role != FragmentRole::Data {
            names.extend(tag_names(fragment.text));
        }
        let lines = fragment.text.lines();
        match fragment.role {
            FragmentRole::Prompt => {}
            FragmentRole::Written => {
                all.extend(lines.filter_map(|line| marker(line, MarkerKind::Notice)))
            }
            FragmentRole::Sections => {
                all.extend(lines.filter_map(|line| marker(line, MarkerKind::Section)))
            }
            FragmentRole::Reminder => {
                all.extend(lines.filter_map(|line| marker(line, MarkerKind::Reminder)));
            }
            FragmentRole::Data => {
                let mut elements = false;
                for line in lines.map(str::trim).filter(|line| !line.starts_with('#')) {
                    match line {
                        "[elements]" => elements = true,
                        _ if line.starts_with('[') && line.ends_with(']') => elements = false,
                        _ if elements && !line.is_empty() => {
                            names.insert(line);
                        }
                        _ => all.extend(marker(line, MarkerKind::Notice)),
                    }
                }
            }
        }
    }
    for name in names {
        for line in [format!("<{name}>"), format!("</{name}>")] {
            all.push(Marker {
                kind: MarkerKind::Tag,
                core: line.trim_end_matches('>').to_owned(),
                line,
            });
        }
    }
    all
}

fn marker(line: &str, kind: MarkerKind) -> Option<Marker> {
    let line = line.trim();
    let kind = if line.starts_with('#') {
        MarkerKind::Heading
    } else {
        kind
    };
    let fixed = line.split('{').next().unwrap_or_default();
    // Brackets in a heading hold an explanation.
    let fixed = match kind {
        MarkerKind::Heading => fixed.split(" (").next().unwrap_or_default(),
        _ => fixed,
    };
    let core = bare(fixed).trim_end();
    let says = core.chars().filter(|c| c.is_alphanumeric()).count() > 3 || core.starts_with('[');
    says.then(|| Marker {
        kind,
        line: filled(line),
        core: core.to_lowercase(),
    })
}

/// Returns a fragment's line with every placeholder filled.
fn filled(line: &str) -> String {
    let mut text = String::new();
    for (at, part) in line.split('{').enumerate() {
        match (at, part.split_once('}')) {
            (0, _) => text.push_str(part),
            (_, Some((_, behind))) => {
                text.push('1');
                text.push_str(behind);
            }
            (_, None) => {
                text.push('{');
                text.push_str(part);
            }
        }
    }
    text
}

fn tag_names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('<').filter_map(|(at, _)| {
        let inside = &text[at + 1..];
        let is_name = |c: char| c.is_ascii_lowercase() || matches!(c, '-' | '_');
        let end = inside.find(|c: char| !is_name(c))?;
        (end > 1 && inside[end..].starts_with(['>', ' '])).then(|| &inside[..end])
    })
}

/// Returns a line without its decoration.
fn bare(line: &str) -> &str {
    line.trim_start_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '#' | '*' | '_' | '`' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
            )
    })
}

/// Whether a line begins the engine's text after a summary: where to find details, how to continue.
pub(crate) fn frames_summary(line: &str) -> bool {
    let line = line.trim();
    let framing = FRAGMENTS
        .iter()
        .filter(|one| one.path.starts_with("summary/message/"));
    framing.flat_map(|one| one.text.lines()).any(|one| {
        let fixed = one.split('{').next().unwrap_or_default();
        fixed.len() > 4 && line.starts_with(fixed)
    })
}

/// Whether a line of a model's text looks as if the engine had written it.
pub(super) fn is_claimed_by(line: &str) -> bool {
    let line = line.trim();
    let core = bare(line);
    if core.is_empty() {
        return false;
    }
    let is_decorated = line.starts_with(['#', '*', '_']);
    // No marker is longer than this, so the rest of the line does not matter.
    let core: String = core
        .chars()
        .take(200)
        .flat_map(char::to_lowercase)
        .collect();
    let whole = core.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ']' | ')'));
    all().iter().any(|marker| match marker.kind {
        MarkerKind::Section | MarkerKind::Reminder => false,
        MarkerKind::Tag => core
            .strip_prefix(&marker.core)
            .is_some_and(|rest| rest.trim_start().starts_with(['>', '=']) || rest.starts_with(' ')),
        MarkerKind::Heading => {
            core.starts_with(&marker.core)
                && (is_decorated || marker.core.len() >= BY_CHANCE || whole == marker.core)
        }
        MarkerKind::Notice => {
            let end = marker.core.char_indices().nth(OPENING);
            let opening = end.map_or(marker.core.as_str(), |(end, _)| &marker.core[..end]);
            let is_bracketed = opening.starts_with(['[', '(', '<']);
            core.starts_with(opening) && (is_bracketed || opening.len() >= BY_CHANCE)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_what_the_engine_writes() {
        let has = |kind, line: &str| all().iter().any(|one| one.kind == kind && one.line == line);
        assert!(has(MarkerKind::Heading, "## Kept word for word"));
        assert!(has(MarkerKind::Heading, "### Part 11"));
        assert!(has(MarkerKind::Tag, "</system-reminder>"));
        assert!(has(MarkerKind::Tag, "<summary>"));
        assert!(has(MarkerKind::Tag, "<fold>"));
        assert!(has(MarkerKind::Notice, "[Request interrupted by user"));
        assert!(has(MarkerKind::Section, "7. Pending tasks"));
        assert!(has(MarkerKind::Reminder, "The todo list now:"));
        assert!(all().len() > 80, "{}", all().len());
    }

    #[test]
    fn every_heading_notice_and_tag_is_recognized_as_a_claim() {
        for marker in all() {
            let guarded = !matches!(marker.kind, MarkerKind::Section | MarkerKind::Reminder);
            assert_eq!(is_claimed_by(&marker.line), guarded, "{marker:?}");
        }
    }
}
