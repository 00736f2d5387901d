//! One sampling step: what fits, what the cache provides, what the model says.

use std::borrow::Cow;

use longhaul_core::models::ModelSpec;
use longhaul_core::xxh3::xxh3_64_with_seed;
use serde_json::Value;

use super::World;
use super::named_call::NamedCall;
use crate::cache::{Billing, CacheAccount, CacheQuery, PromptVerdict};
use crate::call::{ApiCall, ApiError, VirtualMillis};
use crate::faults::InjectedFault;
use crate::manage::cache_edits;
use crate::model::ModelTurn;
use crate::prompt::LaidOutPrompt;
use crate::prompt::layout::PromptLayout;
use crate::reply::{ReplyLimits, SimStopReason, TruncatedDraft, cut};
use crate::request::MessagesRequest;
use crate::tokens::TokenizerFamily;

/// The input of a sampling step.
#[derive(Debug, Clone, Copy)]
pub(super) struct SamplingInput<'a> {
    pub(super) request: &'a MessagesRequest,
    pub(super) layout: &'a PromptLayout,
    pub(super) spec: &'a ModelSpec,
    /// When the step starts.
    pub(super) at: VirtualMillis,
}

/// The result of a sampling step.
#[derive(Debug)]
pub(super) struct SamplingResult {
    pub(super) cut: TruncatedDraft,
    pub(super) billing: Billing,
    pub(super) verdict: PromptVerdict,
    /// The tokens removed from the cached prefix, and the report about it.
    pub(super) deleted: Option<(u64, Vec<Value>)>,
    pub(super) first_byte: VirtualMillis,
    pub(super) ended: VirtualMillis,
}

/// Samples a step.
pub(super) fn sample(
    world: &mut World,
    case: &NamedCall<'_>,
    source: SamplingInput<'_>,
) -> Result<SamplingResult, ApiError> {
    let SamplingInput { request, spec, .. } = source;
    let prompt = &source.layout.prompt;
    let ask = CacheQuery {
        scope: CacheAccount::of_key(&case.call.key),
        prompt,
        minimum: spec.cache_minimum,
        now: source.at,
    };
    let found = world.cache.look_up(&ask);
    let mut billing = Billing::of(prompt, &found);
    let verdict = PromptVerdict::of(prompt, &found, &billing, spec.cache_minimum);
    let read = found.read.map_or(0, |index| index + 1);
    let deleted = cache_edits::requested_deletions(request)
        .map(|ids| cache_edits::delete(request, source.layout, read, &ids));
    let shown = match &deleted {
        Some(deleted) if !deleted.changes.0.is_empty() => {
            billing.read = billing.read.saturating_sub(deleted.tokens);
            Cow::Owned(deleted.changes.applied(request))
        }
        _ => Cow::Borrowed(request),
    };
    let limits = limits(request, billing.prompt(), spec, case.call)?;
    let turn = ModelTurn {
        request: &shown,
        prompt_tokens: billing.prompt(),
        tokenizer: TokenizerFamily::from(spec.tokenizer),
        index: world.books.calls_of(case.session),
        seed: seed(world.seed, prompt),
    };
    strike(world, &turn)?;
    let first_byte = first_byte(world, source.at, &billing);
    world.cache.commit(&ask, &found, first_byte);
    let cut = match limits.max_tokens {
        0 => prewarmed(),
        _ => {
            let draft = world.model.reply(&turn);
            cut(
                draft,
                &limits,
                &world.counter,
                TokenizerFamily::from(spec.tokenizer),
            )
        }
    };
    let writing = cut.output_tokens * 1_000 / world.pace.output_per_second.max(1);
    Ok(SamplingResult {
        cut,
        billing,
        verdict,
        deleted: deleted.map(|deleted| (deleted.tokens, deleted.report)),
        first_byte,
        ended: VirtualMillis(first_byte.0 + writing),
    })
}

/// Applies a fault of the model's script: a refusal comes before anything is cached or billed, any other fault is
/// passed on with the reply.
fn strike(world: &mut World, turn: &ModelTurn<'_>) -> Result<(), ApiError> {
    let named = world.model.fault(turn);
    // Names are checked when a script is parsed; a wrong name from another model is ignored.
    world.fault = named.and_then(|name| name.parse().ok());
    match world.fault.as_ref().and_then(InjectedFault::refusal) {
        Some(refusal) => Err(refusal),
        None => Ok(()),
    }
}

/// Refuses a prompt that does not fit, and returns the limits of the reply.
fn limits(
    request: &MessagesRequest,
    tokens: u64,
    spec: &ModelSpec,
    call: &ApiCall,
) -> Result<ReplyLimits, ApiError> {
    let window = spec.window;
    if tokens > window {
        return Err(ApiError::invalid(format!(
            "prompt is too long: {tokens} tokens > {window} maximum"
        )));
    }
    let max_tokens = request.max_tokens.unwrap_or(spec.max_output);
    if tokens + max_tokens > window && !stops_at_the_window(&spec.id, call) {
        return Err(ApiError::invalid(format!(
            "input length and `max_tokens` exceed context limit: {tokens} + {max_tokens} > {window}, decrease input length or `max_tokens` and try again"
        )));
    }
    let sequences = request
        .fields
        .get("stop_sequences")
        .and_then(Value::as_array);
    let sequences = sequences.into_iter().flatten().filter_map(Value::as_str);
    Ok(ReplyLimits {
        max_tokens,
        window: window - tokens,
        stop_sequences: sequences.map(str::to_owned).collect(),
    })
}

/// Models before 4.5 refuse a `max_tokens` that may not fit; later ones stop when the window is full.
fn stops_at_the_window(model: &str, call: &ApiCall) -> bool {
    const BEFORE: [&str; 6] = [
        "claude-2",
        "claude-instant",
        "claude-3",
        "claude-sonnet-4-0",
        "claude-opus-4-0",
        "claude-opus-4-1",
    ];
    let old = BEFORE.iter().any(|name| model.starts_with(name))
        || matches!(model, "claude-sonnet-4" | "claude-opus-4");
    !old || call
        .betas
        .contains("model-context-window-exceeded-2025-08-26")
}

/// A reply to `max_tokens: 0`: the prompt is read and cached, and nothing is written.
fn prewarmed() -> TruncatedDraft {
    TruncatedDraft {
        content: Vec::new(),
        stop: SimStopReason::MaxTokens,
        output_tokens: 0,
        thinking_tokens: 0,
    }
}

fn first_byte(world: &World, at: VirtualMillis, billing: &Billing) -> VirtualMillis {
    let reading = billing.computed() * 1_000 / world.pace.prompt_per_second.max(1);
    VirtualMillis(at.0 + world.pace.first_byte_ms + reading)
}

fn seed(world: u64, prompt: &LaidOutPrompt) -> u64 {
    let last = prompt
        .positions
        .last()
        .map_or(0, |position| position.prefix);
    xxh3_64_with_seed(&last.to_le_bytes(), world)
}
