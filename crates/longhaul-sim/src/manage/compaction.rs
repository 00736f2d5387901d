//! The rules of compaction on demand, and of the signed block in later requests (API-FACTS §2.3).

use serde_json::Value;

use super::Config;
use super::signed::Signer;
use crate::call::ApiError;
use crate::request::{Block, Request, Role};

/// The beta that goes with `compaction` and with every request that carries a signed block.
pub const BETA: &str = "compact-2026-09-04";
/// Tool references a summarised conversation may hold. The provider's own number is not documented.
const TOOL_REFERENCES: usize = 1_000;

/// What `compaction` asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OnDemand {
    /// What is asked instead of the default.
    pub instructions: Option<String>,
}

impl OnDemand {
    /// Reads what a request asks for; none: an ordinary request.
    pub fn of(request: &Request) -> Option<Self> {
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

/// Checks the signed blocks of any request: one, first, unchanged.
pub fn check_blocks(
    request: &Request,
    config: &Config,
    signer: Signer<'_>,
) -> Result<(), ApiError> {
    let blocks = || {
        let messages = request.messages.iter().enumerate();
        messages.flat_map(|(index, message)| {
            let blocks = message.content.iter().enumerate();
            blocks.map(move |(at, block)| (index, at, message.role, block))
        })
    };
    let signed = |block: &Block| block.kind == "compaction" && block.text("signature").is_some();
    let mut found = blocks().filter(|(_, _, _, block)| signed(block));
    let Some((index, at, role, block)) = found.next() else {
        return Ok(());
    };
    let place = format!("messages.{index}.content.{at}");
    if let Some((index, at, ..)) = found.next() {
        return Err(ApiError::invalid(format!(
            "messages.{index}.content.{at}: more than one `compaction` block with content. Keep only the newest."
        ))
        .with_code("compaction_block_ambiguous"));
    }
    if (index, at, role) != (0, 0, Role::Assistant) {
        return Err(ApiError::invalid(format!(
            "{place}: a signed `compaction` block must be the first block of the first message, in the role assistant."
        ))
        .with_code("compaction_block_misplaced"));
    }
    if config.compact.is_some() {
        return Err(ApiError::invalid(
            "context_management: `compact_20260112` cannot be used with a signed `compaction` block in `messages`.",
        ));
    }
    signer.check(block, &place)
}

/// Checks whether a request can be summarised.
pub fn check_request(request: &Request, config: &Config) -> Result<(), ApiError> {
    let is_set = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        let start = request.fields.get(*first)?;
        let found = rest
            .iter()
            .try_fold(start, |value, field| value.get(*field))?;
        (!found.is_null()).then_some(found)
    };
    let forced = is_set(&["tool_choice", "type"])
        .is_some_and(|kind| kind == "any" || kind == "tool")
        .then_some("tool_choice");
    let others: [(&[&str], &str); 3] = [
        (&["stop_sequences"], "stop_sequences"),
        (&["output_config", "format"], "output_config.format"),
        (
            &["output_config", "task_budget", "remaining"],
            "output_config.task_budget.remaining",
        ),
    ];
    let other = others.iter().find(|(path, _)| is_set(path).is_some());
    let managed = config.asked.then_some("context_management");
    if let Some(field) = managed.or(forced).or(other.map(|(_, name)| *name)) {
        return Err(ApiError::invalid(format!(
            "compaction: cannot be combined with `{field}`."
        )));
    }
    let says_something = |block: &Block| block.kind != "compaction";
    if !request
        .messages
        .iter()
        .any(|message| message.content.iter().any(says_something))
    {
        return Err(
            ApiError::invalid("compaction: there is nothing to summarize in `messages`.")
                .with_code("compaction_nothing_to_summarize"),
        );
    }
    let last = request.messages.last();
    let open = |block: &Block| matches!(block.kind.as_str(), "tool_use" | "server_tool_use");
    if last.is_some_and(|last| last.role == Role::Assistant && last.content.iter().any(open)) {
        return Err(ApiError::invalid(
            "compaction: `messages` end in a tool call without its result. Summarize up to a completed turn.",
        )
        .with_code("compaction_incomplete_turn"));
    }
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let references: usize = blocks
        .map(|block| block.raw.matches("\"tool_reference\"").count())
        .sum();
    if references > TOOL_REFERENCES {
        return Err(ApiError::invalid(format!(
            "compaction: {references} tool references in `messages`, at most {TOOL_REFERENCES} can be kept."
        ))
        .with_code("compaction_too_many_tool_references"));
    }
    Ok(())
}

/// The answer while compaction is out of service.
pub fn unavailable() -> ApiError {
    ApiError {
        status: 529,
        kind: "overloaded_error",
        message: "Compaction is temporarily unavailable.".to_owned(),
        code: Some("compaction_unavailable"),
        retry_after: None,
    }
}
