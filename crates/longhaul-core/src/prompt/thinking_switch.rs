//! How much the model thinks may change within a session, at the user's wish. These settings are part of the cache key
//! (B5), so everything else of the request prefix keeps its bytes, and the new prefix is written as one with other
//! settings.

use serde_json::{Map, Value};

use super::{OnPrefixMismatch, ParameterError, RequestParameters, RequestPrefix, ThinkingChoice};
use crate::models::{EffortLevel, ModelSpec};

/// The fields of a body that say how much the model thinks.
const FIELDS: [&str; 2] = ["output_config", "thinking"];

/// A request prefix with other settings for thinking, and notices about settings that were not used.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ThinkingSwitch {
    /// The prefix.
    pub prefix: RequestPrefix,
    /// Sentences about settings that were left out or replaced.
    pub notices: Vec<String>,
}

impl RequestPrefix {
    /// This prefix with other settings for thinking.
    ///
    /// # Errors
    /// Fails if a thinking budget does not fit the length of a reply.
    pub fn with_thinking(
        &self,
        spec: &ModelSpec,
        think: ThinkingChoice,
        effort: Option<EffortLevel>,
    ) -> Result<ThinkingSwitch, ParameterError> {
        let field =
            |name: &str| -> Option<Value> { serde_json::from_str(self.latched.field(name)?).ok() };
        let mut more = Map::new();
        if let Some(Value::Object(mut config)) = field("output_config") {
            config.remove("effort");
            if !config.is_empty() {
                more.insert("output_config".to_owned(), Value::Object(config));
            }
        }
        let max_tokens = field("max_tokens").and_then(|it| it.as_u64());
        let made = RequestParameters {
            model: &spec.id,
            spec,
            max_tokens: max_tokens.unwrap_or(spec.max_output),
            think,
            on_mismatch: OnPrefixMismatch::Refuse,
            effort,
            more,
        }
        .to_body()?;
        let fields: Map<String, Value> = serde_json::from_str(made.json.get())?;
        let mut prefix = self.clone();
        for name in FIELDS {
            match fields.get(name) {
                Some(value) => prefix.latched.set_field(name, value),
                None => prefix.latched.remove_field(name),
            }
        }
        prefix.latched.add_betas(made.betas);
        Ok(ThinkingSwitch {
            prefix,
            notices: made.notices,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ModelTable;
    use crate::prompt::LatchedSettings;
    use serde_json::value::RawValue;

    fn prefix(spec: &ModelSpec, body: &str) -> RequestPrefix {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        RequestPrefix {
            system: raw("[]"),
            tools: raw("[]"),
            user_context: None,
            latched: LatchedSettings::new(None, [], spec, raw(body)),
        }
    }

    #[test]
    fn b5_only_the_settings_for_thinking_change() {
        let spec = ModelTable::builtin().resolve("claude-opus-4-8").spec;
        let body =
            r#"{"max_tokens":  8000,"model":"claude-opus-4-8","output_config":{"format":1}}"#;
        let before = prefix(&spec, body);
        let on = ThinkingChoice::On { budget: 4_000 };
        let high = before
            .with_thinking(&spec, on, Some(EffortLevel::High))
            .unwrap();
        let body = high.prefix.latched.body.get();
        assert!(
            body.starts_with(r#"{"max_tokens":8000,"model":"claude-opus-4-8""#),
            "{body}"
        );
        assert!(body.contains(r#""thinking":{"type":"adaptive"}"#), "{body}");
        assert!(
            body.contains(r#""effort":"high""#) && body.contains(r#""format":1"#),
            "{body}"
        );
        let default = ThinkingChoice::Default;
        let back = high.prefix.with_thinking(&spec, default, None).unwrap();
        let back = back.prefix.latched.body.get();
        assert!(
            !back.contains("effort") && !back.contains("thinking"),
            "{back}"
        );
        let off = high
            .prefix
            .with_thinking(&spec, ThinkingChoice::Off, None)
            .unwrap();
        assert!(off.prefix.latched.body.get().contains("disabled"));
        assert!(off.notices.is_empty());
    }

    #[test]
    fn b5_settings_that_stay_keep_their_bytes() {
        let spec = ModelTable::builtin().resolve("claude-opus-4-8").spec;
        let body = r#"{"model":"claude-opus-4-8","max_tokens":8000}"#;
        let before = prefix(&spec, body);
        let same = before
            .with_thinking(&spec, ThinkingChoice::Default, None)
            .unwrap();
        assert_eq!(same.prefix.latched.body.get(), body);
    }
}
