//! Finds the changes in the request prefix: tool definitions and the system prompt.

use super::change::{PresenceChange, RequestChange, SystemEdit};
use super::fingerprint::{PrefixFingerprint, SystemPart, ToolPart, ToolPlacement};
use crate::hash::Map;

/// Compares tools by name; tools that share a name are compared by their order.
pub(super) fn tools(old: &PrefixFingerprint, new: &PrefixFingerprint) -> Option<RequestChange> {
    type Named<'a> = Map<(&'a str, usize), (usize, &'a ToolPart)>;
    fn named(head: &PrefixFingerprint) -> (Vec<(&str, usize)>, Named<'_>) {
        let mut seen: Map<&str, usize> = Map::default();
        let mut order = Vec::new();
        let mut by_name = Named::default();
        for (at, tool) in head.tools_at(ToolPlacement::Definitions).enumerate() {
            let nth = seen.entry(&tool.name).or_default();
            order.push((tool.name.as_str(), *nth));
            by_name.insert((&tool.name, *nth), (at, tool));
            *nth += 1;
        }
        (order, by_name)
    }
    let ((old_order, old), (new_order, new)) = (named(old), named(new));
    let names = |order: &[(&str, usize)], keep: &dyn Fn(&(&str, usize)) -> bool| -> Vec<String> {
        let kept = order.iter().filter(|key| keep(key));
        kept.map(|(name, _)| (*name).to_owned()).collect()
    };
    let added = names(&new_order, &|key| !old.contains_key(key));
    let removed = names(&old_order, &|key| !new.contains_key(key));
    let hash = |tools: &Named<'_>, key: &(&str, usize)| tools.get(key).map(|(_, tool)| tool.hash);
    let edited = names(&new_order, &|key| {
        old.contains_key(key) && hash(&old, key) != hash(&new, key)
    });
    let mut moved = Vec::new();
    if added.is_empty() && removed.is_empty() && edited.is_empty() {
        let place = |tools: &Named<'_>, key: &(&str, usize)| tools.get(key).map(|(at, _)| *at);
        moved = names(&new_order, &|key| place(&old, key) != place(&new, key));
    }
    let any = [&added, &removed, &edited, &moved];
    any.iter().any(|names| !names.is_empty()).then_some(())?;
    Some(RequestChange::Tools {
        added,
        removed,
        edited,
        moved,
    })
}

pub(super) fn web_search(
    old: &PrefixFingerprint,
    new: &PrefixFingerprint,
) -> Option<RequestChange> {
    let hashes = |head: &PrefixFingerprint| -> Vec<u128> {
        head.tools_at(ToolPlacement::System)
            .map(|tool| tool.hash)
            .collect()
    };
    let (was, is) = (hashes(old), hashes(new));
    (was != is).then_some(RequestChange::WebSearch(if is.is_empty() {
        PresenceChange::Off
    } else {
        PresenceChange::On
    }))
}

pub(super) fn speed(old: &PrefixFingerprint, new: &PrefixFingerprint) -> Option<RequestChange> {
    let speed =
        |head: &PrefixFingerprint| head.speed.clone().unwrap_or_else(|| "standard".to_owned());
    let (from, to) = (speed(old), speed(new));
    (from != to).then_some(RequestChange::Speed { from, to })
}

/// Blocks of the system prompt that differ, as far as they were cached.
pub(super) fn system(
    old: &PrefixFingerprint,
    new: &PrefixFingerprint,
    all_cached: bool,
) -> Option<RequestChange> {
    let cached = if all_cached {
        old.system.len()
    } else {
        (old.system.iter())
            .rposition(|part| part.mark.is_some())
            .map_or(0, |last| last + 1)
    };
    let hashes = |parts: &[SystemPart]| parts.iter().map(|part| part.hash).collect::<Vec<_>>();
    let (was, is) = (hashes(&old.system[..cached]), hashes(&new.system));
    // If no messages follow, text that is appended to the system prompt changes nothing before it.
    if was == is || (!all_cached && is.starts_with(&was)) {
        return None;
    }
    let mut edits = Vec::new();
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &was, &is) {
        let (gone, come) = (op.old_range(), op.new_range());
        if matches!(op, similar::DiffOp::Equal { .. }) {
            continue;
        }
        for nth in 0..gone.len().max(come.len()) {
            let before = gone.clone().nth(nth).and_then(|at| old.system.get(at));
            let after = come.clone().nth(nth).and_then(|at| new.system.get(at));
            let block = gone.clone().nth(nth).unwrap_or(come.start + nth);
            edits.extend(block_edits(block, before, after));
        }
    }
    Some(RequestChange::System(edits))
}

fn block_edits(
    block: usize,
    before: Option<&SystemPart>,
    after: Option<&SystemPart>,
) -> Vec<SystemEdit> {
    let (Some(was), Some(is)) = (before, after) else {
        return vec![SystemEdit {
            block,
            section: None,
            before: before.map(|part| part.chars),
            after: after.map(|part| part.chars),
        }];
    };
    let find = |part: &SystemPart, name: &str| {
        let mut sections = part.sections.iter();
        sections.find(|section| section.name == name).cloned()
    };
    let mut edits = Vec::new();
    let gone = (was.sections.iter()).filter(|section| find(is, &section.name).is_none());
    for section in is.sections.iter().chain(gone) {
        let (before, after) = (find(was, &section.name), find(is, &section.name));
        if before.as_ref().map(|s| s.hash) != after.as_ref().map(|s| s.hash) {
            edits.push(SystemEdit {
                block,
                section: Some(section.name.clone()),
                before: before.map(|section| section.chars),
                after: after.map(|section| section.chars),
            });
        }
    }
    if edits.is_empty() {
        edits.push(SystemEdit {
            block,
            section: None,
            before: Some(was.chars),
            after: Some(is.chars),
        });
    }
    edits
}
