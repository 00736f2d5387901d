//! The rules of compaction on demand, and of the signed block in later requests (API-FACTS §2.3), as far as `validate/`
//! does not check them with all others.

use serde_json::Value;

use crate::call::ApiError;
use crate::request::{ApiRole, MessagesRequest};
use crate::thinking::SigningSecret;

/// The beta that goes with `compaction` and with every request that carries a signed block.
pub const BETA: &str = "compact-2026-09-04";
/// The maximum number of tool references in a summarized conversation. The provider's own number is not documented.
const TOOL_REFERENCES: usize = 1_000;

/// The parameters of `compaction`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OnDemandCompaction {
    /// The instructions that replace the default ones.
    pub instructions: Option<String>,
}

impl OnDemandCompaction {
    /// Reads the parameters from a request; `None` for an ordinary request.
    pub(crate) fn of(request: &MessagesRequest) -> Option<Self> {
        let asked = request
            .fields
            .get("compaction")
            .filter(|asked| !asked.is_null())?;
        let instructions = asked.get("instructions").and_then(Value::as_str);
        Some(Self {
            instructions: instructions.map(str::to_owned),
        })
    }
}

/// Checks that the signed block in a request is unchanged.
pub(crate) fn check_block(
    request: &MessagesRequest,
    secret: &SigningSecret,
    key: &str,
) -> Result<(), ApiError> {
    let first = request.messages.first();
    let Some(block) = first.and_then(|first| first.content.first()) else {
        return Ok(());
    };
    if block.kind != "compaction" || block.text("signature").is_none() {
        return Ok(());
    }
    secret.check_summary(block, key)?;
    // The summaries made here contain nothing about tools.
    match block.fields.get("tool_changes") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(ApiError::invalid(
            "`tool_changes` of the `compaction` block were changed; send the block back unchanged",
        )
        .with_code("compaction_tool_changes_mismatch")),
    }
}

/// Checks, before anything else, that a request to be summarized does not end in an open call.
pub(crate) fn check_complete(request: &MessagesRequest) -> Result<(), ApiError> {
    let last = request.messages.last();
    let open = last.is_some_and(|last| {
        last.role == ApiRole::Assistant && last.content.iter().any(|block| block.kind == "tool_use")
    });
    if open && OnDemandCompaction::of(request).is_some() {
        Err(ApiError::invalid(
            "compaction: `messages` end in a `tool_use` block without its `tool_result`; send the result, or leave the turn out",
        )
        .with_code("compaction_incomplete_turn"))
    } else {
        Ok(())
    }
}

/// Checks that a summary can keep the tools that a conversation has discovered.
pub(crate) fn check_references(request: &MessagesRequest) -> Result<(), ApiError> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let references: usize = blocks
        .map(|block| block.raw.matches("\"tool_reference\"").count())
        .sum();
    if references > TOOL_REFERENCES {
        Err(ApiError::invalid(format!(
            "compaction: {references} tool references in `messages`, at most {TOOL_REFERENCES} can be kept"
        ))
        .with_code("compaction_too_many_tool_references"))
    } else {
        Ok(())
    }
}

/// The error while compaction is out of service.
pub(crate) fn unavailable() -> ApiError {
    ApiError {
        status: 529,
        kind: "overloaded_error",
        message: "Compaction is temporarily unavailable.".to_owned(),
        code: Some("compaction_unavailable"),
        retry_after: None,
    }
}
