//! Text patterns in rules: `npm run test:*`, `git diff *`, `* --version`. Paths have patterns of their own
//! (`path_pattern.rs`).

use super::shell::{HOLE, ShellWord};

/// A pattern: literal characters and stars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPattern {
    tokens: Vec<PatternToken>,
    /// The text before a final `:*` or ` *`, which also matches alone.
    alone: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternToken {
    Just(char),
    Star,
}

impl TextPattern {
    /// Parses a pattern in the syntax of rules.
    pub(crate) fn parse(text: &str) -> Self {
        if let Some(prefix) = text.strip_suffix(":*") {
            return Self {
                tokens: tokens(&format!("{prefix} *")),
                alone: Some(prefix.to_owned()),
            };
        }
        let alone = text
            .strip_suffix(" *")
            .filter(|before| !before.contains('*'));
        Self {
            tokens: tokens(text),
            alone: alone.map(str::to_owned),
        }
    }

    /// Whether it has no star: such a rule matches only one text.
    pub(crate) fn is_exact(&self) -> bool {
        !self.tokens.contains(&PatternToken::Star)
    }

    /// Whether the text matches whatever its holes contain.
    pub(crate) fn surely_matches(&self, text: &str) -> bool {
        if self.alone.as_deref() == Some(text) {
            return true;
        }
        let text: Vec<PatternToken> = text.chars().map(PatternToken::Just).collect();
        meet(&self.tokens, &text)
    }

    /// Whether some values for the holes of these words would match.
    pub(crate) fn may_match(&self, words: &[ShellWord]) -> bool {
        let text = with_holes(words);
        let alone = self
            .alone
            .as_deref()
            .map(|alone| alone.chars().map(PatternToken::Just).collect::<Vec<_>>());
        alone.is_some_and(|alone| meet(&alone, &text)) || meet(&self.tokens, &text)
    }
}

fn tokens(pattern: &str) -> Vec<PatternToken> {
    let mut tokens: Vec<PatternToken> = Vec::new();
    for character in pattern.chars() {
        match character {
            '*' if tokens.last() == Some(&PatternToken::Star) => {}
            '*' => tokens.push(PatternToken::Star),
            _ => tokens.push(PatternToken::Just(character)),
        }
    }
    tokens
}

/// An expansion outside of quotes may be empty or several words: the blanks around it are unknown, too.
fn with_holes(words: &[ShellWord]) -> Vec<PatternToken> {
    let mut tokens: Vec<PatternToken> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let vanishes =
            |word: &ShellWord| word.splits && word.text.chars().all(|character| character == HOLE);
        let joined = vanishes(word)
            || at
                .checked_sub(1)
                .is_some_and(|before| vanishes(&words[before]));
        if at > 0 && !joined {
            tokens.push(PatternToken::Just(' '));
        }
        // A wildcard becomes the names of existing files, whatever they are.
        let known = if word.glob {
            word.text.find(['*', '?', '[']).unwrap_or_default()
        } else {
            word.text.len()
        };
        tokens.extend(word.text[..known].chars().map(|character| match character {
            HOLE => PatternToken::Star,
            _ => PatternToken::Just(character),
        }));
        if word.glob {
            tokens.push(PatternToken::Star);
        }
    }
    tokens
}

/// Whether some text matches both patterns.
fn meet(one: &[PatternToken], other: &[PatternToken]) -> bool {
    // reached[j]: the tokens of `one` so far and the first j of `other` can match the same text.
    let mut reached = vec![false; other.len() + 1];
    reached[0] = true;
    for j in 1..=other.len() {
        reached[j] = reached[j - 1] && other[j - 1] == PatternToken::Star;
    }
    for token in one {
        let mut next = vec![false; other.len() + 1];
        next[0] = reached[0] && *token == PatternToken::Star;
        for j in 1..=other.len() {
            let that = other[j - 1];
            next[j] = match (*token, that) {
                (PatternToken::Star, _) | (_, PatternToken::Star) => {
                    reached[j] || next[j - 1] || reached[j - 1]
                }
                (PatternToken::Just(one), PatternToken::Just(other)) => {
                    reached[j - 1] && one == other
                }
            };
        }
        reached = next;
    }
    reached[other.len()]
}
