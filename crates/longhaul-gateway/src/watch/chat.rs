//! The parts of a chat completion request, for the cache watch.
//!
//! Its cache needs no breakpoints and has no lookback limit: whatever a prompt has in common with an earlier one, from
//! its beginning, may be read. So each message is one position, identified by the hash of its bytes, and breakpoints
//! are assumed so close together that the watch, which knows a lookback limit, never misses one. The content is not
//! kept.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::cache::{
    BlockTraits, CacheBreakpoint, CachePosition, MessageSpeaker, PrefixFingerprint, SystemPart,
    ToolPart, ToolPlacement,
};
use longhaul_core::json::{ObjectReader, items};
use longhaul_core::message::BlockKind;
use longhaul_core::prompt::Ttl;
use longhaul_core::xxh3::{xxh3_64, xxh3_128};

use super::watched_request::WatchedRequest;

/// How many positions apart breakpoints are assumed; the last position always has one.
const MARKED: usize = 16;

/// One hour: unless a longer time is requested, the cache is gone by then, often much sooner.
const MARK: CacheBreakpoint = CacheBreakpoint {
    ttl: Ttl::OneHour,
    scope: None,
};

/// The assumed breakpoints of this many positions.
pub(super) fn breakpoints(positions: usize) -> Vec<(usize, CacheBreakpoint)> {
    let last = positions.checked_sub(1);
    let regular = (MARKED - 1..positions).step_by(MARKED);
    let regular = regular.filter(|at| Some(*at) != last);
    regular.chain(last).map(|at| (at, MARK)).collect()
}

/// The position of one message.
pub(super) fn position(text: &[u8], raw: u128) -> CachePosition {
    let role = ObjectReader::new(text).string("role").unwrap_or_default();
    CachePosition {
        speaker: match &*role {
            "developer" => MessageSpeaker::System,
            role => MessageSpeaker::of(role),
        },
        message: 0,
        kind: match &*role {
            "tool" | "function" => BlockKind::ToolResult,
            _ => BlockKind::Text,
        },
        traits: BlockTraits::default(),
        // The lower half is as good as any.
        hash: raw as u64,
        bytes: Bytes::new(),
    }
}

/// The request prefix: leading messages of role system, tools, and other parts of the prompt. `None` for a prompt that
/// is to be cached for longer than the watch can track.
pub(super) fn request_prefix(sent: &WatchedRequest) -> Option<PrefixFingerprint> {
    let recognized = &sent.recognized;
    let (before, behind) = sent.beside()?;
    let alone = [before, b"[]", behind].concat();
    let beside = ObjectReader::new(&alone);
    let options = beside.object("prompt_cache_options");
    let kept_long = beside.string("prompt_cache_retention").as_deref() == Some("24h")
        || options.and_then(|options| options.string("ttl")).as_deref() == Some("12h");
    if kept_long {
        return None;
    }
    let mut system = Vec::new();
    for (index, raw) in (recognized.raws.iter()).take(recognized.lead).enumerate() {
        let text = sent.message(index)?;
        let said = ObjectReader::new(text).string("content");
        system.push(SystemPart {
            hash: *raw,
            chars: said.map_or(text.len(), |said| said.chars().count()),
            mark: None,
            bytes: Bytes::new(),
            sections: Vec::new(),
        });
    }
    let tools = beside.get("tools").and_then(items).unwrap_or_default();
    let tool = |tool: &[u8]| {
        let function = ObjectReader::new(tool).object("function");
        ToolPart {
            name: (function.and_then(|function| function.string("name")))
                .unwrap_or_default()
                .into_owned(),
            hash: xxh3_128(tool),
            place: ToolPlacement::Definitions,
            mark: None,
            bytes: Bytes::new(),
        }
    };
    let named = |name: &str| {
        let value = beside.get(name)?;
        Some((name.to_owned(), format!("{:08x}", xxh3_64(value) >> 32)))
    };
    Some(PrefixFingerprint {
        model: beside.string("model").unwrap_or_default().into_owned(),
        system,
        tools: tools.into_iter().map(tool).collect(),
        effort: beside.string("reasoning_effort").map(Into::into),
        tool_choice: "auto".to_owned(),
        // The key influences where a request goes; the user that it names does not.
        extra: ["prompt_cache_key", "response_format"]
            .into_iter()
            .filter_map(named)
            .collect(),
        ..PrefixFingerprint::default()
    })
}

/// The positions of one message, to be remembered.
pub(super) fn alone(text: &[u8], raw: u128) -> Arc<[(CachePosition, Option<CacheBreakpoint>)]> {
    Arc::new([(position(text, raw), None)])
}
