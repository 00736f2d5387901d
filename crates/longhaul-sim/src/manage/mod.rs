//! Server-side context management (API-FACTS §2.1 to 2.3): what the provider removes from a prompt before the model
//! sees it, and the summaries it makes.
//!
//! `config` reads the request's parameters; `clear_thinking` and `clear_tools` decide what to remove; `summary` asks
//! the model for a summary and reads it; `compaction` holds the rules of compaction on demand; `cache_edits` is an
//! extension of this simulator. The client keeps its full history: all of this is done again for each request.

pub mod cache_edits;
mod clear_thinking;
mod clear_tools;
pub mod compaction;
mod config;
pub mod summary;

pub(crate) use config::{ClearingEdit, ContextManagement, ThresholdCompaction};

use serde_json::Value;

use crate::call::ApiError;
use crate::prompt::BlockChanges;
use crate::prompt::layout::PromptLayout;
use crate::prompt::scheme::LayoutScheme;
use crate::request::MessagesRequest;
use crate::tokens::TokenCounter;

/// A request after clearing.
#[derive(Debug, Clone)]
pub(crate) struct ClearedRequest {
    /// What the model sees; `None` if it sees the whole request.
    pub shown: Option<(MessagesRequest, PromptLayout)>,
    /// The field `applied_edits` of the reply.
    pub applied: Vec<Value>,
}

/// What an edit would remove.
#[derive(Debug, Default)]
struct ClearingDecision {
    changes: BlockChanges,
    /// The number of turns or calls that it affects.
    count: usize,
}

/// Applies the clearing edits of a request in order, after the removals that happen in any case.
pub(crate) fn clear(
    config: &ContextManagement,
    request: &MessagesRequest,
    layout: &PromptLayout,
    left_out: BlockChanges,
    scheme: LayoutScheme<'_>,
    counter: &mut TokenCounter,
) -> Result<ClearedRequest, ApiError> {
    let mut applied = Vec::new();
    let mut changes = left_out;
    let mut shown: Option<PromptLayout> = if changes.0.is_empty() {
        None
    } else {
        Some(layout.edited(request, &changes, scheme, counter)?)
    };
    for edit in &config.clear {
        let before = shown.as_ref().unwrap_or(layout).prompt.tokens;
        let decided = match edit {
            ClearingEdit::Thinking(edit) => clear_thinking::decide(edit, request, scheme.spec),
            ClearingEdit::ToolUses(edit) => clear_tools::decide(edit, request, before),
        };
        if decided.changes.0.is_empty() {
            continue;
        }
        let mut all = changes.clone();
        all.0.extend(decided.changes.0);
        let edited = layout.edited(request, &all, scheme, counter)?;
        let gone = before.saturating_sub(edited.prompt.tokens);
        if gone < edit.at_least() {
            continue;
        }
        applied.push(edit.report(decided.count, gone));
        (changes, shown) = (all, Some(edited));
    }
    Ok(ClearedRequest {
        shown: shown.map(|layout| (changes.applied(request), layout)),
        applied,
    })
}
