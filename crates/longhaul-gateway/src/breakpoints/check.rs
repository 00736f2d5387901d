//! Checks which breakpoints of a request the API would reject.

use longhaul_core::prompt::{MOST_MARKERS, Ttl};

use super::cache_control;
use super::prefix::ScannedPrefix;
use super::request::BreakpointRequest;
use super::scan::{self, CacheableBlock, CacheableKind, ScannedContent};
use crate::body::{self, NotAConversation};

/// Why the API would reject a request because of its breakpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BreakpointError {
    /// The body cannot be read.
    #[error(transparent)]
    Unreadable(#[from] NotAConversation),
    /// There are more than four breakpoints.
    #[error("{0} cache breakpoints are more than the {MOST_MARKERS} that the API accepts")]
    TooMany(usize),
    /// A breakpoint of one hour comes after one of five minutes.
    #[error("a cache breakpoint of an hour comes after one of five minutes")]
    LongBehindShort,
    /// Automatic caching asks for a different lifetime than the breakpoint on the last block.
    #[error("automatic caching and the breakpoint on the last block ask for different lifetimes")]
    Disagree,
    /// A breakpoint is on a thinking block.
    #[error("a cache breakpoint is on a thinking block")]
    OnThinking,
    /// A breakpoint is on an empty text.
    #[error("a cache breakpoint is on an empty text")]
    OnEmptyText,
    /// A breakpoint is on a tool that is not in the prompt.
    #[error("a cache breakpoint is on a tool whose loading is deferred")]
    OnDeferredTool,
}

/// How many breakpoints a whole body has, automatic caching included, if the API accepts them. This scans the whole
/// body.
pub fn check(body: &[u8]) -> Result<usize, BreakpointError> {
    let outline = body::read(body)?;
    let body = bytes::Bytes::copy_from_slice(body);
    let asked = BreakpointRequest {
        body: &body,
        outline: &outline,
        ends: &[],
        raws: &[],
        hashes: &[],
        replaced: None,
    };
    let head = ScannedPrefix::read(&asked).map_err(NotAConversation::from)?;
    let mut lifetimes: Vec<Ttl> = head.found().filter_map(|found| found.ttl).collect();
    head.bearers().try_for_each(may_stand)?;
    let mut last = None;
    for element in 0..asked.len() {
        let (raw, _) = asked.element(element).unwrap_or_default();
        let content = scan::message(raw).map_err(NotAConversation::from)?.content;
        content.blocks().iter().try_for_each(may_stand)?;
        lifetimes.extend(content.found().filter_map(|found| found.ttl));
        last = last_markable(&content).or(last);
    }
    let automatic = outline.members.automatic.clone();
    let automatic = automatic.and_then(|span| cache_control::marker(body.get(span)?).ttl);
    match (automatic, last) {
        (Some(ttl), Some(Some(there))) if there != ttl => return Err(BreakpointError::Disagree),
        (Some(ttl), Some(None)) => lifetimes.push(ttl),
        _ => {}
    }
    match lifetimes.len() {
        many if many > MOST_MARKERS => Err(BreakpointError::TooMany(many)),
        _ if !lifetimes.is_sorted_by(|a, b| a >= b) => Err(BreakpointError::LongBehindShort),
        few => Ok(few),
    }
}

/// The breakpoint of the last block that automatic caching could mark; the outer `None` means there is no such block.
fn last_markable(content: &ScannedContent) -> Option<Option<Ttl>> {
    match content {
        ScannedContent::Nothing => None,
        ScannedContent::Plain(_) => content.can_bear(0).then_some(None),
        ScannedContent::Blocks(blocks) => {
            let able = |block: &&CacheableBlock| {
                !matches!(
                    block.kind,
                    CacheableKind::Thinking | CacheableKind::EmptyText
                )
            };
            let last = blocks.iter().rfind(able)?;
            Some(last.own.iter().find_map(|found| found.ttl))
        }
    }
}

fn may_stand(bearer: &CacheableBlock) -> Result<(), BreakpointError> {
    let marked = bearer.own.iter().any(|found| found.ttl.is_some());
    match bearer.kind {
        CacheableKind::Thinking if marked => Err(BreakpointError::OnThinking),
        CacheableKind::EmptyText if marked => Err(BreakpointError::OnEmptyText),
        CacheableKind::DeferredTool if marked => Err(BreakpointError::OnDeferredTool),
        _ => Ok(()),
    }
}
