//! Rules in a TOML file: a list of tables named `policy`.
//!
//! ```toml
//! [[policy]]
//! model = "claude-haiku-*"
//! use = "off"
//! ```

use serde::Deserialize;

use super::{PolicyRule, RequestPolicy};

/// Why a file of rules cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    /// The text is not TOML, or does not have this structure.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A rule is not valid.
    #[error("rule {number}: {reason}")]
    Rule {
        /// The number of the rule, counted from 1.
        number: usize,
        /// The cause.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile {
    #[serde(default)]
    policy: Vec<PolicyTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyTable {
    key: Option<String>,
    model: Option<String>,
    path: Option<String>,
    header: Option<String>,
    r#use: String,
}

/// Reads the rules in a file's text.
pub fn rules_of(text: &str) -> Result<Vec<PolicyRule>, PolicyFileError> {
    let file: PolicyFile = toml::from_str(text)?;
    let rules = (1..).zip(file.policy).map(|(number, table)| {
        let wrong = |reason: String| PolicyFileError::Rule { number, reason };
        let mut rule = PolicyRule {
            policy: RequestPolicy::of(&table.r#use)
                .ok_or_else(|| wrong("`use` is \"manage\", \"observe\" or \"off\"".to_owned()))?,
            ..PolicyRule::default()
        };
        let conditions = [
            ("key", table.key),
            ("model", table.model),
            ("path", table.path),
            ("header", table.header),
        ];
        for (what, value) in conditions {
            if let Some(value) = value {
                rule = rule.with(what, &value).map_err(wrong)?;
            }
        }
        Ok(rule)
    });
    rules.collect()
}
