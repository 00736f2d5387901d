//! Which headers are passed on: all except those that concern only one connection, in their original order.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Headers of one connection.
const OF_A_CONNECTION: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The prefix of the gateway's own headers, which mean nothing to others.
const OURS: &str = "x-longhaul-";

/// Headers that make a claim about the request that they came with: that it is the same as another one with this key,
/// or that its body has this hash.
const CLAIMS: [&str; 6] = [
    "idempotency-key",
    "x-idempotency-key",
    "content-md5",
    "digest",
    "content-digest",
    "repr-digest",
];

/// Removes headers that hold only for the client's own request from the headers of a request by the gateway: a response
/// to one must never be taken for a response to the other.
pub(crate) fn without_claims(headers: &mut HeaderMap) {
    for name in CLAIMS {
        headers.remove(name);
    }
}

fn stays_here(name: &HeaderName, named: &[HeaderName]) -> bool {
    OF_A_CONNECTION.contains(name) || named.contains(name)
}

/// Headers that `connection` names.
fn named(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(header::CONNECTION).into_iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect()
}

/// A request's headers for the upstream. `host` is the upstream's.
pub(crate) fn onward(headers: &HeaderMap, host: &HeaderValue) -> HeaderMap {
    let named = named(headers);
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        // `expect` was answered when the body was read.
        if stays_here(name, &named) || name == header::EXPECT || name.as_str().starts_with(OURS) {
            continue;
        }
        let value = if name == header::HOST { host } else { value };
        passed.append(name.clone(), value.clone());
    }
    if !passed.contains_key(header::HOST) {
        passed.insert(header::HOST, host.clone());
    }
    passed
}

/// A response's headers for the client.
pub(crate) fn back(headers: HeaderMap) -> HeaderMap {
    let named = named(&headers);
    if !headers.keys().any(|name| stays_here(name, &named)) {
        return headers;
    }
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in &headers {
        if !stays_here(name, &named) {
            passed.append(name.clone(), value.clone());
        }
    }
    passed
}
