//! What is done with a request: decided by whose it is, its model, its path, its headers.
//!
//! Rules come from flags and from a file; the first that matches decides. A client may ask for less with the header
//! `x-longhaul-policy`, never for more.

mod file;
mod rule;

pub use file::{PolicyFileError, rules_of};
pub use rule::{PolicyRule, PolicyRuleError};

use http::HeaderMap;

use crate::branch::Tenant;

/// What is done with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum RequestPolicy {
    /// Nothing: not even its body is read.
    Off,
    /// It is passed on untouched, recognised, written down, and the cache is watched.
    Observe,
    /// Its conversation is kept within the window, too.
    #[default]
    Manage,
}

impl RequestPolicy {
    /// Its name in headers, flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Observe => "observe",
            Self::Manage => "manage",
        }
    }

    /// By its name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "off" => Some(Self::Off),
            "observe" => Some(Self::Observe),
            "manage" => Some(Self::Manage),
            _ => None,
        }
    }
}

/// The header by which a client asks for less.
pub const HEADER: &str = "x-longhaul-policy";

/// The request as far as rules look at it.
#[derive(Debug, Clone, Copy)]
pub struct PolicySubject<'r> {
    /// Whose it is.
    pub tenant: Tenant,
    /// Its path.
    pub path: &'r str,
    /// Its headers.
    pub headers: &'r HeaderMap,
    /// The model it asks for; none while its body has not been read.
    pub model: Option<&'r str>,
}

/// All rules.
#[derive(Debug, Clone, Default)]
pub struct PolicyRules {
    /// In the order in which they are tried.
    pub rules: Vec<PolicyRule>,
    /// What holds where none matches.
    pub otherwise: RequestPolicy,
}

impl PolicyRules {
    /// The policy of a request. `None`: it depends on the model, which is not known yet.
    pub fn decide(&self, subject: PolicySubject<'_>) -> Option<RequestPolicy> {
        let asked = (subject.headers.get(HEADER))
            .and_then(|value| RequestPolicy::of(value.to_str().ok()?.trim()));
        if asked == Some(RequestPolicy::Off) {
            return asked;
        }
        for rule in &self.rules {
            match rule.matches(subject) {
                Some(true) => {
                    return Some(asked.map_or(rule.policy, |asked| asked.min(rule.policy)));
                }
                Some(false) => {}
                None => return None,
            }
        }
        Some(asked.map_or(self.otherwise, |asked| asked.min(self.otherwise)))
    }
}
