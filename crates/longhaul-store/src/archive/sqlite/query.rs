//! Turns what people and models type into an expression that the index understands. No text is a syntax error.
//!
//! All words must match, text in double quotes is a phrase, and the last word may be incomplete.

use super::words::{self, ScriptSpacing};

/// Longer queries are truncated: they are texts, not questions.
const LONGEST: usize = 1_000;
/// Further words are ignored.
const MOST_WORDS: usize = 32;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ArchiveQuery {
    /// One expression for each word or phrase.
    clauses: Vec<String>,
    /// The words by themselves, in lower case, for highlighting them where they occur.
    pub(super) terms: Vec<QueryTerm>,
}

/// A word to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryTerm {
    pub(super) word: String,
    pub(super) reach: TermMatch,
}

/// How much of a word must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermMatch {
    Whole,
    Beginning,
}

impl QueryTerm {
    pub(super) fn matches(&self, lower_case: &str) -> bool {
        match self.reach {
            TermMatch::Whole => lower_case == self.word,
            TermMatch::Beginning => lower_case.starts_with(&self.word),
        }
    }
}

impl ArchiveQuery {
    pub(super) fn parse(text: &str) -> Self {
        // A NUL would end the expression.
        let text: String = (text.chars().take(LONGEST))
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let mut query = Self::default();
        let open = !text.ends_with(char::is_whitespace);
        let parts: Vec<&str> = text.split('"').collect();
        for (at, part) in parts.iter().enumerate() {
            if at % 2 == 1 {
                query.phrase(part);
                continue;
            }
            let mut words = part.split_whitespace().peekable();
            while let Some(word) = words.next() {
                let last = at + 1 == parts.len() && words.peek().is_none();
                query.word(
                    word,
                    if last && open {
                        TermMatch::Beginning
                    } else {
                        TermMatch::Whole
                    },
                );
            }
        }
        query.clauses.truncate(MOST_WORDS);
        query
    }

    /// An expression that finds items with all words; `None` if there is nothing to search for.
    pub(super) fn all(&self) -> Option<String> {
        (!self.clauses.is_empty()).then(|| self.clauses.join(" AND "))
    }

    /// An expression that finds items with any of the words; `None` if it would be the same as [`Self::all`].
    pub(super) fn any(&self) -> Option<String> {
        (self.clauses.len() > 1).then(|| self.clauses.join(" OR "))
    }

    fn phrase(&mut self, text: &str) {
        let terms = words::runs(text).map(|run| QueryTerm {
            word: text[run.range].to_lowercase(),
            reach: TermMatch::Whole,
        });
        let before = self.terms.len();
        self.terms.extend(terms);
        if self.terms.len() > before {
            self.clauses.push(format!("\"{}\"", words::spaced(text)));
        }
    }

    /// Adds a word between blanks, which may be a sequence of words: a path, or a name with underscores.
    fn word(&mut self, text: &str, reach: TermMatch) {
        let runs: Vec<_> = words::runs(text).collect();
        let Some((last, before)) = runs.split_last() else {
            return;
        };
        let end = &text[last.range.clone()];
        let whole = end.to_lowercase();
        // A single letter would match the beginning of almost everything, but a character of an unspaced script is a
        // word.
        let alone = before.is_empty() && whole.chars().count() == 1;
        let reach = match last.script {
            ScriptSpacing::Unspaced => TermMatch::Whole,
            ScriptSpacing::Spaced if alone => TermMatch::Whole,
            ScriptSpacing::Spaced => reach,
        };
        let star = match reach {
            TermMatch::Whole => "",
            TermMatch::Beginning => " *",
        };
        let start = words::spaced(&text[..last.range.start]);
        let humps: Vec<&str> = words::humps(end)
            .into_iter()
            .map(|hump| &end[hump])
            .collect();
        // The index puts the parts of a word with humps before the whole word, so after other words only the parts can
        // follow. Alone, such a word is found by its parts or as a whole.
        self.clauses
            .push(match (humps.is_empty(), before.is_empty()) {
                (true, _) => format!("\"{start} {end}\"{star}"),
                (false, true) => format!("(\"{}\"{star} OR \"{end}\"{star})", humps.join(" ")),
                (false, false) => format!("\"{start} {}\"{star}", humps.join(" ")),
            });
        let terms = before
            .iter()
            .map(|run| (&text[run.range.clone()], TermMatch::Whole));
        let terms = terms.chain(humps.into_iter().map(|hump| (hump, reach)));
        let terms: Vec<QueryTerm> = (terms.chain([(end, reach)]))
            .map(|(word, reach)| QueryTerm {
                word: word.to_lowercase(),
                reach,
            })
            .collect();
        self.terms.extend(terms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_queries_become_expressions() {
        let cases = [
            ("cache miss", Some(r#"" cache" AND " miss" *"#)),
            ("cache miss ", Some(r#"" cache" AND " miss""#)),
            (
                r#"say "no more" now "#,
                Some(r#"" say" AND "no more" AND " now""#),
            ),
            (r#"an "open phrase"#, Some(r#"" an" AND "open phrase""#)),
            ("foo_bar", Some(r#""foo_ bar" *"#)),
            ("fooBar ", Some(r#"("foo Bar" OR "fooBar")"#)),
            ("src/fooB", Some(r#""src/ foo B" *"#)),
            ("缓存", Some(r#"" 缓  存""#)),
            (
                "a AND (b* OR",
                Some(r#"" a" AND " AND" AND "( b" AND " OR" *"#),
            ),
            ("?? \"\" *", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                ArchiveQuery::parse(text).all().as_deref(),
                expected,
                "{text}"
            );
        }
    }
}
