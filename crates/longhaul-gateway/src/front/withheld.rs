//! An answer is looked at before it is passed back: that a conversation is too long is not the client's to deal with (O3),
//! nor that what was thought in it does not fit what stands for its beginning.

use std::sync::Arc;

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use longhaul_provider::ErrorClass;
use longhaul_provider::error::Answer as ErrorAnswer;

use super::out_of_room;
use super::placing;
use super::under_way::Call;
use crate::manage::{Material, Told};
use crate::refusal::Refusal;
use crate::state::State;
use crate::watch;

/// The longest error that is read.
const LONGEST: usize = 1 << 20;
/// How often one request is made shorter.
const MOST: u32 = 4;

/// What to do with an answer.
pub(super) enum Outcome {
    /// Pass it back as it comes.
    Pass(Response<Incoming>),
    /// Pass back what was read of it.
    Held(Response<Bytes>),
    /// Send this instead; if that cannot be done, the answer stands.
    Retry(Vec<Bytes>, Response<Bytes>),
}

impl Outcome {
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
pub(super) async fn look(
    state: &Arc<State>,
    call: Option<&mut Call>,
    answer: Response<Incoming>,
) -> Result<Outcome, Refusal> {
    let status = answer.status();
    let suspect = status == StatusCode::BAD_REQUEST || status == StatusCode::PAYLOAD_TOO_LARGE;
    let mut placed = call.filter(|call| call.placed.is_some());
    if let Some(call) = placed.as_deref_mut()
        && out_of_room::may_be(state, call, &answer)
        && let Ok(charge) = state.budget.take(out_of_room::length(&answer))
        && let Some(material) = call.material.take()
    {
        let looked = Box::pin(out_of_room::look(state, call, material, answer)).await;
        drop(charge);
        return looked;
    }
    let placed = placed.filter(|_| suspect);
    let Some((call, material, charge)) = placed.and_then(|call| {
        let charge = state.budget.take(LONGEST).ok()?;
        let material = call.material.take()?;
        Some((call, material, charge))
    }) else {
        return Ok(Outcome::Pass(answer));
    };
    // Seldom done, and large.
    let looked = Box::pin(look_into(state, call, material, answer)).await;
    drop(charge);
    looked
}

async fn look_into(
    state: &Arc<State>,
    call: &mut Call,
    mut material: Box<Material>,
    answer: Response<Incoming>,
) -> Result<Outcome, Refusal> {
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
            state.care.recover(&mut material, told, again).await
        }
        ErrorClass::Invalid if !call.unbound && is_about_binding(&error.message) => {
            call.unbound = true;
            state.care.unbind(&mut material).await
        }
        _ => false,
    };
    if recovered {
        call.is_resent(placing::watched(state, &material));
    }
    let sent = material.sending.parts.clone();
    call.material = Some(material);
    Ok(match recovered {
        true => Outcome::Retry(sent, first),
        false => Outcome::Held(first),
    })
}
