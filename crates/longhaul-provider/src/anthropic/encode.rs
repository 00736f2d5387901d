//! The headers of a request to the Messages API. Its body is made elsewhere and goes out as it is.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::config::ConfigError;
use crate::key::{Auth, Secret};

/// The `anthropic-version` header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ApiVersion {
    /// `2023-06-01`, which every server of this dialect understands.
    #[default]
    V2023_06_01,
    /// `2026-10-21`: sampling parameters are refused.
    V2026_10_21,
    /// Any other.
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

/// The headers for credentials, version and betas.
///
/// Betas keep their order and are sent once each: the set is part of what the server's cache goes by.
///
/// # Errors
/// If a value cannot stand in a header; the error does not show it.
pub fn headers<'a>(
    auth: &Auth,
    version: &ApiVersion,
    betas: impl IntoIterator<Item = &'a str>,
) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    let version = HeaderValue::from_str(version.as_str())
        .map_err(|_| ConfigError::Header("anthropic-version".to_owned()))?;
    headers.insert(HeaderName::from_static("anthropic-version"), version);
    let mut sent: Vec<&str> = Vec::new();
    for beta in betas {
        if !beta.is_empty() && !sent.contains(&beta) {
            sent.push(beta);
        }
    }
    if !sent.is_empty() {
        let betas = HeaderValue::from_str(&sent.join(","))
            .map_err(|_| ConfigError::Header("anthropic-beta".to_owned()))?;
        headers.insert(HeaderName::from_static("anthropic-beta"), betas);
    }
    match auth {
        Auth::None => {}
        Auth::ApiKey(key) => {
            headers.insert(
                HeaderName::from_static("x-api-key"),
                sensitive(key.expose())?,
            );
        }
        Auth::Bearer(token) => {
            headers.insert(header::AUTHORIZATION, bearer(token)?);
        }
    }
    Ok(headers)
}

/// `Bearer …`, marked so that nothing that prints headers shows it.
pub(crate) fn bearer(token: &Secret) -> Result<HeaderValue, ConfigError> {
    sensitive(&format!("Bearer {}", token.expose()))
}

fn sensitive(text: &str) -> Result<HeaderValue, ConfigError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ConfigError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}
