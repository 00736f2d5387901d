//! Checks the cache breakpoints of a request: there may be at most four, including the automatic one, and those that
//! last one hour must come before those that last five minutes.

use serde_json::Value;

use crate::call::ApiError;
use crate::request::{ApiBlock, CacheLifetime, MessagesRequest};

/// The maximum number of cache breakpoints in a request.
const MOST: usize = 4;

/// Checks the number, the order and the lifetimes of a request's cache breakpoints.
pub(super) fn check(request: &MessagesRequest) -> Result<(), ApiError> {
    let mut markers = explicit_breakpoints(request);
    if let Some(ttl) = request.automatic_cache {
        match last_cacheable(request).map(|block| block.marker) {
            Some(Some(other)) if other != ttl => {
                return Err(ApiError::invalid(format!(
                    "Top-level cache_control has ttl='{}' but the target block already has cache_control with ttl='{}'. When both are specified on the same block, they must have matching TTLs.",
                    ttl.as_str(),
                    other.as_str()
                )));
            }
            // The block already has a breakpoint, or no block can have one.
            Some(Some(_)) | None => {}
            Some(None) => markers.push((String::new(), ttl)),
        }
    }
    if markers.len() > MOST {
        return Err(ApiError::invalid(format!(
            "A maximum of {MOST} blocks with cache_control may be provided. Found {}.",
            markers.len()
        )));
    }
    let first_short = markers
        .iter()
        .position(|(_, ttl)| *ttl == CacheLifetime::FiveMinutes);
    let after_short = markers.iter().skip(first_short.unwrap_or(markers.len()));
    match after_short
        .into_iter()
        .find(|(_, ttl)| *ttl == CacheLifetime::OneHour)
    {
        None => Ok(()),
        Some((path, _)) => {
            let dot = if path.is_empty() { "" } else { "." };
            Err(ApiError::invalid(format!(
                "{path}{dot}cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )))
        }
    }
}

/// The breakpoints that the request sets itself, in the order of the prompt, each with the path of its block.
fn explicit_breakpoints(request: &MessagesRequest) -> Vec<(String, CacheLifetime)> {
    let mut markers = Vec::new();
    for (index, tool) in request.tools.iter().enumerate() {
        markers.extend(tool.marker.map(|ttl| (format!("tools.{index}"), ttl)));
    }
    for (index, block) in request.system.iter().enumerate() {
        markers.extend(block.marker.map(|ttl| (format!("system.{index}"), ttl)));
    }
    for (index, message) in request.messages.iter().enumerate() {
        for (at, block) in message.content.iter().enumerate() {
            let path = || format!("messages.{index}.content.{at}");
            markers.extend(
                inner_breakpoints(block).map(|(inner, ttl)| {
                    (format!("{}.{}.content.{inner}", path(), block.kind), ttl)
                }),
            );
            markers.extend(block.marker.map(|ttl| (path(), ttl)));
        }
    }
    markers
}

/// The breakpoints on blocks inside a block, such as a tool result, each with the index of the inner block.
fn inner_breakpoints(block: &ApiBlock) -> impl Iterator<Item = (usize, CacheLifetime)> {
    let blocks = block.fields.get("content").and_then(Value::as_array);
    blocks
        .into_iter()
        .flatten()
        .enumerate()
        .filter_map(|(index, inner)| {
            let marker = inner
                .get("cache_control")
                .filter(|marker| marker.is_object())?;
            let ttl = match marker.get("ttl").and_then(Value::as_str) {
                Some("1h") => CacheLifetime::OneHour,
                _ => CacheLifetime::FiveMinutes,
            };
            Some((index, ttl))
        })
}

/// The block that gets the breakpoint of automatic caching: the last block of the messages that can have one, or else
/// of the system prompt.
fn last_cacheable(request: &MessagesRequest) -> Option<&ApiBlock> {
    let blocks = request
        .messages
        .iter()
        .rev()
        .flat_map(|message| message.content.iter().rev());
    let mut blocks = blocks.chain(request.system.iter().rev());
    blocks.find(|block| is_cacheable(block))
}

/// Whether a block can have a breakpoint. Thinking and empty text cannot.
fn is_cacheable(block: &ApiBlock) -> bool {
    let empty = block.kind == "text" && block.text("text").is_none_or(str::is_empty);
    !block.is_thinking() && !empty
}
