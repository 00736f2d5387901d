//! The parts of a request that tell the upstream who is asking: every header and every query parameter that may be a
//! credential.
//!
//! The gateway does not know which of them an upstream uses, so all that are passed on count together. Two requests are
//! from the same client only if all of them are the same: a caller who sends someone else's key beside their own is
//! treated as neither.

use http::HeaderMap;
use http::header::{self, HeaderName};

/// Headers that hold a credential, beside those recognized by the ending of their name.
const NAMED: [&str; 4] = [
    "proxy-authorization",
    "x-functions-key",
    "x-goog-iam-authorization-token",
    "x-amz-security-token",
];
/// Endings of header names that hold a credential.
const ENDINGS: [&str; 9] = [
    "api-key",
    "apikey",
    "api-token",
    "authorization",
    "auth-token",
    "-auth",
    "access-token",
    "subscription-key",
    "secret-key",
];
/// Query parameters that hold a credential.
const IN_QUERY: [&str; 11] = [
    "key",
    "api-key",
    "api_key",
    "apikey",
    "access_token",
    "auth",
    "code",
    "sig",
    "signature",
    "subscription-key",
    "token",
];
/// Cookies that load balancers and bot protection set and change as they like. They do not identify the caller, and
/// clients that keep cookies send them from their second request on.
const OF_THE_WAY: [&str; 10] = [
    "__cf_bm",
    "_cfuvid",
    "__cflb",
    "cf_clearance",
    "AWSALB",
    "AWSALBCORS",
    "AWSALBTG",
    "AWSALBTGCORS",
    "GCLB",
    "ARRAffinity",
];

/// The credentials of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credentials(Vec<(String, Vec<u8>)>);

impl Credentials {
    /// Collects the credentials from the headers that are passed on and from the query.
    pub fn of(passed: &HeaderMap, query: Option<&str>) -> Self {
        let mut all = Vec::new();
        for (name, value) in passed {
            let value = value.as_bytes();
            if name == header::COOKIE {
                all.extend(cookies(value));
            } else if is_one(name) && !value.is_empty() {
                all.push(header_credential(name, value));
            }
        }
        for pair in query.unwrap_or_default().split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = name.to_ascii_lowercase();
            if IN_QUERY.contains(&name.as_str()) && !value.is_empty() {
                all.push((format!("?{name}"), value.as_bytes().to_vec()));
            }
        }
        // Clients send them in any order.
        all.sort();
        Self(all)
    }

    /// Whether the request carries no credential.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every credential with its name, in sorted order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

fn is_one(name: &HeaderName) -> bool {
    let name = name.as_str();
    NAMED.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The same key counts as the same credential whether it is sent as `x-api-key` or as a bearer token.
fn header_credential(name: &HeaderName, value: &[u8]) -> (String, Vec<u8>) {
    let bearer = match value.split_at_checked(7) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(b"bearer ") => Some(rest),
        _ => None,
    };
    match bearer {
        Some(key) if name == header::AUTHORIZATION => ("key".to_owned(), key.to_vec()),
        None if name.as_str() == "x-api-key" => ("key".to_owned(), value.to_vec()),
        _ => (name.as_str().to_owned(), value.to_vec()),
    }
}

fn cookies(value: &[u8]) -> Vec<(String, Vec<u8>)> {
    let pairs = value.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let told = pairs.filter(|pair| {
        let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
        !name.is_empty() && !OF_THE_WAY.iter().any(|other| other.as_bytes() == name)
    });
    told.map(|pair| ("cookie".to_owned(), pair.to_vec()))
        .collect()
}
