//! Who may see sessions and counters.

use http::{HeaderMap, Response, StatusCode, header};
use serde_json::json;

use crate::front::{Answer, State, json_answer};

/// Whether a request may see them; else the answer.
pub(super) fn allowed(state: &State, headers: &HeaderMap) -> Result<(), Box<Response<Answer>>> {
    let refuse = |status, why: &str| Err(Box::new(json_answer(status, &json!({"error": why}))));
    match &state.token {
        Some(token) => {
            let given = headers
                .get(header::AUTHORIZATION)
                .map(|value| value.as_bytes());
            let given = given.and_then(|value| value.strip_prefix(b"Bearer "));
            match given.is_some_and(|given| same(given, token.expose().as_bytes())) {
                true => Ok(()),
                false => refuse(
                    StatusCode::UNAUTHORIZED,
                    "send the gateway's token as `authorization: Bearer TOKEN`",
                ),
            }
        }
        None if !state.on_loopback => refuse(
            StatusCode::FORBIDDEN,
            "the gateway listens beyond this machine: start it with a token to see sessions (LONGHAUL_GATEWAY_TOKEN)",
        ),
        None if !names_this_machine(headers) => refuse(
            StatusCode::FORBIDDEN,
            "call the gateway by its address, such as 127.0.0.1, or start it with a token",
        ),
        None => Ok(()),
    }
}

/// Compares without telling by the time how much was right.
pub(crate) fn same(given: &[u8], token: &[u8]) -> bool {
    let differing = given.iter().zip(token).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == token.len() && differing == 0
}

/// Whether `host` is an address or name of this machine.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers
        .get(header::HOST)
        .and_then(|value| value.to_str().ok())
    else {
        return true;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let address = name.parse::<std::net::IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
