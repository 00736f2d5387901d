//! The first step of a call: joins the request with its thread, checks it and lays it out.

use std::sync::Arc;

use longhaul_core::models::ModelSpec;
use serde_json::{Value, json};

use super::World;
use super::named_call::NamedCall;
use super::read_bodies::ReadBody;
use super::rule_check;
use crate::call::{ApiCall, ApiError};
use crate::manage::{self, ContextManagement, compaction};
use crate::prompt::layout::PromptLayout;
use crate::prompt::scheme::LayoutScheme;
use crate::prompt::{BlockChange, BlockChanges};
use crate::request::{ApiBlock, Endpoint, MessagesRequest};
use crate::thinking::{self, CheckedThinking, check_on};
use crate::threads::ThreadTicket;
use crate::validate::{self, model_not_found};

/// Joins a request that continues a thread with the held messages.
pub(super) fn join(
    world: &mut World,
    case: &NamedCall<'_>,
    reading: &mut ReadBody,
) -> Result<ThreadTicket, ApiError> {
    if reading.request.tag("thread").is_none() {
        return Ok(ThreadTicket::None);
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
    case: &NamedCall<'_>,
    ticket: ThreadTicket,
    request: &MessagesRequest,
    message: &Value,
) {
    if ticket == ThreadTicket::None {
        return;
    }
    let id = message
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let content = message.get("content").and_then(Value::as_array);
    let blocks = content.into_iter().flatten().cloned();
    let blocks = blocks.filter_map(ApiBlock::made).collect();
    world.threads.commit(ticket, request, case.call, id, blocks);
}

/// Checks a request and lays it out.
pub(super) fn admit(
    world: &mut World,
    case: &NamedCall<'_>,
    reading: &mut ReadBody,
) -> Result<(Arc<ModelSpec>, CheckedThinking), ApiError> {
    let call = case.call;
    let spec = served(world, &reading.request)?;
    compaction::check_complete(&reading.request)?;
    rule_check::check(reading, &spec, call)?;
    let request = &reading.request;
    compaction::check_block(request, &world.secret, &call.key)?;
    let stage = reading.checked.stage(request, &spec, call, reading.kept);
    let (secret, account) = (&world.secret, world.account);
    let (admitted, progress) = check_on(request, &spec, call, secret, account, stage)?;
    reading.checked = progress;
    let laid_out = lay_out(world, reading, call, &spec);
    if laid_out.is_err() || !rule_check::breakpoints_are_valid(&reading.layout.prompt) {
        validate::validate(&reading.request, &spec, call)?;
    }
    laid_out.map(|()| (spec, admitted))
}

/// The blocks that were dropped because their signature was not valid.
pub(super) fn dropped(admitted: &CheckedThinking) -> BlockChanges {
    let dropped = admitted.transformations.iter();
    let dropped = dropped.filter(|t| t.change == thinking::ThinkingChange::Dropped);
    BlockChanges(
        dropped
            .map(|t| ((t.message, t.block), BlockChange::Remove))
            .collect(),
    )
}

/// The requested model.
fn served(world: &World, request: &MessagesRequest) -> Result<Arc<ModelSpec>, ApiError> {
    let spec = world.models.resolve(&request.model).spec;
    if world.models.models().any(|known| known.id == spec.id) {
        Ok(spec)
    } else {
        Err(model_not_found(&request.model))
    }
}

fn lay_out(
    world: &mut World,
    reading: &mut ReadBody,
    call: &ApiCall,
    spec: &ModelSpec,
) -> Result<(), ApiError> {
    let scheme = LayoutScheme {
        spec,
        betas: &call.betas,
    };
    let layout = std::mem::take(&mut reading.layout);
    let (request, kept) = (&reading.request, reading.kept);
    reading.layout = layout.extended(request, kept, scheme, &mut world.counter)?;
    Ok(())
}

/// Counts a request without answering it.
pub(super) fn count_tokens(world: &mut World, call: &ApiCall) -> Result<Value, ApiError> {
    let request = MessagesRequest::read(
        &call.body,
        Endpoint::CountTokens,
        &call.betas,
        &call.version,
    )?;
    let spec = served(world, &request)?;
    validate::validate(&request, &spec, call)?;
    let scheme = LayoutScheme {
        spec: &spec,
        betas: &call.betas,
    };
    let layout = PromptLayout::of(&request, scheme, &mut world.counter)?;
    let config = ContextManagement::of(&request)?;
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
