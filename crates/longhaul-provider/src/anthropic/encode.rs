//! The headers of a request to the Messages API. Its body is built elsewhere and sent unchanged.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::config::{ApiVersion, ClientConfigError};
use crate::header::{bearer, sensitive};
use crate::key::Auth;

/// The headers for credentials, version and betas.
///
/// Betas keep their order and are sent once each: the set is part of the server's cache key.
///
/// # Errors
/// Fails if a value is not allowed in a header; the error does not show it.
pub fn headers<'a>(
    auth: &Auth,
    version: &ApiVersion,
    betas: impl IntoIterator<Item = &'a str>,
) -> Result<HeaderMap, ClientConfigError> {
    let mut headers = HeaderMap::new();
    let version = HeaderValue::from_str(version.as_str())
        .map_err(|_| ClientConfigError::Header("anthropic-version".to_owned()))?;
    headers.insert(HeaderName::from_static("anthropic-version"), version);
    let mut sent: Vec<&str> = Vec::new();
    for beta in betas {
        if !beta.is_empty() && !sent.contains(&beta) {
            sent.push(beta);
        }
    }
    if !sent.is_empty() {
        let betas = HeaderValue::from_str(&sent.join(","))
            .map_err(|_| ClientConfigError::Header("anthropic-beta".to_owned()))?;
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
