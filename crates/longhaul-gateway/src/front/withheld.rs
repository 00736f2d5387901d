//! An answer is looked at before it is passed back: that a conversation is too long is not the client's to deal with (O3).

use std::time::SystemTime;

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use longhaul_provider::ErrorClass;
use longhaul_provider::error::Answer as ErrorAnswer;

use super::refuse::Refusal;
use super::state::State;
use super::under_way::Call;
use crate::watch;

/// The longest error that is read.
const LONGEST: usize = 1 << 20;

/// What to do with an answer.
pub(super) enum Outcome {
    /// Pass it back as it comes.
    Pass(Response<Incoming>),
    /// Pass back what was read of it.
    Held(Response<Bytes>),
    /// Send this instead, once; if that fails, the answer stands.
    Retry(Vec<Bytes>, Response<Bytes>),
}

/// Looks at an answer. One attempt a request.
pub(super) async fn look(
    state: &State,
    call: Option<&mut Call>,
    answer: Response<Incoming>,
) -> Result<Outcome, Refusal> {
    let status = answer.status();
    let suspect = status == StatusCode::BAD_REQUEST || status == StatusCode::PAYLOAD_TOO_LARGE;
    let placed = call.filter(|call| suspect && call.placed.is_some());
    let Some((call, mut material)) = placed.and_then(|call| {
        let material = call.material.take()?;
        Some((call, material))
    }) else {
        return Ok(Outcome::Pass(answer));
    };
    let (parts, body) = answer.into_parts();
    let body = Limited::new(body, LONGEST).collect().await;
    let body = body.map_err(|_| state.upstream.broke("its error broke off"))?;
    let body = body.to_bytes();
    let plain = watch::plain(&parts.headers, &body).unwrap_or_default();
    let read = ErrorAnswer::from_http(status.as_u16(), &parts.headers, &plain, SystemTime::now());
    let actual = match read.into_error().class {
        ErrorClass::TooLong(overflow) => Some(overflow.actual),
        ErrorClass::TooLarge => Some(None),
        _ => None,
    };
    let first = Response::from_parts(parts, body);
    let Some(actual) = actual else {
        call.material = Some(material);
        return Ok(Outcome::Held(first));
    };
    let recovered = state.care.recover(&mut material, actual).await;
    let sent = material.sending.parts.clone();
    call.material = Some(material);
    call.recovered = recovered;
    Ok(match recovered {
        true => Outcome::Retry(sent, first),
        false => Outcome::Held(first),
    })
}
