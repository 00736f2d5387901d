//! One call from body to reply: `admit` at its beginning, `finish` at its end, and clearing, compaction and sampling in
//! between.

use std::sync::Arc;

use longhaul_core::models::ModelSpec;
use serde_json::json;

use super::World;
use super::admit::{admit, dropped, hold, join};
use super::compacting;
use super::finish::{ReplyParts, ReplyWithChange, finish, with_sampled_counts};
use super::named_call::NamedCall;
use super::read_bodies::ReadBody;
use super::sampling::SamplingInput;
use super::searching::{self, SearchedReply};
use crate::call::ApiError;
use crate::manage::compaction::{self, OnDemandCompaction};
use crate::manage::{self, ContextManagement, summary};
use crate::prompt::layout::PromptLayout;
use crate::prompt::scheme::LayoutScheme;
use crate::reply::ReplyCounts;
use crate::request::MessagesRequest;
use crate::thinking::CheckedThinking;

/// Answers a call.
pub(super) fn answer(world: &mut World, case: &NamedCall<'_>) -> Result<ReplyWithChange, ApiError> {
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

fn respond(
    world: &mut World,
    case: &NamedCall<'_>,
    reading: &ReadBody,
    spec: &Arc<ModelSpec>,
    admitted: CheckedThinking,
) -> Result<ReplyWithChange, ApiError> {
    let request = &reading.request;
    let scheme = LayoutScheme {
        spec,
        betas: &case.call.betas,
    };
    let config = ContextManagement::of(request)?;
    if let Some(asked) = OnDemandCompaction::of(request) {
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
    let mut counts = ReplyCounts {
        // With the beta, the steps are listed whether or not there was a compaction.
        listed: config.compact.is_some(),
        geo: text(request, "inference_geo"),
        speed: text(request, "speed"),
        ..ReplyCounts::default()
    };
    let source = SamplingInput {
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
            let made = ReplyParts {
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
            let layout = PromptLayout::of(&request, scheme, &mut world.counter)?;
            Some((request, layout))
        }
        None => None,
    };
    let (request, layout) = anew.as_ref().map_or((request, layout), |(r, l)| (r, l));
    let behind = summary::without_summarized(request);
    let source = SamplingInput {
        request: behind.as_ref().unwrap_or(request),
        layout,
        spec,
        at,
    };
    let SearchedReply {
        sampled,
        earlier,
        searches,
    } = searching::sample(world, case, source, scheme)?;
    counts.steps.extend(earlier);
    counts.searches = searches;
    let made = with_sampled_counts(
        ReplyParts {
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

fn text(request: &MessagesRequest, field: &str) -> Option<String> {
    let value = request.fields.get(field)?;
    value.as_str().map(str::to_owned)
}
