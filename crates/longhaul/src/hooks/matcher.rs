//! Matchers: which of an event's occurrences a hook is for.

use regex::Regex;

/// A `matcher` of the settings.
#[derive(Debug, Clone)]
pub enum HookMatcher {
    /// Absent, empty or `*`.
    All,
    /// One of these, letter by letter.
    OneOf(Vec<String>),
    /// A pattern that is found anywhere in it.
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
    /// Reads one as Claude Code does: letters, digits, `_`, `-`, spaces, `,` and `|` make a list of exact words, any
    /// other character makes a regular expression.
    ///
    /// # Errors
    /// If the expression is not one that the `regex` crate knows; it has no look-around and no back-references.
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

    /// Whether a hook with this matcher is for it. Events without a subject are for every hook.
    pub fn matches(&self, subject: Option<&str>) -> bool {
        let Some(subject) = subject else { return true };
        match self {
            HookMatcher::All => true,
            HookMatcher::OneOf(words) => words.iter().any(|word| word == subject),
            HookMatcher::Pattern(pattern) => pattern.is_match(subject),
        }
    }
}
