//! Summaries made by the server: on demand, or when a prompt has grown past a threshold.

use std::sync::Arc;

use longhaul_core::models::ModelSpec;
use serde_json::{Value, json};

use super::World;
use super::finish::ReplyParts;
use super::named_call::NamedCall;
use super::read_bodies::ReadBody;
use super::sampling::{self, SamplingInput, SamplingResult};
use crate::call::{ApiError, VirtualMillis};
use crate::manage::ThresholdCompaction;
use crate::manage::compaction::{self, OnDemandCompaction};
use crate::manage::summary::{self, SummaryAttempt};
use crate::prompt::scheme::LayoutScheme;
use crate::reply::{ReplyCounts, SamplingStep, SamplingStepKind, SimStopReason, TruncatedDraft};
use crate::request::MessagesRequest;

/// A summary made because the prompt was too large.
#[derive(Debug)]
pub(super) struct ServerCompaction {
    pub(super) step: SamplingStep,
    /// The block for the reply.
    pub(super) block: Value,
    /// The rest of the conversation; `None` if there is no summary.
    pub(super) left: Option<MessagesRequest>,
    pub(super) ended: VirtualMillis,
    /// Set if the reply ends here.
    pub(super) paused: Option<SamplingResult>,
}

/// Summarizes a whole conversation: the reply is only the signed block.
pub(super) fn on_demand<'a>(
    world: &mut World,
    case: &NamedCall<'_>,
    reading: &'a ReadBody,
    spec: &'a Arc<ModelSpec>,
    asked: &OnDemandCompaction,
) -> Result<ReplyParts<'a>, ApiError> {
    if world.no_compaction > 0 {
        world.no_compaction -= 1;
        return Err(compaction::unavailable());
    }
    let (request, layout) = (&reading.request, &reading.layout);
    let source = SamplingInput {
        request,
        layout,
        spec,
        at: world.clock,
    };
    let sampled = ask(world, case, source, asked.instructions.as_deref())?;
    let (first, stop) = match summary::outcome(&sampled.cut) {
        SummaryAttempt::Summary(text) => {
            let key = &case.call.key;
            let signature = world.secret.sign_summary(request, &spec.id, key, &text);
            let block = json!({
                "type": "compaction",
                "content": text,
                "encrypted_content": null,
                "signature": signature,
            });
            (vec![block], SimStopReason::Compaction)
        }
        SummaryAttempt::Failed(stop) => (Vec::new(), stop),
    };
    Ok(ReplyParts {
        request,
        prompt: &layout.prompt,
        spec,
        first,
        cut: ending(stop),
        counts: ReplyCounts {
            steps: vec![step(&sampled)],
            listed: true,
            ..ReplyCounts::default()
        },
        extra: Vec::new(),
        verdict: sampled.verdict,
        first_byte: sampled.first_byte,
        ended: sampled.ended,
    })
}

/// Summarizes a conversation that has grown too large, before it is answered.
pub(super) fn threshold(
    world: &mut World,
    case: &NamedCall<'_>,
    source: SamplingInput<'_>,
    compact: &ThresholdCompaction,
) -> Result<ServerCompaction, ApiError> {
    let mut sampled = ask(world, case, source, compact.instructions.as_deref())?;
    let outcome = summary::outcome(&sampled.cut);
    let step = step(&sampled);
    let ended = sampled.ended;
    let (content, left) = match outcome {
        SummaryAttempt::Summary(text) => {
            let block = json!({ "type": "compaction", "content": text });
            (
                Some(text),
                Some(summary::with_summary(source.request, block)),
            )
        }
        SummaryAttempt::Failed(_) => (None, None),
    };
    sampled.cut = ending(SimStopReason::Compaction);
    let paused = (compact.pause && content.is_some()).then_some(sampled);
    Ok(ServerCompaction {
        step,
        block: json!({ "type": "compaction", "content": content, "encrypted_content": null }),
        left,
        ended,
        paused,
    })
}

/// Asks the model for a summary of what it sees.
fn ask(
    world: &mut World,
    case: &NamedCall<'_>,
    source: SamplingInput<'_>,
    instructions: Option<&str>,
) -> Result<SamplingResult, ApiError> {
    let question = summary::question(source.request, instructions);
    let scheme = LayoutScheme {
        spec: source.spec,
        betas: &case.call.betas,
    };
    let kept = source.request.messages.len();
    let layout = source.layout.clone();
    let layout = layout.extended(&question, kept, scheme, &mut world.counter)?;
    let shown = summary::without_summarized(&question);
    sampling::sample(
        world,
        case,
        SamplingInput {
            request: shown.as_ref().unwrap_or(&question),
            layout: &layout,
            ..source
        },
    )
}

fn step(sampled: &SamplingResult) -> SamplingStep {
    SamplingStep {
        kind: SamplingStepKind::Compaction,
        billing: sampled.billing,
        output: sampled.cut.output_tokens,
    }
}

/// A reply without content from the model.
fn ending(stop: SimStopReason) -> TruncatedDraft {
    TruncatedDraft {
        content: Vec::new(),
        stop,
        output_tokens: 0,
        thinking_tokens: 0,
    }
}
