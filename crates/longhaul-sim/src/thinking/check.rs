//! Checks the thinking blocks that come back with a request.

use longhaul_core::models::{ModelSpec, ThinkingBinding};
use longhaul_core::xxh3::xxh3_128;

use super::outcome::{
    AccountAge, CheckedThinking, InputTransformation, ThinkingChange, ThinkingMismatch,
};
use super::prefix::{ThinkingPrefix, name, signature};
use super::prefix_walk::PrefixWalk;
use super::progress::{ThinkingCheckProgress, ThinkingCheckStage};
use super::reads::{reads, records_account, records_prefix};
use super::signature::{SignaturePayload, SignedKind, SigningSecret, account};
use crate::call::{ApiCall, ApiError};
use crate::request::{ApiBlock, ApiRole, MessagesRequest};

const CONTROLS: &str = "thinking-binding-controls-2026-08-01";

/// Checks the thinking of a validated request, in the same way on both endpoints.
pub fn check(
    request: &MessagesRequest,
    spec: &ModelSpec,
    call: &ApiCall,
    secret: &SigningSecret,
    account: AccountAge,
) -> Result<CheckedThinking, ApiError> {
    check_on(request, spec, call, secret, account, None).map(|(admitted, _)| admitted)
}

/// Checks the thinking of a request, continuing from an earlier check of the same messages.
pub(crate) fn check_on(
    request: &MessagesRequest,
    spec: &ModelSpec,
    call: &ApiCall,
    secret: &SigningSecret,
    account: AccountAge,
    earlier: Option<ThinkingCheckStage>,
) -> Result<(CheckedThinking, ThinkingCheckProgress), ApiError> {
    let latest = latest_turn(request);
    let summary = last_summary(request);
    let mut walk = PrefixWalk::start(request, secret);
    let mut progress = ThinkingCheckProgress::of(&walk.prefix, spec, call);
    let mut transformations = Vec::new();
    // The previous thinking block of the same turn, as it was sent.
    let mut in_turn = None;
    let mut role = None;
    let mut from = 0;
    if let Some(stage) = earlier.filter(|_| summary.is_none()) {
        from = stage.messages;
        (walk.prefix, role, in_turn) = (stage.prefix, stage.role, stage.in_turn);
    }
    for (message, said) in request.messages.iter().enumerate().skip(from) {
        progress.note(message, &walk.prefix, role, in_turn);
        if role != Some(said.role) {
            in_turn = None;
            walk.prefix.in_reply = 0;
        }
        role = Some(said.role);
        for (index, block) in said.content.iter().enumerate() {
            if !block.is_thinking() {
                walk.push(said.role, block);
                continue;
            }
            // The model does not see summarized blocks.
            if summary.is_some_and(|at| (message, index) < at) {
                walk.prefix.think(signature(block));
                continue;
            }
            let path = format!("messages.{message}.content.{index}");
            let turn = if latest.contains(&message) {
                BlockTurn::Latest { before: in_turn }
            } else {
                BlockTurn::Earlier
            };
            let seal = whole(block, secret, &path, turn)?;
            in_turn = Some(name(signature(block)));
            let verdict = judge(&seal, &walk.prefix, spec, call);
            let (change, reason) = match verdict {
                None => {
                    walk.prefix.think(signature(block));
                    continue;
                }
                // A model that can read the block may see it again, so it keeps its place.
                Some(reason @ (ThinkingMismatch::Model | ThinkingMismatch::Organization)) => {
                    walk.prefix.think(signature(block));
                    (ThinkingChange::Dropped, reason)
                }
                Some(ThinkingMismatch::Prefix) => {
                    let change = mismatch(request, spec, call, account, block, &path)?;
                    if change == ThinkingChange::MismatchAllowed {
                        walk.prefix.think(signature(block));
                    }
                    (change, ThinkingMismatch::Prefix)
                }
            };
            transformations.push(InputTransformation {
                message,
                block: index,
                change,
                reason,
            });
        }
    }
    if summary.is_some() || !transformations.is_empty() {
        progress = ThinkingCheckProgress::default();
    }
    let admitted = CheckedThinking {
        transformations,
        prefix: walk.prefix.reply(),
    };
    Ok((admitted, progress))
}

/// The messages of the model's latest turn.
fn latest_turn(request: &MessagesRequest) -> std::ops::Range<usize> {
    let messages = &request.messages;
    let Some(last) = messages
        .iter()
        .rposition(|said| said.role == ApiRole::Assistant)
    else {
        return 0..0;
    };
    let before = messages.get(..last).unwrap_or_default();
    let first = before
        .iter()
        .rposition(|said| said.role != ApiRole::Assistant)
        .map_or(0, |at| at + 1);
    first..last + 1
}

/// The last summary in the conversation: nothing before it counts.
fn last_summary(request: &MessagesRequest) -> Option<(usize, usize)> {
    let messages = request.messages.iter().enumerate().rev();
    messages.into_iter().find_map(|(message, said)| {
        let is = |block: &ApiBlock| block.kind == "compaction" && block.text("content").is_some();
        Some((message, said.content.iter().rposition(is)?))
    })
}

/// Which turn a block belongs to.
#[derive(Clone, Copy)]
enum BlockTurn {
    /// The block is in the model's latest turn, after this thinking block of the same turn.
    Latest {
        before: Option<u64>,
    },
    Earlier,
}

/// The signed payload of an intact block. In the latest turn all blocks of a reply must be present.
fn whole(
    block: &ApiBlock,
    secret: &SigningSecret,
    path: &str,
    turn: BlockTurn,
) -> Result<SignaturePayload, ApiError> {
    let invalid = || {
        let field = if block.kind == "thinking" {
            "signature"
        } else {
            "data"
        };
        ApiError::invalid(format!(
            "{path}: Invalid `{field}` in `{}` block",
            block.kind
        ))
    };
    let seal = secret
        .open(signature(block))
        .filter(|seal| seal.kind == SignedKind::Thinking);
    let seal = seal.ok_or_else(invalid)?;
    let altered = seal.text != xxh3_128(block.text("thinking").unwrap_or_default().as_bytes());
    match turn {
        BlockTurn::Earlier if altered => Err(invalid()),
        BlockTurn::Latest { before }
            if altered || (seal.prefix.in_reply > 0 && before != Some(seal.prefix.before)) =>
        {
            Err(ApiError::invalid(format!(
                "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
            )))
        }
        _ => Ok(seal),
    }
}

/// The problem with an intact block at its position, if there is one.
fn judge(
    seal: &SignaturePayload,
    prefix: &ThinkingPrefix,
    spec: &ModelSpec,
    call: &ApiCall,
) -> Option<ThinkingMismatch> {
    if !reads(&spec.id, &seal.model) {
        return Some(ThinkingMismatch::Model);
    }
    if records_account(&seal.model) && seal.account != account(&call.key) {
        return Some(ThinkingMismatch::Organization);
    }
    let made = &seal.prefix;
    let same = made.base == prefix.base && made.content == prefix.content;
    let in_line = prefix.depth == 0 || made.before == prefix.before;
    let known = prefix.depth <= made.depth;
    let bound = spec.thinking.binding.may_bind() && records_prefix(&seal.model);
    (bound && !(same && in_line && known)).then_some(ThinkingMismatch::Prefix)
}

fn mismatch(
    request: &MessagesRequest,
    spec: &ModelSpec,
    call: &ApiCall,
    account: AccountAge,
    block: &ApiBlock,
    path: &str,
) -> Result<ThinkingChange, ApiError> {
    let binding = request.param("thinking", "block_binding");
    let behavior = binding.and_then(|binding| binding.get("prefix_mismatch_behavior")?.as_str());
    match (behavior, spec.thinking.binding, account) {
        (Some("drop_block"), ..) => Ok(ThinkingChange::Dropped),
        (None, ThinkingBinding::NewAccounts, AccountAge::Old) => {
            Ok(ThinkingChange::MismatchAllowed)
        }
        _ => {
            let field = if block.kind == "thinking" {
                "signature"
            } else {
                "data"
            };
            let hint = if call.betas.contains(CONTROLS) {
                String::new()
            } else {
                format!(
                    " That setting requires the `{CONTROLS}` value in the `anthropic-beta` header."
                )
            };
            Err(ApiError::invalid(format!(
                "{path}: Invalid `{field}` in `{}` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".{hint}",
                block.kind
            )))
        }
    }
}
