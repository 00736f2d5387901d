//! One call from body to reply.

use std::sync::Arc;

use longhaul_core::models::ModelSpec;
use serde_json::{Value, json};

use super::World;
use super::compacting;
use super::readings::Reading;
use super::sampling::{self, Sampled, Source};
use super::settled;
use crate::cache::Verdict;
use crate::cache::diagnosis::Fingerprint;
use crate::call::{ApiError, Call, Millis};
use crate::manage::compaction::{self, OnDemand};
use crate::manage::{self, Config, cache_edits, summary};
use crate::prompt::key;
use crate::prompt::layout::{Layout, Scheme};
use crate::prompt::{Change, Changes, Prompt};
use crate::reply::{Counts, Cut, Display, Dressing, Reply, Step, StepKind, dress};
use crate::request::{Block, Endpoint, Request};
use crate::thinking::{self, Admitted, Transformation, check_on};
use crate::threads::Ticket;
use crate::validate::{self, model_not_found};

/// The beta with which replies say what became of thinking.
const BINDING_CONTROLS: &str = "thinking-binding-controls-2026-08-01";

/// A call and its names.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) call: &'a Call,
    pub(super) session: &'a str,
    pub(super) request_id: String,
}

/// A reply, and what changed since the session's last call if that cost cache.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) reply: Reply,
    pub(super) changed: Option<String>,
}

/// All that goes into a reply.
pub(super) struct Made<'a> {
    pub(super) request: &'a Request,
    pub(super) prompt: &'a Prompt,
    pub(super) spec: &'a Arc<ModelSpec>,
    /// Blocks before those of the draft.
    pub(super) first: Vec<Value>,
    pub(super) cut: Cut,
    pub(super) counts: Counts,
    pub(super) extra: Vec<(&'static str, Value)>,
    pub(super) verdict: Verdict,
    pub(super) first_byte: Millis,
    pub(super) ended: Millis,
}

/// Answers a call.
pub(super) fn answer(world: &mut World, case: &Case<'_>) -> Result<Answer, ApiError> {
    let mut reading = world.readings.read(case.call)?;
    let ticket = join(world, case, &mut reading)?;
    let answered = admit(world, case, &mut reading)
        .and_then(|(spec, admitted)| respond(world, case, &reading, &spec, admitted));
    match &answered {
        Ok(answer) => hold(world, case, ticket, &reading.request, &answer.reply.message),
        Err(_) => world.threads.abandon(ticket),
    }
    world.readings.keep(reading);
    answered
}

/// Puts a request that continues a thread together.
fn join(world: &mut World, case: &Case<'_>, reading: &mut Reading) -> Result<Ticket, ApiError> {
    if reading.request.tag("thread").is_none() {
        return Ok(Ticket::None);
    }
    let (request, ticket) = world.threads.begin(reading.request.clone(), case.call)?;
    if request.messages.len() != reading.request.messages.len() {
        reading.kept = 0;
    }
    reading.request = request;
    Ok(ticket)
}

/// Keeps the conversation of a thread with its reply.
fn hold(world: &mut World, case: &Case<'_>, ticket: Ticket, request: &Request, message: &Value) {
    if ticket == Ticket::None {
        return;
    }
    let id = message
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let content = message.get("content").and_then(Value::as_array);
    let blocks = content.into_iter().flatten().cloned();
    let blocks = blocks.filter_map(Block::made).collect();
    world.threads.commit(ticket, request, case.call, id, blocks);
}

/// Checks a request and lays it out.
fn admit(
    world: &mut World,
    case: &Case<'_>,
    reading: &mut Reading,
) -> Result<(Arc<ModelSpec>, Admitted), ApiError> {
    let call = case.call;
    let spec = served(world, &reading.request)?;
    compaction::check_complete(&reading.request)?;
    settled::check(reading, &spec, call)?;
    let request = &reading.request;
    compaction::check_block(request, &world.secret, &call.key)?;
    let stage = reading.checked.stage(request, &spec, call, reading.kept);
    let (secret, account) = (&world.secret, world.account);
    let (admitted, progress) = check_on(request, &spec, call, secret, account, stage)?;
    reading.checked = progress;
    let laid_out = lay_out(world, reading, call, &spec);
    if laid_out.is_err() || !settled::may_be_marked(&reading.layout.prompt) {
        validate::validate(&reading.request, &spec, call)?;
    }
    laid_out.map(|()| (spec, admitted))
}

/// What of a request was dropped because its signature did not hold.
fn dropped(admitted: &Admitted) -> Changes {
    let dropped = admitted.transformations.iter();
    let dropped = dropped.filter(|t| t.change == thinking::Change::Dropped);
    Changes(
        dropped
            .map(|t| ((t.message, t.block), Change::Remove))
            .collect(),
    )
}

/// The model asked for.
fn served(world: &World, request: &Request) -> Result<Arc<ModelSpec>, ApiError> {
    let spec = world.models.resolve(&request.model).spec;
    match world.models.models().any(|known| known.id == spec.id) {
        true => Ok(spec),
        false => Err(model_not_found(&request.model)),
    }
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

fn respond(
    world: &mut World,
    case: &Case<'_>,
    reading: &Reading,
    spec: &Arc<ModelSpec>,
    admitted: Admitted,
) -> Result<Answer, ApiError> {
    let request = &reading.request;
    let scheme = Scheme {
        spec,
        betas: &case.call.betas,
    };
    let config = Config::of(request)?;
    if let Some(asked) = OnDemand::of(request) {
        compaction::check_references(request)?;
        let made = compacting::on_demand(world, case, reading, spec, &asked)?;
        return Ok(finish(world, case, made, admitted));
    }
    let cleared = manage::clear(
        &config,
        request,
        &reading.layout,
        dropped(&admitted),
        scheme,
        &mut world.counter,
    )?;
    let mut extra = Vec::new();
    if config.asked {
        extra.push((
            "context_management",
            json!({ "applied_edits": cleared.applied }),
        ));
    }
    let (request, layout) = match &cleared.shown {
        Some((request, layout)) => (request, layout),
        None => (request, &reading.layout),
    };
    let mut counts = Counts {
        // With the beta the steps are listed whether or not there was a compaction.
        listed: config.compact.is_some(),
        geo: text(request, "inference_geo"),
        speed: text(request, "speed"),
        ..Counts::default()
    };
    let source = Source {
        request,
        layout,
        spec,
        at: world.clock,
    };
    let compacted = match &config.compact {
        Some(compact) if layout.prompt.tokens > compact.trigger => {
            Some(compacting::threshold(world, case, source, compact)?)
        }
        _ => None,
    };
    let (mut first, mut anew, mut at) = (Vec::new(), None, world.clock);
    if let Some(compacted) = compacted {
        counts.steps.push(compacted.step);
        first.push(compacted.block);
        at = compacted.ended;
        if let Some(paused) = compacted.paused {
            let made = Made {
                request,
                prompt: &layout.prompt,
                spec,
                first,
                cut: paused.cut,
                counts,
                extra,
                verdict: paused.verdict,
                first_byte: paused.first_byte,
                ended: at,
            };
            return Ok(finish(world, case, made, admitted));
        }
        anew = compacted.left;
    }
    let anew = match anew {
        Some(request) => {
            let layout = Layout::of(&request, scheme, &mut world.counter)?;
            Some((request, layout))
        }
        None => None,
    };
    let (request, layout) = anew.as_ref().map_or((request, layout), |(r, l)| (r, l));
    let behind = summary::without_summarised(request);
    let source = Source {
        request: behind.as_ref().unwrap_or(request),
        layout,
        spec,
        at,
    };
    let sampled = sampling::sample(world, case, source)?;
    let made = told(
        Made {
            request,
            prompt: &layout.prompt,
            spec,
            first,
            cut: sampled.cut.clone(),
            counts,
            extra,
            verdict: sampled.verdict.clone(),
            first_byte: sampled.first_byte,
            ended: sampled.ended,
        },
        sampled,
    );
    Ok(finish(world, case, made, admitted))
}

/// Adds the counts of the reply itself.
fn told(mut made: Made<'_>, sampled: Sampled) -> Made<'_> {
    made.counts.steps.push(Step {
        kind: StepKind::Message,
        billing: sampled.billing,
        output: sampled.cut.output_tokens,
    });
    made.counts.thinking = sampled.cut.thinking_tokens;
    if let Some((tokens, report)) = sampled.deleted {
        made.counts.deleted = Some(tokens);
        made.extra.push(("cache_edits", Value::Array(report)));
    }
    made
}

/// Dresses a reply and remembers the request for the next.
fn finish(world: &mut World, case: &Case<'_>, made: Made<'_>, admitted: Admitted) -> Answer {
    let id = world.ids.message();
    let (request, prompt, spec) = (made.request, made.prompt, made.spec);
    let model = format!("{} {}", spec.id, key::speed(request));
    let betas = case.call.betas.iter().cloned().collect();
    let now = Fingerprint::of(model, betas, prompt);
    let mut extra = made.extra;
    if let Some(asked) = request.fields.get("diagnostics") {
        let previous = asked.get("previous_message_id").and_then(Value::as_str);
        extra.push((
            "diagnostics",
            world.diagnoses.compare(previous, &now, prompt),
        ));
        world.diagnoses.remember(id.clone(), now.clone());
    }
    if case.call.betas.contains(BINDING_CONTROLS) && !admitted.transformations.is_empty() {
        let done = admitted.transformations.iter();
        extra.push((
            "input_transformations",
            done.map(Transformation::to_json).collect(),
        ));
    }
    let changed = world.sessions.changed(case.session, &now, prompt);
    world.sessions.remember(case.session.to_owned(), now);
    let usage = made.counts.core();
    let (mut prefix, mut pushed) = (admitted.prefix, 0);
    let message = dress(
        &made.cut,
        made.first,
        Dressing {
            id: &id,
            model: &spec.id,
            usage: made.counts.json(),
            extra,
            display: display(request),
        },
        &mut world.ids,
        &mut |shown, before| {
            let new = before.iter().skip(pushed).cloned();
            for block in new.filter_map(Block::made) {
                prefix.push(&block);
            }
            pushed = before.len();
            world.secret.sign(&prefix, &spec.id, &case.call.key, shown)
        },
    );
    let reply = Reply {
        request_id: case.request_id.clone(),
        message,
        stream: request.stream,
        started: world.clock,
        first_byte: made.first_byte,
        ended: made.ended,
        headers: vec![(cache_edits::HEADER, cache_edits::CAPABILITY.to_owned())],
        cost: spec.cost_of_reply(&usage),
        usage,
        verdict: made.verdict,
        fault: world.fault.take(),
    };
    Answer { reply, changed }
}

fn display(request: &Request) -> Display {
    let display = request.param("thinking", "display");
    match display.and_then(Value::as_str) {
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
    let request = Request::read(
        &call.body,
        Endpoint::CountTokens,
        &call.betas,
        &call.version,
    )?;
    let spec = served(world, &request)?;
    validate::validate(&request, &spec, call)?;
    let scheme = Scheme {
        spec: &spec,
        betas: &call.betas,
    };
    let layout = Layout::of(&request, scheme, &mut world.counter)?;
    let config = Config::of(&request)?;
    let (secret, account) = (&world.secret, world.account);
    let admitted = thinking::check(&request, &spec, call, secret, account)?;
    let cleared = manage::clear(
        &config,
        &request,
        &layout,
        dropped(&admitted),
        scheme,
        &mut world.counter,
    )?;
    let shown = cleared.shown.as_ref().map_or(&layout, |(_, layout)| layout);
    let mut counted = json!({ "input_tokens": shown.prompt.tokens });
    if config.asked {
        counted["context_management"] = json!({ "original_input_tokens": layout.prompt.tokens });
    }
    Ok(counted)
}
