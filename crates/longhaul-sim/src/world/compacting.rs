//! Summaries made by the server: on demand, or when a prompt has grown past a threshold.

use std::sync::Arc;

use longhaul_core::models::ModelSpec;
use serde_json::{Value, json};

use super::World;
use super::exchange::Case;
use super::finish::Made;
use super::readings::Reading;
use super::sampling::{self, Sampled, Source};
use crate::call::{ApiError, Millis};
use crate::manage::Compact;
use crate::manage::compaction::{self, OnDemand};
use crate::manage::summary::{self, Outcome};
use crate::prompt::layout::Scheme;
use crate::reply::{Counts, Cut, Step, StepKind, StopReason};
use crate::request::Request;

/// A summary made because the prompt was too large.
#[derive(Debug)]
pub(super) struct Compacted {
    pub(super) step: Step,
    /// The block that goes into the reply.
    pub(super) block: Value,
    /// What is left of the conversation; none if there is no summary.
    pub(super) left: Option<Request>,
    pub(super) ended: Millis,
    /// The reply ends here.
    pub(super) paused: Option<Sampled>,
}

/// Summarises a whole conversation: the reply is the signed block and nothing else.
pub(super) fn on_demand<'a>(
    world: &mut World,
    case: &Case<'_>,
    reading: &'a Reading,
    spec: &'a Arc<ModelSpec>,
    asked: &OnDemand,
) -> Result<Made<'a>, ApiError> {
    if world.no_compaction > 0 {
        world.no_compaction -= 1;
        return Err(compaction::unavailable());
    }
    let (request, layout) = (&reading.request, &reading.layout);
    let source = Source {
        request,
        layout,
        spec,
        at: world.clock,
    };
    let sampled = ask(world, case, source, asked.instructions.as_deref())?;
    let (first, stop) = match summary::outcome(&sampled.cut) {
        Outcome::Summary(text) => {
            let key = &case.call.key;
            let signature = world.secret.sign_summary(request, &spec.id, key, &text);
            let block = json!({
                "type": "compaction",
                "content": text,
                "encrypted_content": null,
                "signature": signature,
            });
            (vec![block], StopReason::Compaction)
        }
        Outcome::Failed(stop) => (Vec::new(), stop),
    };
    Ok(Made {
        request,
        prompt: &layout.prompt,
        spec,
        first,
        cut: ending(stop),
        counts: Counts {
            steps: vec![step(&sampled)],
            listed: true,
            ..Counts::default()
        },
        extra: Vec::new(),
        verdict: sampled.verdict,
        first_byte: sampled.first_byte,
        ended: sampled.ended,
    })
}

/// Summarises a conversation that has grown too large, before it is answered.
pub(super) fn threshold(
    world: &mut World,
    case: &Case<'_>,
    source: Source<'_>,
    compact: &Compact,
) -> Result<Compacted, ApiError> {
    let mut sampled = ask(world, case, source, compact.instructions.as_deref())?;
    let outcome = summary::outcome(&sampled.cut);
    let step = step(&sampled);
    let ended = sampled.ended;
    let (content, left) = match outcome {
        Outcome::Summary(text) => {
            let block = json!({ "type": "compaction", "content": text });
            (Some(text), Some(summary::summarised(source.request, block)))
        }
        Outcome::Failed(_) => (None, None),
    };
    sampled.cut = ending(StopReason::Compaction);
    let paused = (compact.pause && content.is_some()).then_some(sampled);
    Ok(Compacted {
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
    case: &Case<'_>,
    source: Source<'_>,
    instructions: Option<&str>,
) -> Result<Sampled, ApiError> {
    let question = summary::question(source.request, instructions);
    let scheme = Scheme {
        spec: source.spec,
        betas: &case.call.betas,
    };
    let kept = source.request.messages.len();
    let layout = source.layout.clone();
    let layout = layout.extended(&question, kept, scheme, &mut world.counter)?;
    let shown = summary::without_summarised(&question);
    sampling::sample(
        world,
        case,
        Source {
            request: shown.as_ref().unwrap_or(&question),
            layout: &layout,
            ..source
        },
    )
}

fn step(sampled: &Sampled) -> Step {
    Step {
        kind: StepKind::Compaction,
        billing: sampled.billing,
        output: sampled.cut.output_tokens,
    }
}

/// A reply of its own blocks only.
fn ending(stop: StopReason) -> Cut {
    Cut {
        content: Vec::new(),
        stop,
        output_tokens: 0,
        thinking_tokens: 0,
    }
}
