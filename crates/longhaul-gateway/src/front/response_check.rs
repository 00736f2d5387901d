//! An answer is looked at before it is passed back: that a conversation is too long is not the client's to deal with (O3),
//! nor that what was thought in it does not fit what stands for its beginning.

use std::sync::Arc;

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use longhaul_provider::ErrorClass;
use longhaul_provider::error::ErrorResponse as ErrorAnswer;

use super::in_flight::CallDetails;
use super::placement;
use super::window_full;
use crate::manage::{RequestContext, Told};
use crate::refusal::GatewayRefusal;
use crate::state::GatewayState;
use crate::watch;

/// The longest error that is read.
const LONGEST: usize = 1 << 20;
/// How often one request is made shorter.
const MOST: u32 = 4;

/// What to do with an answer.
pub(super) enum ResponseDecision {
    /// Pass it back as it comes.
    Pass(Response<Incoming>),
    /// Pass back what was read of it.
    Held(Response<Bytes>),
    /// Send this instead; if that cannot be done, the answer stands.
    Retry(Vec<Bytes>, Response<Bytes>),
}

impl ResponseDecision {
    /// Status and headers of the answer that stands.
    pub(super) fn head(&self) -> (StatusCode, &HeaderMap) {
        match self {
            Self::Pass(answer) => (answer.status(), answer.headers()),
            Self::Held(answer) | Self::Retry(_, answer) => (answer.status(), answer.headers()),
        }
    }
}

/// Whether thinking was refused for what stands before it (N2). There is no code for it, only words.
fn is_about_binding(message: &str) -> bool {
    message.contains("thinking") && message.contains("bound to a different conversation")
}

/// Looks at an answer. What is too long is made shorter until it fits; other trouble is dealt with once a request.
pub(super) async fn check_response(
    state: &Arc<GatewayState>,
    call: Option<&mut CallDetails>,
    answer: Response<Incoming>,
) -> Result<ResponseDecision, GatewayRefusal> {
    let status = answer.status();
    let suspect = status == StatusCode::BAD_REQUEST || status == StatusCode::PAYLOAD_TOO_LARGE;
    let mut placed = call.filter(|call| call.placed.is_some());
    if let Some(call) = placed.as_deref_mut()
        && window_full::may_be(state, call, &answer)
        && let Ok(charge) = state.budget.take(window_full::length(&answer))
        && let Some(material) = call.context.take()
    {
        let looked = Box::pin(window_full::check_ending(state, call, material, answer)).await;
        drop(charge);
        return looked;
    }
    let placed = placed.filter(|_| suspect);
    let Some((call, material, charge)) = placed.and_then(|call| {
        let charge = state.budget.take(LONGEST).ok()?;
        let material = call.context.take()?;
        Some((call, material, charge))
    }) else {
        return Ok(ResponseDecision::Pass(answer));
    };
    // Seldom done, and large.
    let looked = Box::pin(check_error(state, call, material, answer)).await;
    drop(charge);
    looked
}

async fn check_error(
    state: &Arc<GatewayState>,
    call: &mut CallDetails,
    mut material: Box<RequestContext>,
    answer: Response<Incoming>,
) -> Result<ResponseDecision, GatewayRefusal> {
    let status = answer.status();
    let (parts, body) = answer.into_parts();
    let body = Limited::new(body, LONGEST).collect().await;
    let body = body.map_err(|_| state.upstream.broke("its error broke off"))?;
    let body = body.to_bytes();
    let plain = watch::plain(&parts.headers, &body).unwrap_or_default();
    let read = ErrorAnswer::from_http(status.as_u16(), &parts.headers, &plain, SystemTime::now());
    let error = read.into_error();
    let first = Response::from_parts(parts, body);
    let recovered = match error.class {
        ErrorClass::TooLong(_) | ErrorClass::TooLarge if call.shortened < MOST => {
            let again = call.shortened;
            call.shortened += 1;
            let told = match error.class {
                ErrorClass::TooLong(overflow) => Told {
                    actual: overflow.actual,
                    limit: overflow.limit,
                },
                _ => Told::default(),
            };
            state.compactor.recover(&mut material, told, again).await
        }
        ErrorClass::Invalid if !call.unbound && is_about_binding(&error.message) => {
            call.unbound = true;
            state.compactor.unbind(&mut material).await
        }
        _ => false,
    };
    if recovered {
        call.is_resent(placement::watched(state, &material));
    }
    let sent = material.outgoing.parts.clone();
    call.context = Some(material);
    Ok(if recovered {
        ResponseDecision::Retry(sent, first)
    } else {
        ResponseDecision::Held(first)
    })
}
