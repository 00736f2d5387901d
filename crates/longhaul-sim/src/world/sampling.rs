//! One sampling step: what fits, what the cache gives, what the model says.

use std::borrow::Cow;

use longhaul_core::models::ModelSpec;
use longhaul_core::xxh3::xxh3_64_with_seed;
use serde_json::Value;

use super::World;
use super::exchange::Case;
use crate::cache::{Ask, Billing, Scope, Verdict};
use crate::call::{ApiError, Call, Millis};
use crate::faults::Fault;
use crate::manage::cache_edits;
use crate::model::Turn;
use crate::prompt::Prompt;
use crate::prompt::layout::Layout;
use crate::reply::{Cut, Limits, StopReason, cut};
use crate::request::Request;
use crate::tokens::Family;

/// What is sampled from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) request: &'a Request,
    pub(super) layout: &'a Layout,
    pub(super) spec: &'a ModelSpec,
    /// When the step starts.
    pub(super) at: Millis,
}

/// What a step gave.
#[derive(Debug)]
pub(super) struct Sampled {
    pub(super) cut: Cut,
    pub(super) billing: Billing,
    pub(super) verdict: Verdict,
    /// Tokens taken out of the cached prefix, and what is said of it.
    pub(super) deleted: Option<(u64, Vec<Value>)>,
    pub(super) first_byte: Millis,
    pub(super) ended: Millis,
}

/// Samples a step.
pub(super) fn sample(
    world: &mut World,
    case: &Case<'_>,
    source: Source<'_>,
) -> Result<Sampled, ApiError> {
    let Source { request, spec, .. } = source;
    let prompt = &source.layout.prompt;
    let ask = Ask {
        scope: Scope::of_key(&case.call.key),
        prompt,
        minimum: spec.cache_minimum,
        now: source.at,
    };
    let found = world.cache.look_up(&ask);
    let mut billing = Billing::of(prompt, &found);
    let verdict = Verdict::of(prompt, &found, &billing, spec.cache_minimum);
    let read = found.read.map_or(0, |index| index + 1);
    let deleted = cache_edits::asked(request)
        .map(|ids| cache_edits::delete(request, source.layout, read, &ids));
    let shown = match &deleted {
        Some(deleted) if !deleted.changes.0.is_empty() => {
            billing.read = billing.read.saturating_sub(deleted.tokens);
            Cow::Owned(deleted.changes.applied(request))
        }
        _ => Cow::Borrowed(request),
    };
    let limits = limits(request, billing.prompt(), spec, case.call)?;
    let turn = Turn {
        request: &shown,
        prompt_tokens: billing.prompt(),
        tokenizer: Family::from(spec.tokenizer),
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
            cut(draft, &limits, &world.counter, Family::from(spec.tokenizer))
        }
    };
    let writing = cut.output_tokens * 1_000 / world.pace.output_per_second.max(1);
    Ok(Sampled {
        cut,
        billing,
        verdict,
        deleted: deleted.map(|deleted| (deleted.tokens, deleted.report)),
        first_byte,
        ended: Millis(first_byte.0 + writing),
    })
}

/// Lets the model's script have its way: a refusal comes before anything is cached or billed, any other fault goes along
/// with the reply.
fn strike(world: &mut World, turn: &Turn<'_>) -> Result<(), ApiError> {
    let named = world.model.fault(turn);
    // Names are checked when a script is read; another model's slip is no fault at all.
    world.fault = named.and_then(|name| name.parse().ok());
    match world.fault.as_ref().and_then(Fault::refusal) {
        Some(refusal) => Err(refusal),
        None => Ok(()),
    }
}

/// Refuses what does not fit, and says what room there is.
fn limits(
    request: &Request,
    tokens: u64,
    spec: &ModelSpec,
    call: &Call,
) -> Result<Limits, ApiError> {
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
    Ok(Limits {
        max_tokens,
        window: window - tokens,
        stop_sequences: sequences.map(str::to_owned).collect(),
    })
}

/// Models before 4.5 refuse a `max_tokens` that may not fit; later ones stop when the window is full.
fn stops_at_the_window(model: &str, call: &Call) -> bool {
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

/// A reply to `max_tokens: 0`: the prompt is read and cached, nothing is written.
fn prewarmed() -> Cut {
    Cut {
        content: Vec::new(),
        stop: StopReason::MaxTokens,
        output_tokens: 0,
        thinking_tokens: 0,
    }
}

fn first_byte(world: &World, at: Millis, billing: &Billing) -> Millis {
    let reading = billing.computed() * 1_000 / world.pace.prompt_per_second.max(1);
    Millis(at.0 + world.pace.first_byte_ms + reading)
}

fn seed(world: u64, prompt: &Prompt) -> u64 {
    let last = prompt
        .positions
        .last()
        .map_or(0, |position| position.prefix);
    xxh3_64_with_seed(&last.to_le_bytes(), world)
}
