//! Access control for sessions and counters.

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::json;
use url::Url;

use crate::own_body::{OwnBody, json_answer};
use crate::state::GatewayState;

/// Whether a request may see sessions and counters; otherwise the response.
pub(super) fn allowed(
    state: &GatewayState,
    headers: &HeaderMap,
) -> Result<(), Box<Response<OwnBody>>> {
    let refuse = |status, why: &str| Err(Box::new(json_answer(status, &json!({"error": why}))));
    match &state.token {
        Some(token) => {
            let given = headers
                .get(header::AUTHORIZATION)
                .map(|value| value.as_bytes());
            let given = given.and_then(|value| value.strip_prefix(b"Bearer "));
            if given.is_some_and(|given| same(given, token.expose().as_bytes())) {
                Ok(())
            } else {
                refuse(
                    StatusCode::UNAUTHORIZED,
                    "send the gateway's token as `authorization: Bearer TOKEN`",
                )
            }
        }
        None if !state.on_loopback => refuse(
            StatusCode::FORBIDDEN,
            "the gateway listens beyond this machine: start it with a token to see sessions (LONGHAUL_GATEWAY_TOKEN)",
        ),
        None if !comes_from_here(state, headers) => refuse(
            StatusCode::FORBIDDEN,
            "call the gateway by its address, such as 127.0.0.1, or start it with a token or with --allow-host NAME",
        ),
        None => Ok(()),
    }
}

/// Compares in constant time, so that timing does not reveal how much was correct.
pub(crate) fn same(given: &[u8], token: &[u8]) -> bool {
    let differing = given.iter().zip(token).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == token.len() && differing == 0
}

/// Whether a request uses a name of this machine and does not come from a foreign web page, if the gateway listens only
/// on this machine. A foreign page can make its own name resolve to this machine, and can make a browser send requests
/// here; it cannot choose what the browser sends in `host` and `origin`.
pub(crate) fn comes_from_here(state: &GatewayState, headers: &HeaderMap) -> bool {
    if !state.on_loopback {
        return true;
    }
    let text = |value: &HeaderValue| value.to_str().map(str::to_owned).unwrap_or_default();
    let mut hosts = headers.get_all(header::HOST).iter().map(text);
    let mut origins = headers.get_all(header::ORIGIN).iter().map(text);
    let known = |name: &str| is_this_machine(name) || is_allowed(&state.allowed_hosts, name);
    hosts.all(|host| known(without_port(&host)))
        && origins.all(|origin| {
            let origin = Url::parse(&origin);
            origin.is_ok_and(|origin| origin.host_str().is_some_and(known))
        })
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Names that refer to this machine wherever they are resolved.
fn is_this_machine(name: &str) -> bool {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let address = name.parse::<std::net::IpAddr>();
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || address.is_ok_and(|address| address.is_loopback())
}

fn is_allowed(allowed: &[String], name: &str) -> bool {
    allowed.iter().any(|host| host.eq_ignore_ascii_case(name))
}
