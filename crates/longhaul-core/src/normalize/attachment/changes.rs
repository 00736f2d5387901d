//! Attachments that announce which tools, agents and servers were added or removed.

use super::fields::text_or_lines;
use crate::json::ObjectReader;
use crate::normalize::fragment::fill;
use crate::quoting::quoted;

const NEW: &str = include_str!("fragments/delta_new.txt");
const NEW_SERVERS: &str = include_str!("fragments/delta_new_servers.txt");
const GONE: &str = include_str!("fragments/delta_gone.txt");

/// One kind of change: its wording and the fields it is read from.
struct ListChange {
    opening: &'static str,
    new: &'static str,
    /// The first of these fields that is a list holds the additions.
    added: [&'static str; 2],
    removed: &'static str,
}

/// Returns the text for a change. An empty list gets no heading.
pub(super) fn tell(kind: &str, attachment: ObjectReader<'_>) -> Option<String> {
    let delta = delta(kind)?;
    let is_list = |name: &str| attachment.strings(name).is_some();
    let added = delta.added.into_iter().find(|name| is_list(name));
    if added.is_none() && !is_list(delta.removed) {
        return None;
    }
    let added = added.and_then(|name| text_or_lines(attachment, name));
    let removed = text_or_lines(attachment, delta.removed);
    let mut told = vec![delta.opening.trim_end().to_owned()];
    told.extend(added.map(|added| fill(delta.new, &[("added", &quoted(&added))])));
    told.extend(removed.map(|removed| fill(GONE, &[("removed", &quoted(&removed))])));
    Some(told.join("\n"))
}

fn delta(kind: &str) -> Option<ListChange> {
    match kind {
        "deferred_tools_delta" => Some(ListChange {
            opening: include_str!("fragments/tools_delta.txt"),
            new: NEW,
            added: ["addedLines", "addedNames"],
            removed: "removedNames",
        }),
        "agent_listing_delta" => Some(ListChange {
            opening: include_str!("fragments/agents_delta.txt"),
            new: NEW,
            added: ["addedLines", "addedTypes"],
            removed: "removedTypes",
        }),
        "mcp_instructions_delta" => Some(ListChange {
            opening: include_str!("fragments/servers_delta.txt"),
            new: NEW_SERVERS,
            added: ["addedBlocks", "addedNames"],
            removed: "removedNames",
        }),
        _ => None,
    }
}
