//! All that marks a text as the engine's or the host's: headings, notices, tags. The table is read from the fragments that
//! the engine writes, so what they say and what is guarded cannot drift apart; `fragments.rs` lists them.

mod fragments;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use fragments::{FRAGMENTS, FragmentRole};

/// What a marker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MarkerKind {
    /// A heading of a part that the engine writes.
    Heading,
    /// A sentence or note that the engine or the host writes at the beginning of a line.
    Notice,
    /// A tag.
    Tag,
    /// A heading of a summary: models are asked to write these.
    Section,
    /// A sentence that counts only inside the element in which the host speaks, or as a block of its own.
    Reminder,
}

/// Something that marks a text as the engine's or the host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// What it is.
    pub kind: MarkerKind,
    /// A line as it could be written, with something in each place that is filled in.
    pub line: String,
    /// The part of it that is always the same, without decoration and in lower case.
    core: String,
}

/// A claim of fewer bytes occurs by chance; it counts only as a heading or as a whole line.
const BY_CHANCE: usize = 20;
/// A sentence is recognised by its first bytes.
const OPENING: usize = 40;

/// All markers.
pub fn all() -> &'static [Marker] {
    static ALL: LazyLock<Vec<Marker>> = LazyLock::new(read);
    &ALL
}

/// The files that the markers are read from, by their path in this crate's sources.
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
    // What a heading says in brackets explains it.
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

/// A fragment's line with something in each of its places.
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

/// A line without what decorates it.
fn bare(line: &str) -> &str {
    line.trim_start_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '#' | '*' | '_' | '`' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
            )
    })
}

/// Whether a line begins what the engine puts after a summary: where details are found, how to go on.
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

/// Whether a line of a text that a model wrote looks as if the engine had written it.
pub(super) fn is_claimed_by(line: &str) -> bool {
    let line = line.trim();
    let core = bare(line);
    if core.is_empty() {
        return false;
    }
    let is_decorated = line.starts_with(['#', '*', '_']);
    // No marker is longer than this, so the rest need not be looked at.
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
    fn every_heading_notice_and_tag_is_recognised_as_a_claim() {
        for marker in all() {
            let guarded = !matches!(marker.kind, MarkerKind::Section | MarkerKind::Reminder);
            assert_eq!(is_claimed_by(&marker.line), guarded, "{marker:?}");
        }
    }
}
