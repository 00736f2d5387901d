//! How the address of an API becomes that of a gateway in front of it.
//!
//! Agents are given a base URL, with or without `/v1` at its end, and put the rest of the path after it. The gateway looks
//! at paths that begin with `/v1`, so that end stays with the agent's address, and the rest is the gateway's upstream.

use url::Url;

use crate::api_url;
use crate::failure::CliError;

/// The end of an address that stays with the agent.
const VERSION: &str = "/v1";
/// The name of the simulated upstream.
pub(super) const SIMULATED: &str = "sim";

/// An API as an agent calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiAddress {
    /// Where the gateway sends requests: a URL, or `sim`.
    pub(super) upstream: String,
    /// What the agent's address has after the gateway's own.
    pub(super) end: &'static str,
}

impl ApiAddress {
    /// The address that a user or the table of agents gives.
    ///
    /// `place` says where it is from, for a message.
    pub(super) fn of(place: &str, text: &str) -> Result<Self, CliError> {
        let url = api_url::read(place, text)?;
        let whole = url.as_str().trim_end_matches('/');
        Ok(match whole.strip_suffix(VERSION) {
            Some(upstream) => Self {
                upstream: upstream.to_owned(),
                end: VERSION,
            },
            None => Self {
                upstream: whole.to_owned(),
                end: "",
            },
        })
    }

    /// The same API at another place. `sim` and a bare host have the API at the same path; otherwise the address says.
    pub(super) fn moved_to(&self, place: &str, text: &str) -> Result<Self, CliError> {
        if text == SIMULATED {
            return Ok(Self {
                upstream: SIMULATED.to_owned(),
                end: self.end,
            });
        }
        let mut moved = Self::of(place, text)?;
        let is_bare = Url::parse(text).is_ok_and(|url| matches!(url.path(), "" | "/"));
        if is_bare {
            moved.end = self.end;
        }
        Ok(moved)
    }

    pub(super) fn is_simulated(&self) -> bool {
        self.upstream == SIMULATED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, &'static str) {
        let address = ApiAddress::of("--env", text).unwrap();
        (address.upstream, address.end)
    }

    #[test]
    fn the_version_stays_with_the_agent() {
        assert_eq!(
            of("https://api.openai.com/v1"),
            ("https://api.openai.com".to_owned(), "/v1")
        );
        assert_eq!(
            of("https://openrouter.ai/api/v1/"),
            ("https://openrouter.ai/api".to_owned(), "/v1")
        );
        assert_eq!(
            of("https://api.anthropic.com/"),
            ("https://api.anthropic.com".to_owned(), "")
        );
        for wrong in [
            "",
            "ftp://x",
            "api.openai.com",
            "https://me:pass@x/v1",
            "https://x/?a=pass",
        ] {
            let error = ApiAddress::of("--env", wrong).unwrap_err().to_string();
            assert!(
                !error.contains("pass@") && !error.contains("=pass"),
                "{error}"
            );
        }
    }

    #[test]
    fn another_place_has_the_same_path_unless_it_says_otherwise() {
        let usual = ApiAddress::of("--env", "https://api.openai.com/v1").unwrap();
        for (text, upstream, end) in [
            ("sim", "sim", "/v1"),
            ("http://127.0.0.1:9", "http://127.0.0.1:9", "/v1"),
            ("https://x/v1", "https://x", "/v1"),
            ("https://x/backend/codex", "https://x/backend/codex", ""),
        ] {
            let moved = usual.moved_to("--upstream", text).unwrap();
            assert_eq!((moved.upstream.as_str(), moved.end), (upstream, end));
        }
    }
}
