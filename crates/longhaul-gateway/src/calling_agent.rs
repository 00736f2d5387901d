//! Which agent makes a call, and in which run of it: for the usage log, and for nothing else.
//!
//! The best source is the address that the agent was given: a path under `PREFIX` in front of the API's own path, which
//! is taken off before the request is looked at. A gateway that was started for one agent knows it anyway. Otherwise the
//! product that `user-agent` names is all that is known.

use std::fmt;
use std::str::FromStr;

use http::{HeaderMap, Uri, header};

/// The beginning of the paths that name an agent and a run.
pub(crate) const PREFIX: &str = "/longhaul/agent/";
/// The longest name that is kept.
const LONGEST: usize = 64;

/// One run of an agent, from its start to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AgentRunId(pub u64);

impl fmt::Display for AgentRunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for AgentRunId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

/// The agent that makes a call, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallingAgent {
    /// Its name.
    pub agent: Option<String>,
    /// The run that the call belongs to.
    pub run: Option<AgentRunId>,
}

impl CallingAgent {
    /// An agent with a run. A name that could not be in a path is changed so that it can.
    pub fn new(agent: &str, run: AgentRunId) -> Self {
        Self {
            agent: Some(path_name(agent)),
            run: Some(run),
        }
    }

    /// The path that, in front of the API's own, says who calls.
    pub fn path(&self) -> String {
        let agent = self.agent.as_deref().unwrap_or("unknown");
        let run = self.run.unwrap_or(AgentRunId(0));
        format!("{PREFIX}{agent}/{run}")
    }

    /// Takes the path that says who calls off a request's address, if it is there.
    pub(crate) fn take_from(uri: &mut Uri) -> Option<Self> {
        let asked = uri.path_and_query()?.as_str();
        let (agent, rest) = asked.strip_prefix(PREFIX)?.split_once('/')?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (run, rest) = rest.split_at(end);
        let run = run.parse().ok()?;
        if !is_path_name(agent) {
            return None;
        }
        let found = Self {
            agent: Some(agent.to_owned()),
            run: Some(run),
        };
        let rest = if rest.starts_with('/') {
            rest.to_owned()
        } else {
            format!("/{rest}")
        };
        *uri = rest.parse().ok()?;
        Some(found)
    }

    /// The product that a request's `user-agent` names first.
    pub(crate) fn of_headers(headers: &HeaderMap) -> Self {
        let named = headers.get(header::USER_AGENT);
        let named = named.and_then(|value| value.to_str().ok());
        let product = named.and_then(|named| named.split(['/', ' ']).next());
        Self {
            agent: product.filter(|product| !product.is_empty()).map(path_name),
            run: None,
        }
    }
}

fn is_path_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_allowed)
}

fn is_allowed(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '@')
}

fn path_name(name: &str) -> String {
    let letters = name.chars().take(LONGEST);
    letters
        .map(|letter| if is_allowed(letter) { letter } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_that_names_the_agent_is_taken_off() {
        let agent = CallingAgent::new("claude", AgentRunId(0xab));
        for (asked, left) in [
            ("/v1/messages?beta=true", "/v1/messages?beta=true"),
            ("", "/"),
            ("?x=1", "/?x=1"),
        ] {
            let mut uri: Uri = format!("{}{asked}", agent.path()).parse().unwrap();
            assert_eq!(CallingAgent::take_from(&mut uri).as_ref(), Some(&agent));
            assert_eq!(uri.to_string(), left);
        }
    }

    #[test]
    fn other_paths_stay_as_they_are() {
        for path in [
            "/v1/messages",
            "/longhaul/agent/claude",
            "/longhaul/agent/claude/no-number/v1/messages",
            "/longhaul/agent/cl%20de/00/v1/messages",
            "/longhaul/agent//00/v1/messages",
        ] {
            let mut uri: Uri = path.parse().unwrap();
            assert_eq!(CallingAgent::take_from(&mut uri), None, "{path}");
            assert_eq!(uri.to_string(), path);
        }
    }

    #[test]
    fn a_product_is_kept_without_its_version_and_its_odd_letters() {
        let of = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::USER_AGENT, value.parse().unwrap());
            CallingAgent::of_headers(&headers).agent
        };
        assert_eq!(
            of("claude-cli/2.1 (external, cli)").as_deref(),
            Some("claude-cli")
        );
        assert_eq!(of("<b>/1").as_deref(), Some("-b-"));
        assert_eq!(of(""), None);
        assert_eq!(of(&"x".repeat(200)).map(|name| name.len()), Some(LONGEST));
    }
}
