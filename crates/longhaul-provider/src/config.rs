//! Which server a client talks to, and how: a plain value, created in code or from a given environment.

use std::time::Duration;

use crate::key::{Auth, Secret};
use crate::retry::RetryPolicy;
use crate::sse;

/// The APIs that model servers speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions.
    OpenAi,
}

/// The configuration of a [`crate::Client`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Which API the server speaks.
    pub dialect: Dialect,
    /// The base URL. `/v1/messages` is added for the Messages API, `/chat/completions` for the other, as the official
    /// clients do.
    pub base_url: Secret,
    /// The credentials.
    pub auth: Auth,
    /// The version of the Messages API.
    pub version: ApiVersion,
    /// Betas requested with every request.
    pub betas: Vec<String>,
    /// Further headers of every request. Values are treated as secrets; they override the client's own headers of the
    /// same name.
    pub headers: Vec<(String, Secret)>,
    /// The proxy, if any. The process's own environment is never read.
    pub proxy: Option<Proxy>,
    /// The timeouts.
    pub timeouts: ClientTimeouts,
    /// When to retry.
    pub retry: RetryPolicy,
    /// The seed for the jitter of retries; random if not given.
    pub seed: Option<u64>,
    /// The longest event, and the longest reply in one JSON text, in bytes.
    pub largest_event: usize,
}

/// A way out of the local network.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// `http://`, `https://` or `socks5://`, with user and password if needed.
    pub url: Secret,
    /// Hosts that are reached directly, separated by commas.
    pub except: Option<String>,
}

/// How long to wait.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientTimeouts {
    /// The time for connecting.
    pub connect: Duration,
    /// The time from the start of an attempt to the first byte of its response. A reply that is not streamed has no
    /// first byte until it is complete.
    pub first_byte: Duration,
    /// The time between bytes of a response. Servers send pings while a model thinks.
    pub silence: Duration,
}

impl Default for ClientTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            first_byte: Duration::from_secs(600),
            silence: Duration::from_secs(120),
        }
    }
}

/// The `anthropic-version` header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ApiVersion {
    /// `2023-06-01`, which every server of this dialect understands.
    #[default]
    V2023_06_01,
    /// `2026-10-21`: sampling parameters are rejected.
    V2026_10_21,
    /// Any other version.
    Other(String),
}

impl ApiVersion {
    /// The header's value.
    pub fn as_str(&self) -> &str {
        match self {
            Self::V2023_06_01 => "2023-06-01",
            Self::V2026_10_21 => "2026-10-21",
            Self::Other(version) => version,
        }
    }
}

/// Why no client can be created from a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientConfigError {
    /// The base URL is not a valid URL.
    #[error("the base URL is not usable: {0}")]
    BaseUrl(String),
    /// The proxy's URL is not valid.
    #[error("the proxy is not usable: {0}")]
    Proxy(String),
    /// A header cannot be sent.
    #[error("the header `{0}` has a name or value that cannot be sent")]
    Header(String),
    /// The key has characters that are not allowed in a header.
    #[error("the key contains characters that cannot be sent")]
    Key,
    /// Certificates could not be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl ClientConfig {
    /// The defaults for a dialect: the official server, no key.
    pub fn new(dialect: Dialect) -> Self {
        let base_url = match dialect {
            Dialect::Anthropic => "https://api.anthropic.com",
            Dialect::OpenAi => "https://api.openai.com/v1",
        };
        Self {
            dialect,
            base_url: Secret::new(base_url),
            auth: Auth::None,
            version: ApiVersion::default(),
            betas: Vec::new(),
            headers: Vec::new(),
            proxy: None,
            timeouts: ClientTimeouts::default(),
            retry: RetryPolicy::default(),
            seed: None,
            largest_event: sse::DEFAULT_LIMIT,
        }
    }

    /// The configuration from an environment. `env` returns the value of a variable.
    ///
    /// Depending on the dialect, these variables are read: `ANTHROPIC_BASE_URL`, `ANTHROPIC_AUTH_TOKEN` (bearer;
    /// first), `ANTHROPIC_API_KEY`, `ANTHROPIC_CUSTOM_HEADERS` (`Name: value` lines), `OPENAI_BASE_URL`,
    /// `OPENAI_API_KEY`; and for both dialects `HTTPS_PROXY` or `HTTP_PROXY` by the URL's scheme, `ALL_PROXY`,
    /// `NO_PROXY`, in upper or lower case. An empty variable counts as unset.
    ///
    /// # Errors
    /// Fails if a custom header is not of the form `Name: value`.
    pub fn from_env(
        dialect: Dialect,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ClientConfigError> {
        let var = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let mut config = Self::new(dialect);
        let (base_url, auth) = match dialect {
            Dialect::Anthropic => (
                var("ANTHROPIC_BASE_URL"),
                var("ANTHROPIC_AUTH_TOKEN")
                    .map(|token| Auth::Bearer(Secret::new(token)))
                    .or_else(|| var("ANTHROPIC_API_KEY").map(|key| Auth::ApiKey(Secret::new(key)))),
            ),
            Dialect::OpenAi => (
                var("OPENAI_BASE_URL"),
                var("OPENAI_API_KEY").map(|key| Auth::Bearer(Secret::new(key))),
            ),
        };
        if let Some(base_url) = base_url {
            config.base_url = Secret::new(base_url);
        }
        config.auth = auth.unwrap_or_default();
        if dialect == Dialect::Anthropic
            && let Some(lines) = var("ANTHROPIC_CUSTOM_HEADERS")
        {
            for line in lines.lines().filter(|line| !line.trim().is_empty()) {
                let (name, value) = line.split_once(':').ok_or_else(|| {
                    ClientConfigError::Header("ANTHROPIC_CUSTOM_HEADERS".to_owned())
                })?;
                let header = (name.trim().to_owned(), Secret::new(value));
                config.headers.push(header);
            }
        }
        let either_case = |name: &str| var(name).or_else(|| var(&name.to_lowercase()));
        let by_scheme = if config.base_url.expose().starts_with("http:") {
            "HTTP_PROXY"
        } else {
            "HTTPS_PROXY"
        };
        config.proxy = either_case(by_scheme)
            .or_else(|| either_case("ALL_PROXY"))
            .map(|url| Proxy {
                url: Secret::new(url),
                except: either_case("NO_PROXY"),
            });
        Ok(config)
    }
}
