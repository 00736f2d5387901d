//! One call from body to reply.

use std::sync::Arc;

use longhaul_core::models::ModelSpec;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::World;
use super::readings::Reading;
use crate::books::{self, NO_SESSION, Record, Times};
use crate::cache::diagnosis::Fingerprint;
use crate::cache::{Ask, Billing, Scope, Verdict};
use crate::call::{ApiError, Call, Millis};
use crate::model::Turn;
use crate::prompt::Prompt;
use crate::prompt::key;
use crate::prompt::layout::{Layout, Scheme};
use crate::reply::{Counts, Cut, Display, Dressing, Limits, Reply, Step, StepKind, StopReason};
use crate::reply::{cut, dress};
use crate::request::Request;
use crate::tokens::Family;

/// Answers a call and books it.
pub(super) fn messages(world: &mut World, call: &Call) -> Result<Reply, ApiError> {
    let request_id = world.ids.request();
    let session = call
        .session
        .clone()
        .unwrap_or_else(|| NO_SESSION.to_owned());
    let answered = answer(world, call, &request_id, &session);
    let record = match &answered {
        Ok(reply) => {
            let text = |field| reply.message.get(field).and_then(Value::as_str);
            let times = Times {
                started: reply.started,
                first_byte: reply.first_byte,
                ended: reply.ended,
            };
            Record {
                message_id: text("id").map(str::to_owned),
                model: text("model").unwrap_or_default().to_owned(),
                status: 200,
                outcome: text("stop_reason").unwrap_or_default().to_owned(),
                tokens: books::answered(&reply.usage, reply.cost),
                verdict: reply.verdict.clone(),
                ..record(request_id, session, times)
            }
        }
        Err(error) => {
            let times = Times {
                started: world.clock,
                first_byte: world.clock,
                ended: world.clock,
            };
            Record {
                status: error.status,
                outcome: error.kind.to_owned(),
                tokens: books::refused(),
                ..record(request_id, session, times)
            }
        }
    };
    world.books.enter(record);
    answered
}

fn record(request_id: String, session: String, times: Times) -> Record {
    Record {
        request_id,
        message_id: None,
        session,
        model: String::new(),
        started_ms: times.started.0,
        first_byte_ms: times.first_byte.0,
        ended_ms: times.ended.0,
        status: 0,
        outcome: String::new(),
        tokens: books::Account::default(),
        verdict: Verdict::default(),
        changed: None,
    }
}

fn answer(
    world: &mut World,
    call: &Call,
    request_id: &str,
    session: &str,
) -> Result<Reply, ApiError> {
    let mut reading = world.readings.read(&call.body)?;
    let spec = world.models.resolve(&reading.request.model).spec;
    lay_out(world, &mut reading, call, &spec)?;
    let reply = sample(world, call, &reading, &spec, request_id, session);
    world.readings.keep(reading);
    reply
}

fn lay_out(
    world: &mut World,
    reading: &mut Reading,
    call: &Call,
    spec: &ModelSpec,
) -> Result<(), ApiError> {
    let scheme = Scheme {
        spec,
        betas: &call.betas,
    };
    let layout = std::mem::take(&mut reading.layout);
    let (request, kept) = (&reading.request, reading.kept);
    reading.layout = layout.extended(request, kept, scheme, &mut world.counter)?;
    Ok(())
}

fn sample(
    world: &mut World,
    call: &Call,
    reading: &Reading,
    spec: &Arc<ModelSpec>,
    request_id: &str,
    session: &str,
) -> Result<Reply, ApiError> {
    let (request, prompt) = (&reading.request, &reading.layout.prompt);
    let family = Family::from(spec.tokenizer);
    let limits = limits(request, prompt, spec, call)?;
    let ask = Ask {
        scope: Scope::of_key(&call.key),
        prompt,
        minimum: spec.cache_minimum,
        now: world.clock,
    };
    let found = world.cache.look_up(&ask);
    let billing = Billing::of(prompt, &found);
    let first_byte = first_byte(world, &billing);
    world.cache.commit(&ask, &found, first_byte);
    let cut = match limits.max_tokens {
        0 => prewarmed(),
        _ => {
            let draft = world.model.reply(&Turn {
                request,
                prompt_tokens: prompt.tokens,
                index: world.books.calls_of(session),
                seed: seed(world.seed, prompt),
            });
            cut(draft, &limits, &world.counter, family)
        }
    };
    let id = world.ids.message();
    let counts = Counts {
        steps: vec![Step {
            kind: StepKind::Message,
            billing,
            output: cut.output_tokens,
        }],
        thinking: cut.thinking_tokens,
        geo: text(request, "inference_geo"),
        speed: text(request, "speed"),
        ..Counts::default()
    };
    let usage = counts.core();
    let message = dress(
        &cut,
        Vec::new(),
        Dressing {
            id: &id,
            model: &spec.id,
            usage: counts.json(),
            context_management: None,
            diagnostics: diagnostics(world, call, request, prompt, spec, &id),
            input_transformations: None,
            display: display(request),
        },
        &mut world.ids,
        &mut |_, _| String::new(),
    );
    Ok(Reply {
        request_id: request_id.to_owned(),
        message,
        stream: request.stream,
        started: world.clock,
        first_byte,
        ended: ended(world, first_byte, cut.output_tokens),
        headers: Vec::new(),
        cost: spec.cost_of_reply(&usage),
        usage,
        verdict: Verdict::of(prompt, &found, &billing, spec.cache_minimum),
    })
}

/// Refuses what does not fit, and says what room there is.
fn limits(
    request: &Request,
    prompt: &Prompt,
    spec: &ModelSpec,
    call: &Call,
) -> Result<Limits, ApiError> {
    let (tokens, window) = (prompt.tokens, spec.window);
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

fn diagnostics(
    world: &mut World,
    call: &Call,
    request: &Request,
    prompt: &Prompt,
    spec: &ModelSpec,
    id: &str,
) -> Option<Value> {
    let asked = request
        .fields
        .get("diagnostics")
        .filter(|asked| !asked.is_null())?;
    let model = format!("{} {}", spec.id, key::speed(request));
    let betas = call.betas.iter().cloned().collect();
    let now = Fingerprint::of(model, betas, prompt);
    let previous = asked.get("previous_message_id").and_then(Value::as_str);
    let compared = world.diagnoses.compare(previous, &now, prompt);
    world.diagnoses.remember(id.to_owned(), now);
    Some(compared)
}

fn first_byte(world: &World, billing: &Billing) -> Millis {
    let reading = billing.computed() * 1_000 / world.pace.prompt_per_second.max(1);
    Millis(world.clock.0 + world.pace.first_byte_ms + reading)
}

fn ended(world: &World, first_byte: Millis, output: u64) -> Millis {
    Millis(first_byte.0 + output * 1_000 / world.pace.output_per_second.max(1))
}

fn seed(world: u64, prompt: &Prompt) -> u64 {
    let last = prompt
        .positions
        .last()
        .map_or(0, |position| position.prefix);
    xxh3_64_with_seed(&last.to_le_bytes(), world)
}

fn display(request: &Request) -> Display {
    let thinking = request.fields.get("thinking");
    match thinking
        .and_then(|thinking| thinking.get("display"))
        .and_then(Value::as_str)
    {
        Some("omitted") => Display::Omitted,
        _ => Display::Shown,
    }
}

fn text(request: &Request, field: &str) -> Option<String> {
    let value = request.fields.get(field)?;
    value.as_str().map(str::to_owned)
}

/// Counts a request without answering it.
pub(super) fn count_tokens(world: &mut World, call: &Call) -> Result<Value, ApiError> {
    let request = super::interim::read(&call.body)?;
    let spec = world.models.resolve(&request.model).spec;
    let scheme = Scheme {
        spec: &spec,
        betas: &call.betas,
    };
    let layout = Layout::of(&request, scheme, &mut world.counter)?;
    Ok(json!({ "input_tokens": layout.prompt.tokens }))
}
