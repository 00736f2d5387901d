//! Cache edits by reference (SPEC N4): an extension of this simulator, announced in a header of every reply.
//!
//! `cache_edits: [{"type":"delete","tool_use_id":"toolu_…"}]` removes the results of those calls from the cached prefix
//! without changing it: the request repeats its bytes as they were sent, the prefix still matches, and the removed
//! results are neither shown to the model nor billed. Only content that is read from the cache can be removed; the rest
//! is billed as it is and reported in the reply as not cached. A client repeats its edits with every request.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::clear_tools::PLACEHOLDER;
use crate::prompt::layout::PromptLayout;
use crate::prompt::{BlockChange, BlockChanges};
use crate::request::{ApiBlock, MessagesRequest};

/// The header that announces the extension.
pub(crate) const HEADER: &str = "longhaul-capabilities";
/// The value of the header.
pub(crate) const CAPABILITY: &str = "cache-edits";
pub use crate::request::CACHE_EDITS_BETA as BETA;

/// The result of applying cache edits to a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct CacheEditResult {
    /// The tokens removed from the prefix that was read.
    pub tokens: u64,
    /// The blocks that the model does not see.
    pub changes: BlockChanges,
    /// The report in the reply.
    pub report: Vec<Value>,
}

/// A tool result in the prompt.
struct FoundToolResult<'a> {
    index: usize,
    tokens: u64,
    place: (usize, usize),
    block: &'a ApiBlock,
}

/// The calls whose results a request wants removed; `None` if it does not use the extension.
pub(crate) fn requested_deletions(request: &MessagesRequest) -> Option<Vec<&str>> {
    let edits = request.fields.get("cache_edits")?.as_array()?;
    let ids = edits.iter().filter_map(|edit| edit.get("tool_use_id"));
    Some(ids.filter_map(Value::as_str).collect())
}

/// Removes results from the part that was read: the first `read` positions.
pub(crate) fn delete(
    request: &MessagesRequest,
    layout: &PromptLayout,
    read: usize,
    ids: &[&str],
) -> CacheEditResult {
    let mut results: BTreeMap<&str, FoundToolResult<'_>> = BTreeMap::new();
    for (index, position) in layout.prompt.positions.iter().enumerate() {
        let Some((place, block)) = layout.block_at(request, index) else {
            continue;
        };
        if let (true, Some(id)) = (block.kind == "tool_result", block.text("tool_use_id")) {
            let tokens = position.tokens;
            results.insert(
                id,
                FoundToolResult {
                    index,
                    tokens,
                    place,
                    block,
                },
            );
        }
    }
    let mut deleted = CacheEditResult::default();
    for &id in ids {
        let status = match results.get(id) {
            None => "not_found",
            Some(found) if found.index >= read => "not_cached",
            Some(FoundToolResult {
                tokens,
                place,
                block,
                ..
            }) => {
                let fields = &block.fields;
                let hidden =
                    super::clear_tools::rewritten(fields, block, "content", PLACEHOLDER.into());
                let new = deleted
                    .changes
                    .0
                    .insert(*place, BlockChange::Replace(hidden));
                deleted.tokens += if new.is_none() { *tokens } else { 0 };
                "deleted"
            }
        };
        deleted
            .report
            .push(json!({ "tool_use_id": id, "status": status }));
    }
    deleted
}
