//! The field `usage` of a message (API-FACTS §1.6).

use longhaul_core::message::{Iteration, IterationKind, Usage};
use serde_json::{Value, json};

use crate::cache::Billing;

/// What a step sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SamplingStepKind {
    /// The step sampled the reply.
    Message,
    /// The step sampled a summary made by the server.
    Compaction,
}

/// One sampling step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SamplingStep {
    /// What it sampled.
    pub kind: SamplingStepKind,
    /// The billing of the step's prompt.
    pub billing: Billing,
    /// The output tokens of the step.
    pub output: u64,
}

/// The token counts of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ReplyCounts {
    /// The steps in order; there is only one without a list of iterations.
    pub steps: Vec<SamplingStep>,
    /// The tokens of thinking in the output.
    pub thinking: u64,
    /// The tokens removed from the cached prefix by reference, if the request asked for it.
    pub deleted: Option<u64>,
    /// Whether the reply lists the steps.
    pub listed: bool,
    /// The searches of the web that are billed; `None` if the request offers no web search.
    pub searches: Option<u64>,
    /// The requested `inference_geo`.
    pub geo: Option<String>,
    /// The requested `speed`.
    pub speed: Option<String>,
}

impl ReplyCounts {
    /// The sum of the reply's own steps, which is at the top level of `usage`.
    fn top(&self) -> (Billing, u64) {
        let steps = self
            .steps
            .iter()
            .filter(|step| step.kind == SamplingStepKind::Message);
        steps.fold((Billing::default(), 0), |(sum, output), step| {
            let b = step.billing;
            let sum = Billing {
                read: sum.read + b.read,
                write_5m: sum.write_5m + b.write_5m,
                write_1h: sum.write_1h + b.write_1h,
                input: sum.input + b.input,
            };
            (sum, output + step.output)
        })
    }

    /// The counts as JSON.
    pub(crate) fn json(&self) -> Value {
        let (billing, output) = self.top();
        let mut usage = step_json(&billing, output);
        usage["output_tokens_details"] = json!({ "thinking_tokens": self.thinking });
        usage["server_tool_use"] = match self.searches {
            Some(searches) => json!({ "web_search_requests": searches, "web_fetch_requests": 0 }),
            None => Value::Null,
        };
        usage["service_tier"] = json!("standard");
        usage["inference_geo"] = json!(self.geo.as_deref().unwrap_or("global"));
        if let Some(speed) = &self.speed {
            usage["speed"] = json!(speed);
        }
        if let Some(deleted) = self.deleted {
            usage["cache_deleted_input_tokens"] = json!(deleted);
        }
        if self.listed {
            let steps = self.steps.iter().map(|step| {
                let mut one = step_json(&step.billing, step.output);
                one["type"] = json!(match step.kind {
                    SamplingStepKind::Message => "message",
                    SamplingStepKind::Compaction => "compaction",
                });
                one
            });
            usage["iterations"] = steps.collect();
        }
        usage
    }

    /// The counts at the beginning of the reply: those of its first step.
    pub(crate) fn begun(&self) -> Value {
        let first = self.steps.iter().take(1).copied().collect();
        let begun = Self {
            steps: first,
            searches: self.searches.map(|_| 0),
            ..self.clone()
        };
        begun.json()
    }

    /// The counts as the core's type.
    pub(crate) fn core(&self) -> Usage {
        let (billing, output) = self.top();
        let mut usage = billing.usage(output);
        usage.cache_deleted = self.deleted;
        usage.web_searches = self.searches.unwrap_or_default();
        usage.us_only = self.geo.as_deref() == Some("us");
        if self.listed {
            let steps = self.steps.iter().map(|step| Iteration {
                kind: match step.kind {
                    SamplingStepKind::Message => IterationKind::Message,
                    SamplingStepKind::Compaction => IterationKind::Other,
                },
                usage: step.billing.usage(step.output),
            });
            usage.iterations = steps.collect();
        }
        usage
    }
}

fn step_json(billing: &Billing, output: u64) -> Value {
    json!({
        "input_tokens": billing.input,
        "cache_creation_input_tokens": billing.write_5m + billing.write_1h,
        "cache_read_input_tokens": billing.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": billing.write_5m,
            "ephemeral_1h_input_tokens": billing.write_1h,
        },
        "output_tokens": output,
    })
}
