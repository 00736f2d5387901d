//! Matchers: which occurrences of an event a hook is for.

use regex::Regex;

/// A `matcher` in the settings.
#[derive(Debug, Clone)]
pub enum HookMatcher {
    /// Matches everything: the matcher is absent, empty or `*`.
    All,
    /// Matches one of these words exactly.
    OneOf(Vec<String>),
    /// Matches a pattern anywhere in the subject.
    Pattern(Regex),
}

impl std::fmt::Display for HookMatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => Ok(()),
            Self::OneOf(words) => f.write_str(&words.join("|")),
            Self::Pattern(pattern) => f.write_str(pattern.as_str()),
        }
    }
}

impl HookMatcher {
    /// Reads a matcher as Claude Code does: letters, digits, `_`, `-`, spaces, `,` and `|` make a list of exact words;
    /// any other character makes it a regular expression.
    ///
    /// # Errors
    /// If the expression is not valid for the `regex` crate, which has no look-around and no back-references.
    pub fn parse(text: &str) -> Result<HookMatcher, regex::Error> {
        let text = text.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if text.is_empty() || text == "*" {
            Ok(HookMatcher::All)
        } else if text.chars().all(plain) {
            let words = text.split(['|', ',']).map(str::trim);
            let words = words.filter(|word| !word.is_empty()).map(str::to_owned);
            Ok(HookMatcher::OneOf(words.collect()))
        } else {
            Regex::new(text).map(HookMatcher::Pattern)
        }
    }

    /// Whether a hook with this matcher runs for this subject. Events without a subject run every hook.
    pub fn matches(&self, subject: Option<&str>) -> bool {
        let Some(subject) = subject else { return true };
        match self {
            HookMatcher::All => true,
            HookMatcher::OneOf(words) => words.iter().any(|word| word == subject),
            HookMatcher::Pattern(pattern) => pattern.is_match(subject),
        }
    }
}
