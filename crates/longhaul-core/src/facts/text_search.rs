//! Finds which texts occur, word for word, in others: one search for all of them, whatever their number.
//!
//! White space is normalized, nothing else. A text that is short enough to occur by chance must be in quotes or on a
//! line of its own.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::hash::Map;

/// The search looks for this many bytes of each text, and compares the rest at each match.
const KEY: usize = 16;
/// Texts shorter than this many bytes may occur by chance.
const BY_CHANCE: usize = 24;

/// The kind of text that is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NeedleKind {
    /// The words of a person.
    Prose,
    /// The path of a file.
    Path,
}

/// Normalized texts to search in.
#[derive(Debug, Default)]
pub(super) struct Haystack {
    texts: Vec<String>,
}

impl Haystack {
    pub(super) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        Self {
            texts: texts.map(lines_normalized).collect(),
        }
    }

    /// Returns for each text whether it occurs. A blank text does: nothing of it can be lost.
    pub(super) fn holds(&self, texts: &[(NeedleKind, &str)]) -> Vec<bool> {
        let needles: Vec<String> = texts.iter().map(|(_, text)| normalized(text)).collect();
        let mut held: Vec<bool> = needles.iter().map(String::is_empty).collect();
        if held.iter().all(|held| *held) {
            return held;
        }
        // "Go on" may have been said a thousand times; it is searched for once.
        let mut first: Map<(NeedleKind, &str), usize> = Map::default();
        let mut sought: Vec<usize> = Vec::new();
        for at in (0..needles.len()).filter(|at| !held[*at]) {
            first.entry((texts[at].0, &needles[at])).or_insert_with(|| {
                sought.push(at);
                at
            });
        }
        let keys = sought.iter().map(|at| {
            let needle = needles[*at].as_bytes();
            &needle[..needle.len().min(KEY)]
        });
        // Too many keys for the search is beyond any session; in that case no text counts as found, so all are added.
        let Ok(search) = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(keys)
        else {
            return held;
        };
        for text in &self.texts {
            let plain = text.replace('\n', " ");
            for found in search.find_overlapping_iter(&plain) {
                let at = sought[found.pattern().as_usize()];
                let (start, needle) = (found.start(), &needles[at]);
                if !held[at] && plain.as_bytes()[start..].starts_with(needle.as_bytes()) {
                    held[at] = is_deliberate_match(texts[at].0, text, start, start + needle.len());
                }
            }
        }
        for at in 0..needles.len() {
            if let Some(first) = first.get(&(texts[at].0, needles[at].as_str())) {
                held[at] = held[*first];
            }
        }
        held
    }
}

/// Replaces each run of white space by one space.
pub(super) fn normalized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Replaces each run of white space by one space, or by one line break if the run contains one.
fn lines_normalized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let start = out.len();
        for word in line.split_whitespace() {
            if out.len() > start {
                out.push(' ');
            } else if start > 0 {
                out.push('\n');
            }
            out.push_str(word);
        }
    }
    out
}

/// Whether a match is more than chance: it is not part of longer words, and a short one is in quotes or on its own
/// line.
fn is_deliberate_match(kind: NeedleKind, text: &str, start: usize, end: usize) -> bool {
    let (Some(before), Some(found), Some(behind)) =
        (text.get(..start), text.get(start..end), text.get(end..))
    else {
        return false;
    };
    if kind == NeedleKind::Path {
        let in_path = |character: char| {
            character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '/' | '\\')
        };
        let longer = before.ends_with(|character| in_path(character) || character == '.')
            || behind.starts_with(in_path)
            || behind
                .strip_prefix('.')
                .is_some_and(|rest| rest.starts_with(in_path));
        return !longer;
    }
    let (before, behind) = (before.chars().next_back(), behind.chars().next());
    if found.len() < BY_CHANCE {
        let line_start = before.is_none_or(|before| before == '\n');
        let line_end = behind.is_none_or(|behind| behind == '\n');
        let listed = text[..start].ends_with("\n- ")
            || text[..start].ends_with("] ")
            || text[..start].ends_with(") ")
            || text[..start].ends_with("\n* ");
        let quoted = before.is_some_and(is_quote) && behind.is_some_and(is_quote);
        return quoted || line_end && (line_start || listed);
    }
    let word = |character: Option<char>| {
        character.is_some_and(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    !(word(before) && word(found.chars().next()) || word(behind) && word(found.chars().next_back()))
}

fn is_quote(character: char) -> bool {
    matches!(
        character,
        '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '«' | '»' | '「' | '」' | '『' | '』' | '„'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, needle: &str) -> bool {
        Haystack::new([text]).holds(&[(NeedleKind::Prose, needle)])[0]
    }

    #[test]
    fn x1_only_the_exact_words_count() {
        let text = "The user said: \"Please  use\nthe second\tparser instead of the first\" and \"ok\".\n- go on\n[4] yes\nnever";
        assert!(holds(
            text,
            "Please use the second parser instead of the first"
        ));
        assert!(holds(
            text,
            " Please use the second parser instead of the first\n"
        ));
        assert!(!holds(
            text,
            "please use the second parser instead of the first"
        ));
        assert!(!holds(
            text,
            "Please use the second parser instead of the fir"
        ));
        assert!(holds(text, "ok"));
        assert!(holds(text, "go on"));
        assert!(holds(text, "yes"));
        assert!(holds(text, "never"));
        assert!(!holds(text, "the"), "by chance");
        assert!(!holds("token and yes or no", "yes"));
        assert!(holds(
            "用户说：请不要在没有测试的情况下删除数据库，好",
            "请不要在没有测试的情况下删除数据库"
        ));
        assert!(holds("", " "));
    }

    #[test]
    fn x1_a_path_is_held_only_as_a_whole() {
        let haystack = Haystack::new(["see `/a/b.rs`, /a/c.rs.\nx/a/d.rs /a/e.rs.bak /a/f.rs/g"]);
        let paths = ["/a/b.rs", "/a/c.rs", "/a/d.rs", "/a/e.rs", "/a/f.rs"];
        let held = haystack.holds(&paths.map(|path| (NeedleKind::Path, path)));
        assert_eq!(held, [true, true, false, false, false]);
    }

    #[test]
    fn x1_texts_with_a_common_beginning_are_told_apart() {
        let haystack = Haystack::new(["here: the same long beginning, then the first of them."]);
        let held = haystack.holds(
            &[
                "the same long beginning, then the first of them",
                "the same long beginning, then the second of them",
                "the same long beginning",
            ]
            .map(|needle| (NeedleKind::Prose, needle)),
        );
        assert_eq!(held, [true, false, false]);
    }
}
