//! What changed between two requests, in the order in which the provider reads them.

use super::change::{Change, Flip, SystemEdit};
use super::edits::{Shown, message_changes};
use super::messages::Position;
use super::sent::{Flags, Head, Mark, SystemPart, ToolPart, ToolPlace};
use crate::hash::Map;
use crate::models::ModelSpec;

/// One of two requests that are compared.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) head: &'a Head,
    pub(super) flags: &'a Flags,
    pub(super) positions: &'a [Position],
    pub(super) marks: &'a [(usize, Mark)],
}

/// Everything that differs and may matter to the cache. What cannot break it is left out: markers that moved within
/// reach, defaults spelled out, deferred tools, what was appended, whatever lies behind the last marker.
pub(super) fn changes(before: Side<'_>, after: Side<'_>, spec: Option<&ModelSpec>) -> Vec<Change> {
    let (old, new) = (before.head, after.head);
    let was = Shown::of(before.positions, before.marks, spec);
    let is = Shown::of(after.positions, after.marks, spec);
    let messages_cached = !was.cached().is_empty();
    let mut changes = Vec::new();
    if old.model != new.model {
        changes.push(Change::Model {
            from: old.model.clone(),
            to: new.model.clone(),
        });
    }
    if old.betas != new.betas {
        changes.push(Change::Betas {
            added: new.betas.difference(&old.betas).cloned().collect(),
            removed: old.betas.difference(&new.betas).cloned().collect(),
        });
    }
    changes.extend(tools(old, new));
    changes.extend(web_search(old, new));
    changes.extend(speed(old, new));
    changes.extend(flip(&was, &is, |at| at.traits.citations).map(Change::Citations));
    if old.format != new.format {
        changes.push(Change::Format {
            from: old.format.clone(),
            to: new.format.clone(),
        });
    }
    changes.extend(system(old, new, messages_cached));
    if messages_cached {
        changes.extend(settings(old, new, spec));
        let edits = message_changes(&was, &is);
        let names_image =
            |change: &Change| matches!(change, Change::Message(edit) if edit.image_removed);
        if !edits.iter().any(names_image) {
            changes.extend(flip(&was, &is, |at| at.traits.image).map(Change::Images));
        }
        changes.extend(edits);
    } else if marked(old) && !marked(new) && is.marks.is_empty() {
        changes.push(Change::Unmarked);
    }
    changes.extend(suspects(before, after));
    changes
}

fn flip(was: &Shown<'_>, is: &Shown<'_>, has: fn(&Position) -> bool) -> Option<Flip> {
    let any = |side: &Shown<'_>| side.positions.iter().any(|at| has(at));
    match (any(was), any(is)) {
        (false, true) => Some(Flip::On),
        (true, false) => Some(Flip::Off),
        _ => None,
    }
}

fn marked(head: &Head) -> bool {
    head.system.iter().any(|part| part.mark.is_some())
        || head.tools.iter().any(|tool| tool.mark.is_some())
}

/// Tools by name; of tools that share one, by their order.
fn tools(old: &Head, new: &Head) -> Option<Change> {
    type Named<'a> = Map<(&'a str, usize), (usize, &'a ToolPart)>;
    fn named(head: &Head) -> (Vec<(&str, usize)>, Named<'_>) {
        let mut seen: Map<&str, usize> = Map::default();
        let mut order = Vec::new();
        let mut by_name = Named::default();
        for (at, tool) in head.tools_at(ToolPlace::Definitions).enumerate() {
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
    Some(Change::Tools {
        added,
        removed,
        edited,
        moved,
    })
}

fn web_search(old: &Head, new: &Head) -> Option<Change> {
    let hashes = |head: &Head| -> Vec<u128> {
        head.tools_at(ToolPlace::System)
            .map(|tool| tool.hash)
            .collect()
    };
    let (was, is) = (hashes(old), hashes(new));
    (was != is).then_some(Change::WebSearch(match is.is_empty() {
        true => Flip::Off,
        false => Flip::On,
    }))
}

fn speed(old: &Head, new: &Head) -> Option<Change> {
    let speed = |head: &Head| head.speed.clone().unwrap_or_else(|| "standard".to_owned());
    let (from, to) = (speed(old), speed(new));
    (from != to).then_some(Change::Speed { from, to })
}

/// Blocks of the system prompt that differ, as far as they were cached.
fn system(old: &Head, new: &Head, all_cached: bool) -> Option<Change> {
    let cached = match all_cached {
        true => old.system.len(),
        false => (old.system.iter())
            .rposition(|part| part.mark.is_some())
            .map_or(0, |last| last + 1),
    };
    let hashes = |parts: &[SystemPart]| parts.iter().map(|part| part.hash).collect::<Vec<_>>();
    let (was, is) = (hashes(&old.system[..cached]), hashes(&new.system));
    // Without messages behind it, what is appended to the system prompt changes nothing before it.
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
    Some(Change::System(edits))
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

/// Settings that are part of the key from the messages on.
fn settings(old: &Head, new: &Head, spec: Option<&ModelSpec>) -> Vec<Change> {
    let mut changes = Vec::new();
    if old.tool_choice != new.tool_choice {
        changes.push(Change::ToolChoice {
            from: old.tool_choice.clone(),
            to: new.tool_choice.clone(),
        });
    }
    if old.thinking != new.thinking {
        changes.push(Change::Thinking {
            from: old.thinking.clone(),
            to: new.thinking.clone(),
        });
    }
    let default = spec.map_or("default", |spec| spec.default_effort.name());
    let effort = |head: &Head| head.effort.clone().unwrap_or_else(|| default.to_owned());
    let (from, to) = (effort(old), effort(new));
    // Between models the defaults differ; the model is the change then.
    if from != to && (old.model == new.model || (old.effort.is_some() && new.effort.is_some())) {
        changes.push(Change::Effort { from, to });
    }
    changes
}

/// What is not known to be part of the key.
fn suspects(before: Side<'_>, after: Side<'_>) -> Vec<Change> {
    let (old, new) = (before.head, after.head);
    let mut changes = Vec::new();
    let pairs = |from: &Flags, to: &Flags| -> Vec<(String, Option<String>, Option<String>)> {
        let names = from
            .keys()
            .chain(to.keys().filter(|name| !from.contains_key(*name)));
        names
            .filter(|name| from.get(*name) != to.get(*name))
            .map(|name| (name.clone(), from.get(name).cloned(), to.get(name).cloned()))
            .collect()
    };
    for (name, from, to) in pairs(&old.extra, &new.extra) {
        changes.push(Change::Extra { name, from, to });
    }
    let pair = level_marks(before).into_iter().zip(level_marks(after));
    let both = pair.filter_map(|(was, is)| was.zip(is));
    for (was, is) in both {
        if was.ttl != is.ttl {
            changes.push(Change::Ttl {
                from: was.ttl,
                to: is.ttl,
            });
        }
        if was.scope != is.scope {
            changes.push(Change::Scope {
                from: was.scope.clone(),
                to: is.scope.clone(),
            });
        }
    }
    changes.dedup();
    for (name, from, to) in pairs(before.flags, after.flags) {
        changes.push(Change::Flag { name, from, to });
    }
    changes
}

/// The last marker of each level: tools, system, messages.
pub(super) fn level_marks(side: Side<'_>) -> [Option<&Mark>; 3] {
    let tools = side.head.tools.iter().rev();
    let system = side.head.system.iter().rev();
    [
        tools.filter_map(|tool| tool.mark.as_ref()).next(),
        system.filter_map(|part| part.mark.as_ref()).next(),
        side.marks.last().map(|(_, mark)| mark),
    ]
}
