//! What an agent puts before its messages, made into a request prefix by the model's rules.

use longhaul_core::models::{EffortLevel, ModelSpec};
use longhaul_core::prompt::{
    LatchedSettings, OnPrefixMismatch, ParameterError, RequestParameters, RequestPrefix,
    SystemPrompt, ThinkingChoice, Ttl, order_tools,
};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// A system prompt.
#[derive(Debug, Clone)]
pub enum System {
    /// The caller's own text.
    Custom(String),
    /// A prompt made of sections, as it is sent: [`SystemPrompt::json`](longhaul_core::prompt::SystemPrompt).
    Rendered(Box<RawValue>),
}

/// Everything that an agent's requests hold before the messages.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The model's id.
    pub model: String,
    /// The most tokens of a reply.
    pub max_tokens: u64,
    /// The system prompt.
    pub system: System,
    /// The tools' definitions, in any order.
    pub tools: Vec<Value>,
    /// The text before the first message: memory files, the date.
    pub user_context: Option<String>,
    /// Whether the model thinks.
    pub think: ThinkingChoice,
    /// The effort, if it is not the model's default.
    pub effort: Option<EffortLevel>,
    /// How long the provider caches what requests write; with none, requests have no cache breakpoints.
    pub ttl: Option<Ttl>,
    /// Beta features.
    pub betas: Vec<String>,
    /// Further fields of the body, such as `metadata`.
    pub more: Map<String, Value>,
}

impl Prompt {
    /// Creates a prompt for a model with the caller's own system prompt.
    pub fn new(model: impl Into<String>, system: &str) -> Self {
        Self {
            model: model.into(),
            max_tokens: 16_000,
            system: System::Custom(system.to_owned()),
            tools: Vec::new(),
            user_context: None,
            think: ThinkingChoice::Default,
            effort: None,
            ttl: Some(Ttl::FiveMinutes),
            betas: Vec::new(),
            more: Map::new(),
        }
    }

    /// Sets the tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Vec<Value>) -> Self {
        self.tools = tools;
        self
    }

    /// The request prefix for requests to this model.
    ///
    /// # Errors
    /// Fails at fields that cannot be sent together or are set elsewhere; the error says what to change.
    pub fn request_prefix(&self, spec: &ModelSpec) -> Result<RequestPrefix, ParameterError> {
        let body = RequestParameters {
            model: &self.model,
            spec,
            max_tokens: self.max_tokens.min(spec.max_output),
            think: self.think,
            on_mismatch: OnPrefixMismatch::Refuse,
            effort: self.effort,
            more: self.more.clone(),
        }
        .to_body()?;
        for notice in &body.notices {
            tracing::warn!("{notice}");
        }
        let betas = self.betas.iter().cloned().chain(body.betas);
        let system = match &self.system {
            System::Rendered(json) => json.clone(),
            System::Custom(text) => SystemPrompt::custom(text, self.ttl)?.json,
        };
        let tools = to_raw_value(&self.tools)?;
        Ok(RequestPrefix {
            system,
            tools: order_tools(None, &tools)?.json,
            user_context: self.user_context.clone(),
            latched: LatchedSettings::new(self.ttl, betas, spec, body.json),
        })
    }
}
