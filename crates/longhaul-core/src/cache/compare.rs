//! Finds the changes between two requests, in the order in which the provider reads them.

use super::breakpoint::CacheBreakpoint;
use super::change::{PresenceChange, RequestChange};
use super::definitions::{speed, system, tools, web_search};
use super::edits::{VisiblePositions, message_changes};
use super::fingerprint::{HostModes, PrefixFingerprint};
use super::messages::CachePosition;
use crate::models::ModelSpec;

/// One of two compared requests.
#[derive(Clone, Copy)]
pub(super) struct ComparedRequest<'a> {
    pub(super) prefix: &'a PrefixFingerprint,
    pub(super) flags: &'a HostModes,
    pub(super) positions: &'a [CachePosition],
    pub(super) breakpoints: &'a [(usize, CacheBreakpoint)],
}

/// Everything that differs and may matter to the cache. Differences that cannot break it are left out: breakpoints that
/// moved within reach, explicit defaults, deferred tools, appended content, and anything after the last breakpoint.
pub(super) fn changes(
    before: ComparedRequest<'_>,
    after: ComparedRequest<'_>,
    spec: Option<&ModelSpec>,
) -> Vec<RequestChange> {
    let (old, new) = (before.prefix, after.prefix);
    let was = VisiblePositions::of(before.positions, before.breakpoints, spec);
    let is = VisiblePositions::of(after.positions, after.breakpoints, spec);
    let messages_cached = !was.cached().is_empty();
    let mut changes = Vec::new();
    if old.model != new.model {
        changes.push(RequestChange::Model {
            from: old.model.clone(),
            to: new.model.clone(),
        });
    }
    if old.betas != new.betas {
        changes.push(RequestChange::Betas {
            added: new.betas.difference(&old.betas).cloned().collect(),
            removed: old.betas.difference(&new.betas).cloned().collect(),
        });
    }
    changes.extend(tools(old, new));
    changes.extend(web_search(old, new));
    changes.extend(speed(old, new));
    changes.extend(flip(&was, &is, |at| at.traits.citations).map(RequestChange::Citations));
    if old.format != new.format {
        changes.push(RequestChange::Format {
            from: old.format.clone(),
            to: new.format.clone(),
        });
    }
    changes.extend(system(old, new, messages_cached));
    if messages_cached {
        changes.extend(settings(old, new, spec));
        let edits = message_changes(&was, &is);
        let names_image = |change: &RequestChange| matches!(change, RequestChange::Message(edit) if edit.image_removed);
        if !edits.iter().any(names_image) {
            changes.extend(flip(&was, &is, |at| at.traits.image).map(RequestChange::Images));
        }
        changes.extend(edits);
    } else if marked(old) && !marked(new) && is.marks.is_empty() {
        changes.push(RequestChange::Unmarked);
    }
    changes.extend(suspects(before, after));
    changes
}

fn flip(
    was: &VisiblePositions<'_>,
    is: &VisiblePositions<'_>,
    has: fn(&CachePosition) -> bool,
) -> Option<PresenceChange> {
    let any = |side: &VisiblePositions<'_>| side.positions.iter().any(|at| has(at));
    match (any(was), any(is)) {
        (false, true) => Some(PresenceChange::On),
        (true, false) => Some(PresenceChange::Off),
        _ => None,
    }
}

fn marked(head: &PrefixFingerprint) -> bool {
    head.system.iter().any(|part| part.mark.is_some())
        || head.tools.iter().any(|tool| tool.mark.is_some())
}

/// Settings that are part of the key from the messages on.
fn settings(
    old: &PrefixFingerprint,
    new: &PrefixFingerprint,
    spec: Option<&ModelSpec>,
) -> Vec<RequestChange> {
    let mut changes = Vec::new();
    if old.tool_choice != new.tool_choice {
        changes.push(RequestChange::ToolChoice {
            from: old.tool_choice.clone(),
            to: new.tool_choice.clone(),
        });
    }
    if old.thinking != new.thinking {
        changes.push(RequestChange::Thinking {
            from: old.thinking.clone(),
            to: new.thinking.clone(),
        });
    }
    let default = spec.map_or("default", |spec| spec.default_effort.name());
    let effort =
        |head: &PrefixFingerprint| head.effort.clone().unwrap_or_else(|| default.to_owned());
    let (from, to) = (effort(old), effort(new));
    // Models have different defaults; in that case the model is the change.
    if from != to && (old.model == new.model || (old.effort.is_some() && new.effort.is_some())) {
        changes.push(RequestChange::Effort { from, to });
    }
    changes
}

/// Differences that are not known to be part of the key.
fn suspects(before: ComparedRequest<'_>, after: ComparedRequest<'_>) -> Vec<RequestChange> {
    let (old, new) = (before.prefix, after.prefix);
    let mut changes = Vec::new();
    let pairs =
        |from: &HostModes, to: &HostModes| -> Vec<(String, Option<String>, Option<String>)> {
            let names = from
                .keys()
                .chain(to.keys().filter(|name| !from.contains_key(*name)));
            names
                .filter(|name| from.get(*name) != to.get(*name))
                .map(|name| (name.clone(), from.get(name).cloned(), to.get(name).cloned()))
                .collect()
        };
    for (name, from, to) in pairs(&old.extra, &new.extra) {
        changes.push(RequestChange::Extra { name, from, to });
    }
    let pair = level_marks(before).into_iter().zip(level_marks(after));
    let both = pair.filter_map(|(was, is)| was.zip(is));
    for (was, is) in both {
        if was.ttl != is.ttl {
            changes.push(RequestChange::Ttl {
                from: was.ttl,
                to: is.ttl,
            });
        }
        if was.scope != is.scope {
            changes.push(RequestChange::Scope {
                from: was.scope.clone(),
                to: is.scope.clone(),
            });
        }
    }
    changes.dedup();
    for (name, from, to) in pairs(before.flags, after.flags) {
        changes.push(RequestChange::Flag { name, from, to });
    }
    changes
}

/// The last breakpoint of each level: tools, system, messages.
pub(super) fn level_marks(side: ComparedRequest<'_>) -> [Option<&CacheBreakpoint>; 3] {
    let tools = side.prefix.tools.iter().rev();
    let system = side.prefix.system.iter().rev();
    [
        tools.filter_map(|tool| tool.mark.as_ref()).next(),
        system.filter_map(|part| part.mark.as_ref()).next(),
        side.breakpoints.last().map(|(_, mark)| mark),
    ]
}
