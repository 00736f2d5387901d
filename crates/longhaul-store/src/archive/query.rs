//! What people and models type, as an expression that the index understands. No text is a syntax error.
//!
//! Words are looked for all together, text in double quotes as a phrase, and the last word may be only begun.

use super::words::{self, ScriptSpacing};

/// Longer questions are cut: they are no questions but texts.
const LONGEST: usize = 1_000;
/// More words than this are not looked for.
const MOST_WORDS: usize = 32;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ArchiveQuery {
    /// An expression for each word or phrase.
    clauses: Vec<String>,
    /// The words by themselves, in lower case, to be marked where they occur.
    pub(super) terms: Vec<QueryTerm>,
}

/// A word that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryTerm {
    pub(super) word: String,
    pub(super) reach: TermMatch,
}

/// How much of a word must be there.
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

    /// Finds what has all of it; none if nothing can be looked for.
    pub(super) fn all(&self) -> Option<String> {
        (!self.clauses.is_empty()).then(|| self.clauses.join(" AND "))
    }

    /// Finds what has any of it; none if that is the same.
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

    /// A word between blanks, which may be a row of words: a path, a name with underscores.
    fn word(&mut self, text: &str, reach: TermMatch) {
        let runs: Vec<_> = words::runs(text).collect();
        let Some((last, before)) = runs.split_last() else {
            return;
        };
        let end = &text[last.range.clone()];
        let whole = end.to_lowercase();
        // One letter alone begins everything, and a character of an unspaced script is a word.
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
        // A row of words is followed by its last word as it is; humps are found by their parts too, however written.
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
