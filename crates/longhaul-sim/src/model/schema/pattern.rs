//! Makes a text that matches a regular expression, for string fields with a `pattern`. It takes a short way through the
//! pattern.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::model::chance::Chance;

/// The maximum length in bytes; a pattern that asks for more is given up on.
const LONGEST: usize = 4_096;

/// A text that matches; `None` if the pattern cannot be parsed.
pub(super) fn text(pattern: &str, chance: &mut Chance) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let mut out = String::new();
    write(&hir, chance, &mut out);
    Some(out)
}

/// Whether the pattern only restricts how a text begins, and this text begins that way.
pub(super) fn begins_right(pattern: &str, text: &str) -> bool {
    pattern.strip_prefix('^').is_some_and(|head| {
        !head.is_empty() && regex_syntax::escape(head) == head && text.starts_with(head)
    })
}

fn write(hir: &Hir, chance: &mut Chance, out: &mut String) {
    if out.len() > LONGEST {
        return;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => out.extend(member(class, chance)),
        HirKind::Repetition(repetition) => {
            // `+` and `*` give a few characters rather than the fewest: names of one letter look made up.
            let few = repetition.min.saturating_add(5);
            let most = repetition.max.unwrap_or(few).min(few).min(LONGEST as u32);
            for _ in 0..chance.between(repetition.min.clamp(1, most.max(1)) as usize, most as usize)
            {
                write(&repetition.sub, chance, out);
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, chance, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, chance, out)),
        HirKind::Alternation(branches) => {
            if let Some(branch) = chance.pick(branches) {
                write(branch, chance, out);
            }
        }
    }
}

fn member(class: &Class, chance: &mut Chance) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class
            .iter()
            .map(|range| (range.start(), range.end()))
            .collect(),
        Class::Bytes(class) => class
            .iter()
            .map(|range| (char::from(range.start()), char::from(range.end())))
            .collect(),
    };
    const LIKED: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
    let inside = |letter: &char| {
        ranges
            .iter()
            .any(|(low, high)| low <= letter && letter <= high)
    };
    let liked: Vec<char> = LIKED.chars().filter(inside).collect();
    chance
        .pick(&liked)
        .copied()
        .or_else(|| (' '..='~').find(inside))
        .or_else(|| ranges.first().map(|range| range.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_matched_by_what_is_made_up_for_it() {
        let mut chance = Chance::new(4);
        for _ in 0..20 {
            let made = text("^(ISSUE|PR)-[0-9]{3,5}$", &mut chance).unwrap();
            let (kind, number) = made.split_once('-').unwrap();
            assert!(kind == "ISSUE" || kind == "PR", "{made}");
            assert!(
                (3..=5).contains(&number.len()) && number.parse::<u32>().is_ok(),
                "{made}"
            );
        }
        assert_eq!(text("(", &mut chance), None);
        assert!(begins_right("^/", "/src/lib.rs") && !begins_right("^[a-z]", "abc"));
    }
}
