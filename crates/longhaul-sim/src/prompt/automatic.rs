//! Automatic caching: top-level `cache_control` puts a breakpoint on the last block that can carry one.

use super::{LaidOutPrompt, PromptLevel};
use crate::call::ApiError;
use crate::request::CacheLifetime;

/// The maximum number of breakpoints in a request.
const SLOTS: usize = 4;

/// Places the automatic breakpoint. `eligible` says whether a position can carry a breakpoint.
///
/// If the last block already has the same breakpoint, nothing changes. If it has one with another lifetime, or if there
/// are four breakpoints already, the request is refused. Without any eligible block nothing is cached.
pub(crate) fn place(
    prompt: &mut LaidOutPrompt,
    ttl: CacheLifetime,
    eligible: impl Fn(usize) -> bool,
) -> Result<Option<usize>, ApiError> {
    let last = (0..prompt.positions.len()).rev().find(|&index| {
        let in_messages = |level| level == PromptLevel::Messages || !has_messages(prompt);
        let position = prompt.positions.get(index);
        position.is_some_and(|position| in_messages(position.level)) && eligible(index)
    });
    let Some(index) = last else { return Ok(None) };
    match prompt.positions.get(index).and_then(|found| found.marker) {
        Some(there) if there == ttl => return Ok(None),
        Some(_) => {
            return Err(ApiError::invalid(
                "cache_control: the last cacheable block already has a cache_control with a different ttl.",
            ));
        }
        None => {}
    }
    if prompt.markers.len() >= SLOTS {
        return Err(ApiError::invalid(format!(
            "A maximum of {SLOTS} blocks with cache_control may be provided. Found {}.",
            prompt.markers.len() + 1
        )));
    }
    if let Some(position) = prompt.positions.get_mut(index) {
        position.marker = Some(ttl);
    }
    let at = prompt.markers.partition_point(|&marker| marker < index);
    prompt.markers.insert(at, index);
    Ok(Some(index))
}

fn has_messages(prompt: &LaidOutPrompt) -> bool {
    let last = prompt.positions.last();
    last.is_some_and(|position| position.level == PromptLevel::Messages)
}
