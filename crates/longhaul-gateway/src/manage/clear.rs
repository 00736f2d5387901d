//! Clears old tool results (U3, U5): the core chooses them, and a placeholder replaces them in the client's own bytes.
//!
//! The caller decides whether it is time to clear: after an idle hour, or when the window fills up. What the client
//! sends never changes, so results that were cleared before are cleared again each time.

use std::collections::BTreeSet;

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::history::ClearingReason;
use longhaul_core::micro::{
    CacheState, MicroLimits, MicroSituation, MicroStep, PlannedClearing, PressureOwner,
    ToolResults, choose,
};
use longhaul_core::report::{LossReport, ResultLoss, ViewTokens};

use super::cleared_results::without_results;
use super::entries::ConversationEntries;
use super::settings::CompactorSettings;
use super::weight::ConversationTokenCount;
use super::{CompactableConversation, CompactedDraft};
use crate::store::CompactedPrefixKind;

/// A conversation with old results cleared; `None` if there is nothing worth clearing.
pub fn clear(
    conversation: &CompactableConversation,
    why: ClearingReason,
    settings: &CompactorSettings,
) -> Option<CompactedDraft> {
    let read = ConversationEntries::of(conversation, None, settings.now).ok()?;
    let mut results = ToolResults::new(settings.clearable.clone());
    for entry in &read.entries {
        results.push(entry.view());
    }
    let scales = ConversationTokenCount::of(conversation, settings);
    let clearing = chosen(&results, scales.before, why, conversation, settings)?;
    let new = clearing.results.iter().map(|result| result.call.as_str());
    let old = conversation.cleared.iter().map(String::as_str);
    let gone: BTreeSet<&str> = old.chain(new).collect();
    let elements = conversation.elements.iter();
    let rest: Vec<Bytes> = elements
        .map(|element| without_results(conversation.dialect, element, &gone))
        .collect();
    let sent = conversation
        .summary
        .iter()
        .chain(&rest)
        .map(|element| &element[..]);
    let (before, after) = (scales.before, scales.with(sent));
    let mut cleared = conversation.cleared.clone();
    cleared.extend(clearing.results.iter().map(|result| result.call.clone()));
    Some(CompactedDraft {
        kind: CompactedPrefixKind::Cleared,
        conversation: CompactableConversation {
            elements: rest,
            cleared,
            measured: None,
            ..conversation.clone()
        },
        summarized: 0,
        before,
        after,
        report: report(&clearing, before, after),
        usage: None,
    })
}

fn chosen(
    results: &ToolResults,
    used: u64,
    why: ClearingReason,
    conversation: &CompactableConversation,
    settings: &CompactorSettings,
) -> Option<PlannedClearing> {
    let window = settings.window(&conversation.model).ok()?;
    // Idleness was checked before: here, any gap will do.
    let rested = Timestamp::UNIX_EPOCH;
    let limits = &MicroLimits {
        idle_minutes: 1,
        ..settings.config.micro
    };
    let status = window.at(used.max(window.warning));
    let step = choose(&MicroSituation {
        results,
        status: &status,
        last_reply: (why == ClearingReason::Idle).then_some(rested),
        now: settings.now,
        cache: CacheState::Cold,
        cached: None,
        pressure: PressureOwner::Ours,
        limits,
    });
    match step {
        MicroStep::Clear(clearing) if !clearing.results.is_empty() => Some(clearing),
        _ => None,
    }
}

fn report(clearing: &PlannedClearing, before: u64, after: u64) -> LossReport {
    LossReport {
        tokens: ViewTokens { before, after },
        results: ResultLoss {
            cleared: clearing.results.len() as u64,
            archived: 0,
        },
        notes: vec![format!(
            "{} old tool results are no longer sent; the client has them.",
            clearing.results.len()
        )],
        ..LossReport::default()
    }
}
