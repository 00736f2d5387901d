//! Rules in a TOML file: a list of tables named `policy`.
//!
//! ```toml
//! [[policy]]
//! model = "claude-haiku-*"
//! use = "off"
//! ```

use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;
use serde::Deserialize;

use super::{PolicyRule, RecallMode, RequestPolicy};

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
    economy: Option<String>,
    recall: Option<String>,
    reduce: Option<String>,
}

/// Reads the rules in a file's text.
pub fn rules_of(text: &str) -> Result<Vec<PolicyRule>, PolicyFileError> {
    let file: PolicyFile = toml::from_str(text)?;
    let rules = (1..).zip(file.policy).map(|(number, table)| {
        let wrong = |reason: String| PolicyFileError::Rule { number, reason };
        let mut rule = PolicyRule {
            policy: RequestPolicy::of(&table.r#use)
                .ok_or_else(|| wrong("`use` is \"manage\", \"observe\" or \"off\"".to_owned()))?,
            economy: (table.economy.as_deref())
                .map(|name| {
                    EconomyPolicy::named(name).ok_or_else(|| {
                        wrong("`economy` is \"off\", \"clear\" or \"full\"".to_owned())
                    })
                })
                .transpose()?,
            recall: (table.recall.as_deref())
                .map(|name| {
                    RecallMode::named(name)
                        .ok_or_else(|| wrong("`recall` is \"on\" or \"off\"".to_owned()))
                })
                .transpose()?,
            reduce: (table.reduce.as_deref())
                .map(|name| {
                    ResultReduction::named(name).ok_or_else(|| {
                        wrong("`reduce` is \"off\", \"exact\" or \"recallable\"".to_owned())
                    })
                })
                .transpose()?,
            ..PolicyRule::default()
        };
        rule.check().map_err(wrong)?;
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
