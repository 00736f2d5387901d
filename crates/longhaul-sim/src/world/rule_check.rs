//! Checks rules only where a conversation grew.
//!
//! A request that repeats messages which passed before can go wrong only where new ones begin, or by a rule about the
//! whole request: unique ids, the number of images, the breakpoints, the position of a summary. The new part is checked
//! by giving the rules the end of the conversation after a placeholder. For the rules about the whole, ids are
//! remembered (`checked_messages.rs`), and if one of the others may apply, everything is checked. Whatever fails is
//! checked again as a whole, to get the right wording.

use longhaul_core::models::ModelSpec;
use serde_json::json;

use super::read_bodies::ReadBody;
use crate::call::{ApiCall, ApiError};
use crate::prompt::LaidOutPrompt;
use crate::request::{ApiBlock, ApiMessage, ApiRole, CacheLifetime, MessagesRequest};
use crate::validate::validate;

/// How many messages to search backwards for a place to begin.
const REACH: usize = 64;
/// The maximum number of breakpoints.
const MARKERS: usize = 4;

/// Checks a request, only from where it grew if that is enough.
pub(super) fn check(
    reading: &mut ReadBody,
    spec: &ModelSpec,
    call: &ApiCall,
) -> Result<(), ApiError> {
    let mut settled = std::mem::take(&mut reading.settled);
    let kept = if settled.model == spec.id {
        reading.kept
    } else {
        0
    };
    settled.forget(kept);
    let unique = settled.learn(&reading.request, kept);
    let begin = begin(reading, kept).filter(|_| unique);
    let passed = begin.is_some_and(|begin| passes(&mut reading.request, begin, spec, call));
    if !passed {
        validate(&reading.request, spec, call)?;
    }
    settled.model.clone_from(&spec.id);
    reading.settled = settled;
    Ok(())
}

/// Whether the breakpoints of a prompt are valid. If not, the rules report the error.
pub(super) fn breakpoints_are_valid(prompt: &LaidOutPrompt) -> bool {
    let ttls: Vec<CacheLifetime> = prompt.breakpoints().map(|(_, ttl)| ttl).collect();
    ttls.len() <= MARKERS && ttls.is_sorted_by(|earlier, later| earlier >= later)
}

/// Where the end of a conversation begins that can be checked by itself: at a reply to words of the user.
fn begin(reading: &ReadBody, kept: usize) -> Option<usize> {
    let request = &reading.request;
    let budgeted = request.tag("thinking") == Some("enabled");
    if budgeted || reading.layout.has_images() || reading.layout.has_summary() {
        return None;
    }
    let role = |at: usize| request.messages.get(at).map(|message| message.role);
    let reply =
        |at: &usize| role(*at) == Some(ApiRole::Assistant) && role(at - 1) == Some(ApiRole::User);
    let last = kept.checked_sub(1)?;
    (2..=last).rev().take(REACH).find(reply)
}

fn passes(request: &mut MessagesRequest, begin: usize, spec: &ModelSpec, call: &ApiCall) -> bool {
    let Some(block) = ApiBlock::made(json!({ "type": "text", "text": "-" })) else {
        return false;
    };
    let end = request.messages.split_off(begin);
    let mut all = std::mem::take(&mut request.messages);
    request.messages.push(ApiMessage {
        role: ApiRole::User,
        content: vec![block],
    });
    request.messages.extend(end);
    let passed = validate(request, spec, call).is_ok();
    all.extend(request.messages.drain(1..));
    request.messages = all;
    passed
}
