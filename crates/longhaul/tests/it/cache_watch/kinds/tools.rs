//! Changes of tools.

use longhaul_core::cache::{PresenceChange, RequestChange};
use serde_json::json;

use super::{Kind, SYSTEM, TOOLS, is, kind};
use crate::cache_watch::session::tool;

pub(super) fn kinds() -> Vec<Kind> {
    vec![
        kind(
            "tool added behind",
            TOOLS,
            |s| {
                let new = tool("mcp__jira__search", &mut s.chance);
                s.tools.push(new);
            },
            |cause, words| {
                words.contains("tools +1 (mcp__jira__search)")
                    && is(cause, |c| matches!(c, RequestChange::Tools { .. }))
            },
        ),
        kind(
            "tool added before",
            TOOLS,
            |s| {
                let new = tool("aaa", &mut s.chance);
                s.tools.insert(0, new);
            },
            |_, words| words.contains("tools +1 (aaa)"),
        ),
        kind(
            "tool removed",
            TOOLS,
            |s| {
                s.tools.remove(1);
            },
            |_, words| words.contains("tools −1 (tool_1)"),
        ),
        kind(
            "tools reordered",
            TOOLS,
            |s| s.tools.swap(0, 2),
            |_, words| words.contains("tools reordered (tool_2, tool_0)"),
        ),
        kind(
            "tool described otherwise",
            TOOLS,
            |s| s.tools[2]["description"] = json!("Finds things."),
            |_, words| words.contains("tools edited (tool_2)"),
        ),
        kind(
            "tool schema edited",
            TOOLS,
            |s| s.tools[1]["input_schema"]["required"] = json!([]),
            |_, words| words.contains("tools edited (tool_1)"),
        ),
        kind(
            "tool schema in another order",
            TOOLS,
            |s| {
                let schema = &s.tools[1]["input_schema"];
                let from = schema.to_string();
                let to = format!(
                    "{{\"properties\":{},\"type\":\"object\",\"required\":[\"path\"]}}",
                    schema["properties"]
                );
                assert_ne!(from, to);
                s.replaced.push((from, to));
            },
            |_, words| words.contains("tools edited (tool_1)"),
        ),
        kind(
            "tool renamed",
            TOOLS,
            |s| s.tools[2]["name"] = json!("renamed"),
            |_, words| words.contains("tools +1 (renamed), −1 (tool_2)"),
        ),
        kind(
            "deferred tool made an ordinary one",
            TOOLS,
            |s| {
                s.tools
                    .last_mut()
                    .unwrap()
                    .as_object_mut()
                    .unwrap()
                    .remove("defer_loading");
            },
            |_, words| words.contains("tools +1 (far)"),
        )
        .prepared(|s| {
            let mut far = tool("far", &mut s.chance);
            far["defer_loading"] = json!(true);
            s.tools.push(far);
        }),
        kind(
            "web search on",
            SYSTEM,
            |s| {
                s.tools
                    .push(json!({ "type": "web_search_20250305", "name": "web_search" }))
            },
            |cause, _| {
                is(cause, |c| {
                    *c == RequestChange::WebSearch(PresenceChange::On)
                })
            },
        ),
    ]
}
