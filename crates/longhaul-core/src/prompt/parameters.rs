//! The body fields of a request other than system, tools and messages, chosen by the model's rules (N6).
//!
//! They are made once per session and latched as bytes. Fields that newer models refuse are never among them: no forced
//! tool choice, no sampling parameters, no kind of thinking that the model does not accept.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::models::{EffortLevel, ModelSpec, ThinkingType};

/// The minimum thinking budget.
const LEAST_BUDGET: u64 = 1_024;
/// The beta that lets a request say what happens to thinking whose prefix changed.
const BINDING_CONTROLS: &str = "thinking-binding-controls-2026-08-01";

/// Whether the model should think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingChoice {
    /// The model uses its own default.
    Default,
    /// The model should think. The budget is for models that require one.
    On {
        /// The thinking budget in tokens.
        budget: u64,
    },
    /// The model should think as little as it allows.
    Off,
}

/// What happens to thinking whose prefix has changed (N2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnPrefixMismatch {
    /// The provider refuses the request, which is its default. Longhaul's own requests never hold such thinking.
    #[default]
    Refuse,
    /// The provider drops the thinking. This is a safety net for sessions that other programs also write to, and needs
    /// a beta feature.
    DropBlock,
}

/// The host's settings for its requests.
#[derive(Debug, Clone)]
pub struct RequestParameters<'a> {
    /// The model's id as it is sent.
    pub model: &'a str,
    /// The known properties of the model.
    pub spec: &'a ModelSpec,
    /// The maximum number of tokens of a reply.
    pub max_tokens: u64,
    /// Whether the model should think.
    pub think: ThinkingChoice,
    /// What happens to thinking that is no longer valid.
    pub on_mismatch: OnPrefixMismatch,
    /// The effort, if it is not the model's default.
    pub effort: Option<EffortLevel>,
    /// Further fields, such as `metadata` and `service_tier`.
    pub more: Map<String, Value>,
}

/// The body fields, and notices about settings that were not used.
#[derive(Debug, Clone)]
pub struct ParameterFields {
    /// The fields as an object, for [`LatchedSettings::body`](super::LatchedSettings::body).
    pub json: Box<RawValue>,
    /// Beta features that the fields need.
    pub betas: Vec<String>,
    /// Sentences about settings that were left out or replaced.
    pub notices: Vec<String>,
}

/// Why parameters cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// Current models refuse the field, and leaving it out would change what the caller gets.
    #[error(
        "a request cannot force a tool: current models refuse it. Ask for the tool in the prompt instead"
    )]
    ForcedToolChoice,
    /// The field is set elsewhere.
    #[error("`{0}` is not a free field of a request: set it in its own place")]
    Reserved(String),
    /// The budget is too large for the reply.
    #[error(
        "a thinking budget of {budget} tokens does not fit a reply of {max_tokens}: raise `max_tokens` above it, and both above 1,024"
    )]
    Budget {
        /// The requested budget.
        budget: u64,
        /// The maximum number of tokens of a reply.
        max_tokens: u64,
    },
    /// The fields cannot be serialized.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

const RESERVED: [&str; 8] = [
    "messages",
    "system",
    "tools",
    "stream",
    "model",
    "max_tokens",
    "thinking",
    "compaction",
];
const SAMPLING: [&str; 3] = ["temperature", "top_k", "top_p"];

impl RequestParameters<'_> {
    /// Creates the body fields.
    ///
    /// # Errors
    /// Fails at a field that is set elsewhere, a forced tool, and a thinking budget that does not fit the reply. Each
    /// error says what to change.
    pub fn to_body(&self) -> Result<ParameterFields, ParameterError> {
        let mut notices = Vec::new();
        let mut betas = Vec::new();
        let mut fields = Map::new();
        for (name, value) in &self.more {
            if RESERVED.contains(&name.as_str()) {
                return Err(ParameterError::Reserved(name.clone()));
            }
            if SAMPLING.contains(&name.as_str()) {
                notices.push(format!("`{name}` is left out: current models refuse it."));
                continue;
            }
            let choice = value.get("type").and_then(Value::as_str);
            if name == "tool_choice" && matches!(choice, Some("any" | "tool")) {
                return Err(ParameterError::ForcedToolChoice);
            }
            fields.insert(name.clone(), value.clone());
        }
        fields.insert("model".into(), json!(self.model));
        fields.insert("max_tokens".into(), json!(self.max_tokens));
        if let Some(effort) = self.effort {
            let config = fields.entry("output_config").or_insert_with(|| json!({}));
            config["effort"] = json!(effort);
        }
        if let Some(mut thinking) = self.thinking(&mut notices)? {
            let binds = self.spec.thinking.binding.may_bind() && thinking["type"] != "disabled";
            if binds && self.on_mismatch == OnPrefixMismatch::DropBlock {
                thinking["block_binding"] = json!({ "prefix_mismatch_behavior": "drop_block" });
                betas.push(BINDING_CONTROLS.to_owned());
            }
            fields.insert("thinking".into(), thinking);
        }
        Ok(ParameterFields {
            json: serde_json::value::to_raw_value(&fields)?,
            betas,
            notices,
        })
    }

    fn thinking(&self, notices: &mut Vec<String>) -> Result<Option<Value>, ParameterError> {
        let rules = &self.spec.thinking;
        let id = &self.spec.id;
        let budget = match self.think {
            ThinkingChoice::Default => return Ok(None),
            ThinkingChoice::Off => return Ok(self.no_thinking(notices)),
            ThinkingChoice::On { budget } => budget,
        };
        if rules.takes(ThinkingType::Adaptive) {
            return Ok(Some(json!({ "type": "adaptive" })));
        }
        if rules.takes(ThinkingType::Enabled) {
            let max_tokens = self.max_tokens;
            if budget < LEAST_BUDGET || budget >= max_tokens {
                return Err(ParameterError::Budget { budget, max_tokens });
            }
            return Ok(Some(json!({ "type": "enabled", "budget_tokens": budget })));
        }
        notices.push(format!(
            "`{id}` takes no setting for thinking: none is sent."
        ));
        Ok(None)
    }

    fn no_thinking(&self, notices: &mut Vec<String>) -> Option<Value> {
        let rules = &self.spec.thinking;
        let effort = self.effort.unwrap_or(EffortLevel::High);
        let allowed = rules.disabled_up_to.is_none_or(|most| effort <= most);
        if rules.takes(ThinkingType::Disabled) && allowed {
            return Some(json!({ "type": "disabled" }));
        }
        let id = &self.spec.id;
        if rules.takes(ThinkingType::BetweenTools) {
            notices.push(format!(
                "`{id}` always thinks between calls of tools: only that is left."
            ));
            return Some(json!({ "type": "between_tools" }));
        }
        if !rules.accepts.is_empty() {
            notices.push(format!(
                "`{id}` cannot be kept from thinking here: no setting is sent."
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ModelTable;

    fn with(
        model: &str,
        change: impl FnOnce(&mut RequestParameters<'_>),
    ) -> Result<ParameterFields, ParameterError> {
        let spec = ModelTable::builtin().resolve(model).spec;
        let mut parameters = RequestParameters {
            model,
            spec: &spec,
            max_tokens: 8_000,
            think: ThinkingChoice::On { budget: 4_000 },
            on_mismatch: OnPrefixMismatch::Refuse,
            effort: None,
            more: Map::new(),
        };
        change(&mut parameters);
        parameters.to_body()
    }

    fn thinking(model: &str, think: ThinkingChoice) -> (Value, usize) {
        let body = with(model, |parameters| parameters.think = think).unwrap();
        let fields: Value = serde_json::from_str(body.json.get()).unwrap();
        (fields["thinking"].clone(), body.notices.len())
    }

    #[test]
    fn n6_thinking_is_asked_for_in_the_way_the_model_takes() {
        let on = ThinkingChoice::On { budget: 4_000 };
        let enabled = json!({"type": "enabled", "budget_tokens": 4_000});
        for (model, think, expected, notices) in [
            ("claude-fable-5-2", on, json!({"type": "adaptive"}), 0),
            ("claude-sonnet-4-5", on, enabled, 0),
            ("claude-3-haiku", on, Value::Null, 1),
            ("some-other-model", on, Value::Null, 1),
            (
                "claude-opus-4-8",
                ThinkingChoice::Off,
                json!({"type": "disabled"}),
                0,
            ),
            (
                "claude-sonnet-5-5",
                ThinkingChoice::Off,
                json!({"type": "between_tools"}),
                1,
            ),
            ("claude-fable-5-2", ThinkingChoice::Off, Value::Null, 1),
            ("claude-opus-4-8", ThinkingChoice::Default, Value::Null, 0),
        ] {
            assert_eq!(
                thinking(model, think),
                (expected, notices),
                "{model} {think:?}"
            );
        }
    }

    #[test]
    fn n6_a_budget_is_at_least_the_smallest_and_below_the_output() {
        let asked = |budget: u64| {
            let body = with("claude-sonnet-4-5", |parameters| {
                parameters.think = ThinkingChoice::On { budget };
            });
            body.is_ok()
        };
        assert!(asked(LEAST_BUDGET) && asked(7_999));
        assert!(!asked(LEAST_BUDGET - 1));
        assert!(!asked(8_000) && !asked(9_000));
    }

    #[test]
    fn n6_a_model_that_takes_no_setting_needs_no_notice_that_thinking_is_off() {
        let off = ThinkingChoice::Off;
        assert_eq!(thinking("claude-3-haiku", off), (Value::Null, 0));
    }

    #[test]
    fn n6_thinking_is_disabled_at_the_highest_effort_that_allows_it() {
        let body = with("claude-opus-5", |parameters| {
            parameters.think = ThinkingChoice::Off;
            parameters.effort = Some(EffortLevel::High);
        });
        let body = body.unwrap();
        assert!(body.json.get().contains("disabled"), "{}", body.json.get());
    }

    #[test]
    fn n6_thinking_is_not_disabled_at_an_effort_that_forbids_it() {
        let body = with("claude-opus-5", |parameters| {
            parameters.think = ThinkingChoice::Off;
            parameters.effort = Some(EffortLevel::Max);
        });
        let body = body.unwrap();
        assert!(!body.json.get().contains("disabled"), "{}", body.json.get());
        assert_eq!(body.notices.len(), 1);
    }

    #[test]
    fn n6_sampling_parameters_are_dropped_with_a_notice() {
        let body = with("claude-opus-4-8", |parameters| {
            for name in SAMPLING {
                parameters.more.insert(name.into(), json!(0.5));
            }
            parameters
                .more
                .insert("metadata".into(), json!({"user_id": "u"}));
        });
        let body = body.unwrap();
        assert_eq!(body.notices.len(), 3);
        let fields: Value = serde_json::from_str(body.json.get()).unwrap();
        assert_eq!(fields["metadata"]["user_id"], "u");
        assert!(SAMPLING.iter().all(|name| fields.get(name).is_none()));
    }

    #[test]
    fn n6_a_forced_tool_choice_is_refused() {
        for (choice, taken) in [
            ("auto", true),
            ("none", true),
            ("any", false),
            ("tool", false),
        ] {
            let body = with("claude-sonnet-5-5", |parameters| {
                parameters
                    .more
                    .insert("tool_choice".into(), json!({"type": choice}));
            });
            assert_eq!(body.is_ok(), taken, "{choice}");
        }
    }

    #[test]
    fn n6_fields_with_a_place_of_their_own_are_refused() {
        let body = with("claude-sonnet-5-5", |parameters| {
            parameters.more.insert("stream".into(), json!(false));
        });
        assert!(matches!(body, Err(ParameterError::Reserved(name)) if name == "stream"));
    }

    #[test]
    fn n2_a_request_may_ask_for_unfit_thinking_to_be_dropped() {
        let asked = |model| with(model, |p| p.on_mismatch = OnPrefixMismatch::DropBlock).unwrap();
        let body = asked("claude-fable-5-2");
        assert_eq!(body.betas, [BINDING_CONTROLS]);
        assert!(body.json.get().contains("drop_block"));
        assert!(asked("claude-opus-4-8").betas.is_empty());
    }
}
