//! Reads the headers of a request: the caller, the version, the betas and the session.

use std::collections::BTreeSet;

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use crate::call::{ApiCall, ApiError};

/// The versions of the API that are served.
const VERSIONS: [&str; 2] = ["2023-06-01", "2026-10-21"];

/// Headers in which clients name their session, in order of preference.
const SESSIONS: [&str; 2] = ["x-claude-code-session-id", "x-session-id"];

/// A call without its body; the error is the reason for refusing it.
pub(super) fn call(headers: &HeaderMap) -> Result<ApiCall, ApiError> {
    let Some(key) = key(headers) else {
        return Err(ApiError {
            status: 401,
            kind: "authentication_error",
            ..ApiError::invalid("x-api-key header is required")
        });
    };
    let version = text(headers, "anthropic-version");
    match version {
        None => return Err(ApiError::invalid("anthropic-version: header is required")),
        Some(version) if !VERSIONS.contains(&version) => {
            return Err(ApiError::invalid(format!(
                "anthropic-version: {version:?} is not a valid version"
            )));
        }
        Some(_) => {}
    }
    Ok(ApiCall {
        key,
        version: version.unwrap_or_default().to_owned(),
        betas: betas(headers),
        session: session(headers),
        body: Default::default(),
    })
}

/// The key, from `x-api-key` or as a bearer token. Any key is accepted.
pub(super) fn key(headers: &HeaderMap) -> Option<String> {
    let bearer = || {
        let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    };
    let key = text(headers, "x-api-key").or_else(bearer)?;
    (!key.is_empty()).then(|| key.to_owned())
}

/// The session, including the sub-agent within it: each has a conversation of its own.
pub(super) fn session(headers: &HeaderMap) -> Option<String> {
    let session = SESSIONS.iter().find_map(|name| text(headers, name))?;
    Some(match text(headers, "x-claude-code-agent-id") {
        Some(agent) => format!("{session}/{agent}"),
        None => session.to_owned(),
    })
}

/// Whether the client uses the Anthropic dialect, for paths that do not determine it.
pub(super) fn is_anthropic(headers: &HeaderMap) -> bool {
    headers.contains_key("anthropic-version") || headers.contains_key("x-api-key")
}

fn betas(headers: &HeaderMap) -> BTreeSet<String> {
    let given = headers.get_all("anthropic-beta").iter();
    given
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|beta| beta.trim().to_owned())
        .filter(|beta| !beta.is_empty())
        .collect()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then_some(value)
}
