//! The last step of a call: dressing the reply, and remembering the request for the next.

use std::sync::Arc;

use longhaul_core::models::ModelSpec;
use serde_json::Value;

use super::World;
use super::exchange::{Answer, Case};
use super::sampling::Sampled;
use crate::cache::Verdict;
use crate::cache::diagnosis::Fingerprint;
use crate::call::Millis;
use crate::manage::cache_edits;
use crate::prompt::{Prompt, key};
use crate::reply::{Counts, Cut, Display, Dressing, Reply, Step, StepKind, dress};
use crate::request::{Block, Request};
use crate::thinking::{Admitted, Transformation};

/// The beta with which replies say what became of thinking.
const BINDING_CONTROLS: &str = "thinking-binding-controls-2026-08-01";

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

/// Adds the counts of the reply itself.
pub(super) fn told(mut made: Made<'_>, sampled: Sampled) -> Made<'_> {
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
pub(super) fn finish(
    world: &mut World,
    case: &Case<'_>,
    made: Made<'_>,
    admitted: Admitted,
) -> Answer {
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
