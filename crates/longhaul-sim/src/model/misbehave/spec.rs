//! Parses the small language for misbehavior, with errors that say what would be right.

use std::str::FromStr;

use super::{Misbehavior, MisbehaviorRule, MisbehaviorTrigger, Misdeed};

/// The line is not a valid misbehavior specification.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MisbehaviorSpecError {
    /// The rule has no colon.
    #[error("`{rule}`: a rule is WHEN:WHAT, as in `summary:empty*2`")]
    Shape {
        /// The text of the rule.
        rule: String,
    },
    /// The rule has an unknown word.
    #[error("`{rule}`: `{word}` is not known here{hint}; the known ones are {known}")]
    Word {
        /// The text of the rule.
        rule: String,
        /// The unknown word.
        word: String,
        /// A likely correction.
        hint: String,
        /// The known words.
        known: String,
    },
    /// The count is not a number.
    #[error("`{rule}`: `*{count}` is not a valid count; write `*3` or `*all`")]
    Count {
        /// The text of the rule.
        rule: String,
        /// The text of the count.
        count: String,
    },
    /// The rate is not between 0 and 1.
    #[error("`{rule}`: `@{rate}` is not a valid rate; write a number from 0 to 1, as in `@0.1`")]
    Rate {
        /// The text of the rule.
        rule: String,
        /// The text of the rate.
        rate: String,
    },
}

const WHENS: &[(&str, MisbehaviorTrigger)] = &[
    ("summary", MisbehaviorTrigger::Summary),
    ("notes", MisbehaviorTrigger::Notes),
    ("turn", MisbehaviorTrigger::Turn),
    ("tool", MisbehaviorTrigger::Tool),
    ("any", MisbehaviorTrigger::Any),
];

fn deeds(when: MisbehaviorTrigger) -> &'static [(&'static str, Misdeed)] {
    match when {
        MisbehaviorTrigger::Summary => &[
            ("empty", Misdeed::Empty),
            ("untagged", Misdeed::Untagged),
            ("error", Misdeed::Error),
            ("long", Misdeed::Long),
            ("missing", Misdeed::Missing),
            ("tool", Misdeed::Call),
            ("silent", Misdeed::Silent),
            ("refuse", Misdeed::Refuse),
            ("cut", Misdeed::Cut),
        ],
        MisbehaviorTrigger::Notes => &[
            ("elsewhere", Misdeed::Elsewhere),
            ("tool", Misdeed::Call),
            ("silent", Misdeed::Silent),
            ("refuse", Misdeed::Refuse),
            ("cut", Misdeed::Cut),
            ("error", Misdeed::Error),
        ],
        MisbehaviorTrigger::Tool => &[
            ("forbidden", Misdeed::Call),
            ("unknown", Misdeed::Unknown),
            ("invalid", Misdeed::Invalid),
        ],
        MisbehaviorTrigger::Turn | MisbehaviorTrigger::Any => &[
            ("silent", Misdeed::Silent),
            ("refuse", Misdeed::Refuse),
            ("cut", Misdeed::Cut),
            ("error", Misdeed::Error),
        ],
    }
}

impl FromStr for Misbehavior {
    type Err = MisbehaviorSpecError;

    fn from_str(line: &str) -> Result<Self, MisbehaviorSpecError> {
        let rules = line
            .split(',')
            .map(str::trim)
            .filter(|rule| !rule.is_empty());
        Ok(Self {
            rules: rules.map(rule).collect::<Result<_, _>>()?,
        })
    }
}

fn rule(text: &str) -> Result<MisbehaviorRule, MisbehaviorSpecError> {
    let owned = || text.to_owned();
    let (when, rest) = text
        .split_once(':')
        .ok_or_else(|| MisbehaviorSpecError::Shape { rule: owned() })?;
    let (rest, rate) = match rest.split_once('@') {
        Some((rest, rate)) => (rest, Some(rate.trim())),
        None => (rest, None),
    };
    let (what, count) = match rest.split_once('*') {
        Some((what, count)) => (what, Some(count.trim())),
        None => (rest, None),
    };
    let when = known(text, when.trim(), WHENS)?;
    let deed = known(text, what.trim(), deeds(when))?;
    let left = match (count, rate) {
        (Some("all"), _) | (None, Some(_)) => None,
        (None, None) => Some(1),
        (Some(count), _) => {
            let number = count.parse().ok().filter(|number| *number > 0);
            Some(number.ok_or_else(|| MisbehaviorSpecError::Count {
                rule: owned(),
                count: count.to_owned(),
            })?)
        }
    };
    let rate = match rate {
        None => 1.0,
        Some(rate) => rate
            .parse()
            .ok()
            .filter(|rate| (0.0..=1.0).contains(rate))
            .ok_or_else(|| MisbehaviorSpecError::Rate {
                rule: owned(),
                rate: rate.to_owned(),
            })?,
    };
    Ok(MisbehaviorRule {
        when,
        deed,
        left,
        rate,
    })
}

fn known<T: Copy>(rule: &str, word: &str, table: &[(&str, T)]) -> Result<T, MisbehaviorSpecError> {
    if let Some((_, value)) = table.iter().find(|(name, _)| *name == word) {
        return Ok(*value);
    }
    let near = table
        .iter()
        .map(|(name, _)| (strsim::osa_distance(name, word), *name))
        .min();
    let hint = match near {
        Some((distance, name)) if distance <= 2 => format!(" (did you mean `{name}`?)"),
        _ => String::new(),
    };
    let names: Vec<String> = table.iter().map(|(name, _)| format!("`{name}`")).collect();
    Err(MisbehaviorSpecError::Word {
        rule: rule.to_owned(),
        word: word.to_owned(),
        hint,
        known: names.join(", "),
    })
}
