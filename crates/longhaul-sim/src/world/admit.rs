//! The first step of a call: is it one to be answered? What it asks for is put together, checked and laid out.

use std::sync::Arc;

use longhaul_core::models::ModelSpec;
use serde_json::{Value, json};

use super::World;
use super::exchange::Case;
use super::readings::Reading;
use super::settled;
use crate::call::{ApiError, Call};
use crate::manage::{self, Config, compaction};
use crate::prompt::layout::{Layout, Scheme};
use crate::prompt::{Change, Changes};
use crate::request::{Block, Endpoint, Request};
use crate::thinking::{self, Admitted, check_on};
use crate::threads::Ticket;
use crate::validate::{self, model_not_found};

/// Puts a request that continues a thread together.
pub(super) fn join(
    world: &mut World,
    case: &Case<'_>,
    reading: &mut Reading,
) -> Result<Ticket, ApiError> {
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
pub(super) fn hold(
    world: &mut World,
    case: &Case<'_>,
    ticket: Ticket,
    request: &Request,
    message: &Value,
) {
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
pub(super) fn admit(
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
pub(super) fn dropped(admitted: &Admitted) -> Changes {
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
