//! What has come and gone among tools, agents and servers since the model was last told.

use super::fields::lines;
use crate::json::Object;
use crate::normalize::fragment::fill;
use crate::quoting::quoted;

/// What the model is told of a change.
pub(super) fn tell(kind: &str, attachment: Object<'_>) -> Option<String> {
    let (fragment, added, removed) = match kind {
        "deferred_tools_delta" => (
            include_str!("fragments/tools_delta.txt"),
            ["addedLines", "addedNames"],
            "removedNames",
        ),
        "agent_listing_delta" => (
            include_str!("fragments/agents_delta.txt"),
            ["addedLines", "addedTypes"],
            "removedTypes",
        ),
        "mcp_instructions_delta" => (
            include_str!("fragments/servers_delta.txt"),
            ["addedBlocks", "addedNames"],
            "removedNames",
        ),
        _ => return None,
    };
    let is_list = |name: &str| attachment.strings(name).is_some();
    let added = added.into_iter().find(|name| is_list(name));
    if added.is_none() && !is_list(removed) {
        return None;
    }
    let added = added.map_or_else(|| "-".into(), |name| lines(attachment, name));
    let removed = lines(attachment, removed);
    Some(fill(
        fragment,
        &[("added", &quoted(&added)), ("removed", &quoted(&removed))],
    ))
}
