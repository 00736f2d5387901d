//! The domains of a search: those that the model names, within what the user's rules allow. The provider takes a list
//! of domains to search in or a list of domains to leave out, never both.

use longhaul_core::normalize::fragment::fill;
use longhaul_core::quoting::inline;
use serde_json::Value;

use crate::tools::definition::one_line;

/// The most domains of one search.
const MOST: usize = 60;

/// The domains of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SearchDomains {
    allowed: Vec<String>,
    blocked: Vec<String>,
}

impl SearchDomains {
    /// The domains that the model names. An error is a sentence for it.
    pub(super) fn of(input: &Value) -> Result<Self, String> {
        let domains = Self {
            allowed: list(input, "allowed_domains")?,
            blocked: list(input, "blocked_domains")?,
        };
        if !domains.allowed.is_empty() && !domains.blocked.is_empty() {
            return Err(include_str!("fragments/both_lists.md")
                .trim_end()
                .to_owned());
        }
        Ok(domains)
    }

    /// The hosts to search in, without their paths; none if the search is not limited.
    pub(super) fn allowed_hosts(&self) -> Vec<String> {
        self.allowed
            .iter()
            .map(|domain| host(domain).to_owned())
            .collect()
    }

    /// These domains without the hosts that the user forbids: a host or, after `*.`, its subdomains. The provider cannot
    /// leave out subdomains alone, so the host itself is left out with them.
    pub(super) fn without(mut self, forbidden: &[String]) -> Result<Self, String> {
        let named = !self.allowed.is_empty();
        for rule in forbidden {
            let refused = rule.strip_prefix("*.").unwrap_or(rule);
            if !refused.contains('*') && !is_host(refused) {
                // No page of the web is at `localhost` or in a network without a domain.
                continue;
            }
            if refused.contains('*') {
                let gaps = [("rule", &*inline(rule))];
                return Err(fill(include_str!("fragments/inexpressible.md"), &gaps));
            }
            self.allowed
                .retain(|domain| !is_within(host(domain), refused));
            if let Some(around) = self.allowed.iter().find(|it| is_within(refused, host(it))) {
                let gaps = [("domain", refused), ("allowed", around)];
                return Err(fill(include_str!("fragments/forbidden.md"), &gaps));
            }
            if named && self.allowed.is_empty() {
                let gaps = [("domain", refused)];
                return Err(fill(include_str!("fragments/none_left.md"), &gaps));
            }
            if !named && !self.blocked.iter().any(|there| there == refused) {
                self.blocked.push(refused.to_owned());
            }
        }
        Ok(self)
    }

    /// The list to send, with the name of its field.
    pub(super) fn field(&self) -> Option<(&'static str, &[String])> {
        match (self.allowed.as_slice(), self.blocked.as_slice()) {
            ([], []) => None,
            ([], blocked) => Some(("blocked_domains", blocked)),
            (allowed, _) => Some(("allowed_domains", allowed)),
        }
    }
}

fn list(input: &Value, field: &str) -> Result<Vec<String>, String> {
    let given = input.get(field).and_then(Value::as_array);
    let given = given.into_iter().flatten().filter_map(Value::as_str);
    given.take(MOST).map(domain).collect()
}

/// A domain as the provider takes it: without a scheme, at most one wildcard, in the path.
fn domain(given: &str) -> Result<String, String> {
    let plain = given.trim();
    let plain = plain.strip_prefix("https://").unwrap_or(plain);
    let plain = plain.strip_prefix("http://").unwrap_or(plain);
    let plain = plain.trim_end_matches('/');
    let (host, path) = plain.split_once('/').unwrap_or((plain, ""));
    let good = is_host(host)
        && path.matches('*').count() <= 1
        && !path.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    if good {
        let path = plain.get(host.len()..).unwrap_or_default();
        Ok(format!("{}{path}", host.to_lowercase()))
    } else {
        let shown = one_line(given, 80);
        let gaps = [("domain", &*inline(&shown))];
        Err(fill(include_str!("fragments/bad_domain.md"), &gaps))
    }
}

fn host(domain: &str) -> &str {
    domain.split('/').next().unwrap_or(domain)
}

fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter == '-')
    };
    text.contains('.') && text.split('.').all(label)
}

/// Whether a host is this one or a subdomain of it.
fn is_within(host: &str, of: &str) -> bool {
    host == of || host.strip_suffix(of).is_some_and(|sub| sub.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn without(input: &Value, forbidden: &[&str]) -> Result<SearchDomains, String> {
        let forbidden: Vec<String> = forbidden.iter().map(|&host| host.to_owned()).collect();
        SearchDomains::of(input)?.without(&forbidden)
    }

    #[test]
    fn q1_a_search_is_kept_to_the_domains_that_the_model_names() {
        let named = json!({"allowed_domains": ["https://Docs.rs/serde/", "example.org"]});
        let domains = SearchDomains::of(&named).unwrap();
        assert_eq!(
            domains.field().unwrap(),
            (
                "allowed_domains",
                &["docs.rs/serde".to_owned(), "example.org".to_owned()][..]
            )
        );
        assert_eq!(domains.allowed_hosts(), ["docs.rs", "example.org"]);
        assert_eq!(SearchDomains::of(&json!({})).unwrap().field(), None);
        let empty = json!({"allowed_domains": [], "blocked_domains": []});
        assert_eq!(SearchDomains::of(&empty).unwrap().field(), None);
        let both = json!({"allowed_domains": ["a.com"], "blocked_domains": ["b.com"]});
        assert!(SearchDomains::of(&both).unwrap_err().contains("not both"));
        for bad in [
            "*.example.com",
            "example",
            "ftp://a.com",
            "a.com/*/*",
            "a b.com",
            "",
        ] {
            let bad = json!({"allowed_domains": [bad]});
            assert!(
                SearchDomains::of(&bad)
                    .unwrap_err()
                    .contains("not a domain")
            );
        }
    }

    #[test]
    fn g1_a_host_that_a_rule_forbids_is_left_out_of_every_search() {
        let all = without(&json!({}), &["evil.com", "*.ads.net"]).unwrap();
        let blocked = ["evil.com".to_owned(), "ads.net".to_owned()];
        assert_eq!(all.field().unwrap(), ("blocked_domains", &blocked[..]));
        let named = json!({"allowed_domains": ["docs.rs", "sub.evil.com"]});
        let some = without(&named, &["evil.com"]).unwrap();
        let allowed = ["docs.rs".to_owned()];
        assert_eq!(some.field().unwrap(), ("allowed_domains", &allowed[..]));
        let only = json!({"allowed_domains": ["evil.com"]});
        let refused = without(&only, &["evil.com"]).unwrap_err();
        assert!(refused.contains("forbids evil.com"), "{refused}");
        let around = json!({"allowed_domains": ["example.com"]});
        let refused = without(&around, &["secret.example.com"]).unwrap_err();
        assert!(refused.contains("would include it"), "{refused}");
        let nowhere = without(&json!({}), &["localhost", "[::1]", "*.internal"]).unwrap();
        assert_eq!(nowhere.field(), None, "no page of the web is there");
        let refused = without(&json!({}), &["*"]).unwrap_err();
        assert!(
            refused.contains("cannot keep to the user's rule"),
            "{refused}"
        );
    }
}
