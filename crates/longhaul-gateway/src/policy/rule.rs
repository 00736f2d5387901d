//! One rule: conditions that must all hold, and the resulting policy.

use http::{HeaderName, HeaderValue};
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;

use super::{PolicySubject, RecallMode, RequestPolicy};
use crate::branch::Tenant;

/// A rule. A condition that is `None` always holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyRule {
    /// The tenant of the request: the hash that the list of sessions shows.
    pub key: Option<Tenant>,
    /// The model, where a trailing `*` stands for any rest.
    pub model: Option<String>,
    /// The path, where a trailing `*` stands for any rest.
    pub path: Option<String>,
    /// A header and its value.
    pub header: Option<(HeaderName, HeaderValue)>,
    /// The resulting policy.
    pub policy: RequestPolicy,
    /// Which actions are decided by their price (V5); `None` means as the settings say.
    pub economy: Option<EconomyPolicy>,
    /// Whether recall is offered (X2); `None` means as the settings say.
    pub recall: Option<RecallMode>,
    /// How results are made smaller before they are first sent (V8); `None` means as the settings say.
    pub reduce: Option<ResultReduction>,
}

/// What may follow a policy.
const OPTIONS: &str = "economy=off`, `economy=clear`, `economy=full`, `reduce=off`, `reduce=exact`, `reduce=recallable`, `recall=on` or `recall=off";

/// A rule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the rule {rule:?} cannot be read: {reason}; write it as in `model=claude-haiku-*,path=/v1/messages:off`"
)]
pub struct PolicyRuleError {
    rule: String,
    reason: String,
}

impl PolicyRule {
    /// Whether the rule matches; `None` if that depends on the model, which is not known yet.
    pub(super) fn matches(&self, subject: PolicySubject<'_>) -> Option<bool> {
        let others = self.key.is_none_or(|key| key == subject.tenant)
            && (self.path.as_deref()).is_none_or(|path| fits(path, subject.path))
            && (self.header.as_ref()).is_none_or(|(name, value)| {
                subject.headers.get_all(name).iter().any(|had| had == value)
            });
        match (&self.model, subject.model) {
            _ if !others => Some(false),
            (None, _) => Some(true),
            (Some(wanted), Some(model)) => Some(fits(wanted, model)),
            (Some(_), None) => None,
        }
    }

    /// Fails if it says how to manage what it does not manage.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_managed = self.policy == RequestPolicy::Manage;
        let says_how = self.economy.is_some() || self.recall.is_some() || self.reduce.is_some();
        match says_how && !is_managed {
            true => Err(format!(
                "`economy`, `recall` and `reduce` do nothing under `{}`, only under `manage`",
                self.policy.name()
            )),
            false => Ok(()),
        }
    }

    /// Adds one condition.
    pub(super) fn with(mut self, what: &str, value: &str) -> Result<Self, String> {
        match what {
            "key" => {
                let hash = u64::from_str_radix(value, 16);
                let wrong = |_| "a key is named by its hash, 16 hexadecimal digits, as the sessions show it";
                self.key = Some(Tenant(hash.map_err(wrong)?));
            }
            "model" => self.model = Some(value.to_owned()),
            "path" => self.path = Some(value.to_owned()),
            "header" => {
                let (name, value) = value
                    .split_once(':')
                    .ok_or("a header is written NAME:VALUE")?;
                let name = name
                    .trim()
                    .parse()
                    .map_err(|_| "this is not a header's name")?;
                let value = value
                    .trim()
                    .parse()
                    .map_err(|_| "this is not a header's value")?;
                self.header = Some((name, value));
            }
            other => return Err(format!("{other:?} is neither key, model, path nor header")),
        }
        Ok(self)
    }
}

impl std::str::FromStr for PolicyRule {
    type Err = PolicyRuleError;

    /// Parses `CONDITION=VALUE,…:POLICY`, or a policy alone. `,economy=…`, `,recall=…` and `,reduce=…` may
    /// follow the policy.
    fn from_str(text: &str) -> Result<Self, PolicyRuleError> {
        let wrong = |reason: String| PolicyRuleError {
            rule: text.to_owned(),
            reason,
        };
        let (conditions, policy) = text.rsplit_once(':').unwrap_or(("", text));
        let (policy, options) = policy.split_once(',').unwrap_or((policy, ""));
        let policy = RequestPolicy::of(policy.trim())
            .ok_or_else(|| wrong("a policy is `manage`, `observe` or `off`".to_owned()))?;
        let mut rule = PolicyRule {
            policy,
            ..PolicyRule::default()
        };
        for option in options
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty())
        {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let economy = EconomyPolicy::named(value).filter(|_| name == "economy");
            let recall = RecallMode::named(value).filter(|_| name == "recall");
            let reduce = ResultReduction::named(value).filter(|_| name == "reduce");
            if economy.is_none() && recall.is_none() && reduce.is_none() {
                return Err(wrong(format!("after the policy comes `{OPTIONS}`")));
            }
            rule.economy = economy.or(rule.economy);
            rule.recall = recall.or(rule.recall);
            rule.reduce = reduce.or(rule.reduce);
        }
        rule.check().map_err(wrong)?;
        for condition in conditions.split(',').filter(|text| !text.trim().is_empty()) {
            let (what, value) = condition
                .split_once('=')
                .ok_or_else(|| wrong(format!("{condition:?} is not CONDITION=VALUE")))?;
            rule = rule.with(what.trim(), value.trim()).map_err(wrong)?;
        }
        Ok(rule)
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => text.starts_with(start),
        None => text == pattern,
    }
}
