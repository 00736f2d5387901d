//! The part of a text that matches a query, with the words highlighted.

use super::query::QueryTerm;
use super::words;

/// The length of a snippet in bytes: a few lines.
const LENGTH: usize = 240;
/// How many bytes before the first word the snippet begins.
const BEFORE: usize = 60;
/// Further matches do not change which part is chosen.
const MOST_FOUND: usize = 5_000;

/// A part of a text, cut into pieces. White space is reduced to single blanks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// The pieces, in order.
    pub pieces: Vec<SnippetPiece>,
}

/// A piece of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnippetPiece {
    /// Text between the matched words.
    Plain(String),
    /// A matched word.
    Marked(String),
}

impl Snippet {
    /// The text with something before and after each matched word.
    pub fn with_marks(&self, open: &str, close: &str) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            SnippetPiece::Plain(text) => text.clone(),
            SnippetPiece::Marked(text) => format!("{open}{text}{close}"),
        });
        pieces.collect()
    }

    /// The beginning of a text, for items that were not found by words.
    pub(super) fn beginning(text: &str) -> Self {
        Self::of(text, &[])
    }

    /// The part of a text that holds the most of the words.
    pub(super) fn of(text: &str, terms: &[QueryTerm]) -> Self {
        let found = found(text, terms);
        let best = densest(&found, terms.len());
        let start = found.get(best).map_or(0, |found| found.start);
        let from = floor(text, start.saturating_sub(BEFORE));
        let from = match text[from..start].find(char::is_whitespace) {
            Some(blank) if from > 0 => from + blank,
            _ => from,
        };
        let to = floor(text, from.saturating_add(LENGTH));
        let mut snippet = SnippetBuilder::default();
        if from > 0 {
            snippet.plain("…");
        }
        let mut at = from;
        for word in &found {
            if word.start < at || word.end > to {
                continue;
            }
            snippet.plain(&text[at..word.start]);
            snippet.marked(&text[word.start..word.end]);
            at = word.end;
        }
        snippet.plain(&text[at..to]);
        if to < text.len() {
            snippet.plain("…");
        }
        snippet.0
    }
}

/// A matched word and its position.
struct FoundWord {
    start: usize,
    end: usize,
    term: usize,
}

fn found(text: &str, terms: &[QueryTerm]) -> Vec<FoundWord> {
    let mut found = Vec::new();
    if terms.is_empty() {
        return found;
    }
    let mut lower = String::new();
    let mut term_of = |word: &str| {
        lower.clear();
        lower.extend(word.chars().flat_map(char::to_lowercase));
        terms.iter().position(|term| term.matches(&lower))
    };
    for run in words::runs(text) {
        let (start, word) = (run.range.start, &text[run.range.clone()]);
        if let Some(term) = term_of(word) {
            found.push(FoundWord {
                start,
                end: run.range.end,
                term,
            });
        } else {
            for hump in words::humps(word) {
                if let Some(term) = term_of(&word[hump.clone()]) {
                    found.push(FoundWord {
                        start: start + hump.start,
                        end: start + hump.end,
                        term,
                    });
                }
            }
        }
        if found.len() >= MOST_FOUND {
            break;
        }
    }
    found
}

/// The first match from which a snippet's length holds the most different words.
fn densest(found: &[FoundWord], terms: usize) -> usize {
    let mut counts = vec![0_u32; terms];
    let (mut end, mut distinct, mut best) = (0, 0, (0, 0));
    for (at, word) in found.iter().enumerate() {
        while let Some(next) = found.get(end)
            && next.end <= word.start + LENGTH - BEFORE
        {
            distinct += u32::from(counts[next.term] == 0);
            counts[next.term] += 1;
            end += 1;
        }
        if distinct > best.1 {
            best = (at, distinct);
        }
        if end > at {
            counts[word.term] -= 1;
            distinct -= u32::from(counts[word.term] == 0);
        } else {
            end = at + 1;
        }
    }
    best.0
}

fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[derive(Default)]
struct SnippetBuilder(Snippet);

impl SnippetBuilder {
    fn plain(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !matches!(self.0.pieces.last(), Some(SnippetPiece::Plain(_))) {
            self.0.pieces.push(SnippetPiece::Plain(String::new()));
        }
        if let Some(SnippetPiece::Plain(piece)) = self.0.pieces.last_mut() {
            for c in text.chars() {
                match c.is_whitespace() {
                    true if piece.ends_with(' ') => {}
                    true => piece.push(' '),
                    false => piece.push(c),
                }
            }
        }
    }

    fn marked(&mut self, text: &str) {
        self.0.pieces.push(SnippetPiece::Marked(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::query::ArchiveQuery;
    use super::*;

    fn snippet(text: &str, query: &str) -> String {
        Snippet::of(text, &ArchiveQuery::parse(query).terms).with_marks("[", "]")
    }

    #[test]
    fn x2_snippets_mark_the_words_where_most_of_them_stand_together() {
        assert_eq!(
            snippet("a cache\n\n  miss", "cache miss"),
            "a [cache] [miss]"
        );
        assert_eq!(snippet("call fooBar()", "bar"), "call foo[Bar]()");
        assert_eq!(snippet("清除缓存失败", "缓存"), "清除[缓][存]失败");
        assert_eq!(snippet("nothing here", "else"), "nothing here");
        let filler = "word ".repeat(400);
        let text = format!("cache {filler} the cache had a miss {filler}");
        let found = snippet(&text, "miss cache ");
        assert!(found.starts_with("… ") && found.ends_with('…'), "{found}");
        assert!(found.contains("the [cache] had a [miss] word"), "{found}");
        assert!(found.len() < LENGTH + 40, "{found}");
    }
}
