//! The expansion of a wildcard outside of quotes: the names of existing files. It finds too many rather than too few,
//! and reports what it cannot determine.

use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of names that are examined.
const MOST: usize = 10_000;

/// The expansion of a wildcard.
#[derive(Debug, Default)]
pub(crate) struct ExpandedWildcard {
    /// The files, as the shell would name them.
    pub(crate) names: Vec<PathBuf>,
    /// The folders that it lists to find them.
    pub(crate) listed: Vec<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
enum WildcardPiece {
    Just(char),
    One,
    Many,
}

/// Expands a pattern ([`ShellWord::pattern`](super::shell::ShellWord)) in a folder. `None` if the result is not
/// certain.
pub(crate) fn expand(pattern: &str, base: &Path) -> Option<ExpandedWildcard> {
    let mut expanded = ExpandedWildcard::default();
    let absolute = pattern.starts_with('/');
    let mut found = vec![PathBuf::from(if absolute { "/" } else { "" })];
    let mut looked_at = 0_usize;
    for segment in pattern.split('/').filter(|segment| !segment.is_empty()) {
        let pieces = pieces(segment)?;
        let wild =
            |piece: &WildcardPiece| *piece == WildcardPiece::One || *piece == WildcardPiece::Many;
        if !pieces.iter().any(wild) {
            let name: String = pieces.iter().filter_map(WildcardPiece::literal).collect();
            found.iter_mut().for_each(|path| path.push(&name));
            continue;
        }
        let mut next = Vec::new();
        for path in found {
            let folder = base.join(&path);
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            expanded.listed.push(folder);
            if pieces.first() == Some(&WildcardPiece::Just('.')) {
                let is_meant = |name: &&str| matches(&pieces, &name.chars().collect::<Vec<_>>());
                let links = [".", ".."].into_iter().filter(is_meant);
                next.extend(links.map(|name| path.join(name)));
            }
            for entry in entries.flatten() {
                looked_at += 1;
                if looked_at > MOST {
                    return None;
                }
                let name = entry.file_name();
                if is_match(&pieces, &name.to_string_lossy()) {
                    next.push(path.join(name));
                }
            }
        }
        found = next;
    }
    expanded.names = found;
    Some(expanded)
}

impl WildcardPiece {
    fn literal(&self) -> Option<char> {
        match self {
            Self::Just(character) => Some(*character),
            Self::One | Self::Many => None,
        }
    }
}

/// Parses one name of a path. A list of characters in brackets counts as any character; `None` if its end is not
/// certain.
fn pieces(segment: &str) -> Option<Vec<WildcardPiece>> {
    let mut pieces = Vec::new();
    let mut characters = segment.chars();
    while let Some(character) = characters.next() {
        pieces.push(match character {
            '\\' => WildcardPiece::Just(characters.next()?),
            '*' => WildcardPiece::Many,
            '?' => WildcardPiece::One,
            '[' => {
                let rest = characters.as_str();
                let negated = rest.strip_prefix(['!', '^']).unwrap_or(rest);
                let first = negated.chars().next()?.len_utf8();
                let end = rest.len() - negated.len() + first + negated.get(first..)?.find(']')?;
                let inner = &rest[..end];
                if inner.contains(['[', '\\', ']']) {
                    return None;
                }
                characters = rest[end + 1..].chars();
                WildcardPiece::One
            }
            _ => WildcardPiece::Just(character),
        });
    }
    Some(pieces)
}

fn is_match(pieces: &[WildcardPiece], name: &str) -> bool {
    // A leading dot is matched only by a dot.
    if name.starts_with('.') && pieces.first() != Some(&WildcardPiece::Just('.')) {
        return false;
    }
    // What counts as one character of such a name depends on the locale.
    !name.is_ascii() || matches(pieces, &name.chars().collect::<Vec<_>>())
}

fn matches(pieces: &[WildcardPiece], name: &[char]) -> bool {
    // reached[j]: the pieces so far can match the first j characters.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for piece in pieces {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = match piece {
                WildcardPiece::Many => reached[at] || at > 0 && next[at - 1],
                WildcardPiece::One => at > 0 && reached[at - 1],
                WildcardPiece::Just(character) => {
                    at > 0 && reached[at - 1] && name[at - 1] == *character
                }
            };
        }
        reached = next;
    }
    reached[name.len()]
}
