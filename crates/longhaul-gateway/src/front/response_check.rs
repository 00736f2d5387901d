//! Inspects a response before it is passed back. The client does not have to deal with a conversation that is too long
//! (O3), nor with thinking that does not match the compacted prefix.

use std::sync::Arc;
use std::time::SystemTime;

use http::{Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use longhaul_provider::ErrorClass;
use longhaul_provider::error::ErrorResponse as ErrorAnswer;

use super::call_details::CallDetails;
use super::placement;
use super::response_decision::ResponseDecision;
use super::window_full;
use crate::manage::{RequestContext, Told};
use crate::refusal::GatewayRefusal;
use crate::state::GatewayState;
use crate::watch;

/// The longest error that is read.
const LONGEST: usize = 1 << 20;
/// How often one request is shortened.
const MOST: u32 = 4;

/// Whether thinking was rejected because of the messages before it (N2). There is no error code for it, only the
/// message text.
fn is_about_binding(message: &str) -> bool {
    message.contains("thinking") && message.contains("bound to a different conversation")
}

/// Inspects a response. A request that is too long is shortened until it fits; other errors are handled once per
/// request.
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
        && let Some(context) = call.context.take()
    {
        let looked = Box::pin(window_full::check_ending(state, call, context, answer)).await;
        drop(charge);
        return looked;
    }
    let placed = placed.filter(|_| suspect);
    let Some((call, context, charge)) = placed.and_then(|call| {
        let charge = state.budget.take(LONGEST).ok()?;
        let context = call.context.take()?;
        Some((call, context, charge))
    }) else {
        return Ok(ResponseDecision::Pass(answer));
    };
    // The future is large and seldom needed.
    let looked = Box::pin(check_error(state, call, context, answer)).await;
    drop(charge);
    looked
}

async fn check_error(
    state: &Arc<GatewayState>,
    call: &mut CallDetails,
    mut context: Box<RequestContext>,
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
            state.compactor.recover(&mut context, told, again).await
        }
        ErrorClass::Invalid if !call.unbound && is_about_binding(&error.message) => {
            call.unbound = true;
            state.compactor.unbind(&mut context).await
        }
        _ => false,
    };
    if recovered {
        call.is_resent(placement::watched(state, &context));
    }
    let sent = context.outgoing.parts.clone();
    call.context = Some(context);
    Ok(if recovered {
        ResponseDecision::Retry(sent, first)
    } else {
        ResponseDecision::Held(first)
    })
}
