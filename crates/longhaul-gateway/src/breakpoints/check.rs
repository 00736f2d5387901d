//! What the API would refuse about the markers of a request.

use longhaul_core::prompt::{MOST_MARKERS, Ttl};

use super::cache_control;
use super::prefix::ScannedPrefix;
use super::request::BreakpointRequest;
use super::scan::{self, CacheableBlock, CacheableKind, ScannedContent};
use crate::body::{self, NotAConversation};

/// Why the API would refuse a request for its markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BreakpointError {
    /// It cannot be told.
    #[error(transparent)]
    Unreadable(#[from] NotAConversation),
    /// There are more than four.
    #[error("{0} cache markers are more than the {MOST_MARKERS} that the API takes")]
    TooMany(usize),
    /// One of an hour comes behind one of five minutes.
    #[error("a cache marker of an hour comes behind one of five minutes")]
    LongBehindShort,
    /// Automatic caching asks for another lifetime than the marker on the last block.
    #[error("automatic caching and the marker on the last block ask for different lifetimes")]
    Disagree,
    /// One stands on thinking.
    #[error("a cache marker stands on thinking")]
    OnThinking,
    /// One stands on empty text.
    #[error("a cache marker stands on empty text")]
    OnEmptyText,
    /// One stands on a tool that is not in the prompt.
    #[error("a cache marker stands on a tool whose loading is deferred")]
    OnDeferredTool,
}

/// How many markers a whole body has, automatic caching included, if the API takes them. Scans all of it.
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

/// The marker of the last block that automatic caching could mark; outer none if there is no such block.
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
