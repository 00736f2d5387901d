//! What is done with a request, decided by its tenant, model, path and headers.
//!
//! Rules come from flags and from a file; the first that matches decides. A client may ask for less with the header
//! `x-longhaul-policy`, never for more.

mod file;
mod recall_mode;
mod rule;

pub use file::{PolicyFileError, rules_of};
pub use recall_mode::RecallMode;
pub use rule::{PolicyRule, PolicyRuleError};

use http::HeaderMap;
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;

use crate::branch::Tenant;

/// What is done with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum RequestPolicy {
    /// Nothing: its body is not even read.
    Off,
    /// It is passed on untouched, recognized and recorded, and its cache is watched.
    Observe,
    /// Its conversation is kept within the window as well.
    #[default]
    Manage,
}

impl RequestPolicy {
    /// The name in headers, flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Observe => "observe",
            Self::Manage => "manage",
        }
    }

    /// The policy with this name.
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
pub(crate) const HEADER: &str = "x-longhaul-policy";

/// The properties of a request that rules can match.
#[derive(Debug, Clone, Copy)]
pub struct PolicySubject<'r> {
    /// The tenant of the request.
    pub tenant: Tenant,
    /// The path of the request.
    pub path: &'r str,
    /// The headers of the request.
    pub headers: &'r HeaderMap,
    /// The requested model; `None` while the body has not been read.
    pub model: Option<&'r str>,
}

impl PolicySubject<'_> {
    /// Whether the client asks for a policy that there is not: what it wants is not known, and may be less.
    pub(crate) fn asks_for_unknown(&self) -> bool {
        let asked = self.headers.get(HEADER);
        let named = |value: &http::HeaderValue| RequestPolicy::of(value.to_str().ok()?.trim());
        asked.is_some_and(|value| named(value).is_none())
    }
}

/// All policy rules.
#[derive(Debug, Clone, Default)]
pub struct PolicyRules {
    /// In the order in which they are tried.
    pub rules: Vec<PolicyRule>,
    /// The policy if no rule matches.
    pub otherwise: RequestPolicy,
}

impl PolicyRules {
    /// Which actions are decided by their price for a request, if the first rule that matches says so.
    pub fn economy(&self, subject: PolicySubject<'_>) -> Option<EconomyPolicy> {
        self.first(subject)?.economy
    }

    /// How results of a request are made smaller before they are first sent, if the first rule that matches says so.
    pub fn reduce(&self, subject: PolicySubject<'_>) -> Option<ResultReduction> {
        self.first(subject)?.reduce
    }

    /// Whether a request's conversation is offered recall, if the first rule that matches says so.
    pub fn recall(&self, subject: PolicySubject<'_>) -> Option<RecallMode> {
        self.first(subject)?.recall
    }

    /// Whether any rule offers recall.
    pub(crate) fn may_recall(&self) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.recall == Some(RecallMode::On))
    }

    fn first(&self, subject: PolicySubject<'_>) -> Option<&PolicyRule> {
        let mut rules = self.rules.iter();
        rules.find(|rule| rule.matches(subject) == Some(true))
    }

    /// The policy of a request. `None` if it depends on the model, which is not known yet.
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
