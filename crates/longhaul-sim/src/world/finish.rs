//! The last step of a call: builds the reply, and remembers the request for the next one.

use std::sync::Arc;

use longhaul_core::models::ModelSpec;
use serde_json::Value;

use super::World;
use super::named_call::NamedCall;
use super::sampling::SamplingResult;
use crate::cache::PromptVerdict;
use crate::cache::diagnosis::DiagnosisFingerprint;
use crate::call::VirtualMillis;
use crate::manage::cache_edits;
use crate::prompt::{LaidOutPrompt, key};
use crate::reply::{
    ApiReply, MessageEnvelope, ReplyCounts, SamplingStep, SamplingStepKind, ThinkingDisplay,
    TruncatedDraft, build_message,
};
use crate::request::{ApiBlock, MessagesRequest};
use crate::thinking::{CheckedThinking, InputTransformation};

/// The beta with which replies report what happened to thinking.
const BINDING_CONTROLS: &str = "thinking-binding-controls-2026-08-01";

/// Everything that a reply is built from.
pub(super) struct ReplyParts<'a> {
    pub(super) request: &'a MessagesRequest,
    pub(super) prompt: &'a LaidOutPrompt,
    pub(super) spec: &'a Arc<ModelSpec>,
    /// The blocks before those of the draft.
    pub(super) first: Vec<Value>,
    pub(super) cut: TruncatedDraft,
    pub(super) counts: ReplyCounts,
    pub(super) extra: Vec<(&'static str, Value)>,
    pub(super) verdict: PromptVerdict,
    pub(super) first_byte: VirtualMillis,
    pub(super) ended: VirtualMillis,
}

/// A reply, and what changed since the session's previous call if that cost cache.
#[derive(Debug)]
pub(super) struct ReplyWithChange {
    pub(super) reply: ApiReply,
    pub(super) changed: Option<String>,
}

/// Adds the counts of the reply itself.
pub(super) fn with_sampled_counts(
    mut made: ReplyParts<'_>,
    sampled: SamplingResult,
) -> ReplyParts<'_> {
    made.counts.steps.push(SamplingStep {
        kind: SamplingStepKind::Message,
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

/// Builds a reply and remembers the request for the next one.
pub(super) fn finish(
    world: &mut World,
    case: &NamedCall<'_>,
    made: ReplyParts<'_>,
    admitted: CheckedThinking,
) -> ReplyWithChange {
    let id = world.ids.message();
    let (request, prompt, spec) = (made.request, made.prompt, made.spec);
    let model = format!("{} {}", spec.id, key::speed(request));
    let betas = case.call.betas.iter().cloned().collect();
    let now = DiagnosisFingerprint::of(model, betas, prompt);
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
            done.map(InputTransformation::to_json).collect(),
        ));
    }
    let changed = world.sessions.changed(case.session, &now, prompt);
    world.sessions.remember(case.session.to_owned(), now);
    let usage = made.counts.core();
    let searched = made.counts.searches.is_some_and(|searches| searches > 0);
    let begun = searched.then(|| made.counts.begun());
    let (mut prefix, mut pushed) = (admitted.prefix, 0);
    let message = build_message(
        &made.cut,
        made.first,
        MessageEnvelope {
            id: &id,
            model: &spec.id,
            usage: made.counts.json(),
            extra,
            display: display(request),
        },
        &mut world.ids,
        &mut |shown, before| {
            let new = before.iter().skip(pushed).cloned();
            for block in new.filter_map(ApiBlock::made) {
                prefix.push(&block);
            }
            pushed = before.len();
            world.secret.sign(&prefix, &spec.id, &case.call.key, shown)
        },
    );
    let reply = ApiReply {
        request_id: case.request_id.clone(),
        message,
        begun,
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
    ReplyWithChange { reply, changed }
}

fn display(request: &MessagesRequest) -> ThinkingDisplay {
    let display = request.param("thinking", "display");
    match display.and_then(Value::as_str) {
        Some("omitted") => ThinkingDisplay::Omitted,
        _ => ThinkingDisplay::Shown,
    }
}
