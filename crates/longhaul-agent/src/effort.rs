//! How hard the model thinks, as the user sets it: an effort, or no thinking at all, as far as the model takes it.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::models::{EffortLevel, ModelSpec, ThinkingType};
use longhaul_core::prompt::{RequestPrefix, ThinkingChoice};
use serde_json::Value;

/// How hard the model is to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EffortSetting {
    /// As the model does by itself.
    #[default]
    Model,
    /// With this effort. Models that think only when they are told to are told to.
    Level(EffortLevel),
    /// Not at all, or as little as the model can.
    Off,
}

impl EffortSetting {
    /// The names that [`EffortSetting::named`] knows, for people.
    pub(crate) const NAMES: &str = "low, medium, high, xhigh, max, off or auto";

    /// The setting with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "auto" | "default" => Some(Self::Model),
            "off" => Some(Self::Off),
            name => EffortLevel::named(name).map(Self::Level),
        }
    }

    /// The setting's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "auto",
            Self::Level(level) => level.name(),
            Self::Off => "off",
        }
    }

    /// Whether a model takes this setting; the error says what it takes instead.
    pub(crate) fn check(self, spec: &ModelSpec) -> Result<(), String> {
        let (id, rules) = (&spec.id, &spec.thinking);
        match self {
            Self::Model => Ok(()),
            Self::Level(level) if rules.efforts.contains(&level) => Ok(()),
            Self::Level(level) if rules.efforts.is_empty() => Err(format!(
                "{id} takes no effort, so {} cannot be set; if it does, say which in thinking.efforts of your models file",
                level.name()
            )),
            Self::Level(level) => {
                let names: Vec<&str> = rules.efforts.iter().map(|it| it.name()).collect();
                Err(format!(
                    "{id} does not take the effort {}; it takes {}",
                    level.name(),
                    names.join(", ")
                ))
            }
            Self::Off => {
                let thinks_less = [ThinkingType::Disabled, ThinkingType::BetweenTools];
                if thinks_less.into_iter().any(|kind| rules.takes(kind)) {
                    Ok(())
                } else {
                    Err(format!("{id} cannot be kept from thinking"))
                }
            }
        }
    }

    /// The parameters of requests to a model; its own defaults where it does not take the setting.
    pub(crate) fn parameters(self, spec: &ModelSpec) -> (ThinkingChoice, Option<EffortLevel>) {
        match self {
            _ if self.check(spec).is_err() => (ThinkingChoice::Default, None),
            Self::Model => (ThinkingChoice::Default, None),
            // No model that takes `adaptive` needs a budget.
            Self::Level(level) if spec.thinking.takes(ThinkingType::Adaptive) => {
                (ThinkingChoice::On { budget: 0 }, Some(level))
            }
            Self::Level(level) => (ThinkingChoice::Default, Some(level)),
            Self::Off => (ThinkingChoice::Off, None),
        }
    }

    /// The setting in a request prefix.
    pub(crate) fn of_prefix(prefix: &RequestPrefix) -> Self {
        let field = |name: &str, key: &str| -> Option<String> {
            let value: Value = serde_json::from_str(prefix.latched.field(name)?).ok()?;
            Some(value.get(key)?.as_str()?.to_owned())
        };
        let effort = field("output_config", "effort");
        let level = effort.as_deref().and_then(EffortLevel::named);
        match (level, field("thinking", "type").as_deref()) {
            (Some(level), _) => Self::Level(level),
            (None, Some("disabled" | "between_tools")) => Self::Off,
            (None, _) => Self::Model,
        }
    }
}

/// The setting of an agent: its conversations and hooks see a change at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedEffort(Arc<Mutex<EffortSetting>>);

impl SharedEffort {
    pub(crate) fn of(effort: EffortSetting) -> Self {
        Self(Arc::new(Mutex::new(effort)))
    }

    pub(crate) fn get(&self) -> EffortSetting {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, effort: EffortSetting) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = effort;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_core::models::ModelTable;

    #[test]
    fn n1_the_models_table_says_which_efforts_a_model_takes() {
        let check = |model: &str, name: &str| {
            let spec = ModelTable::builtin().resolve(model).spec;
            EffortSetting::named(name).unwrap().check(&spec)
        };
        assert_eq!(check("claude-opus-5-5", "xhigh"), Ok(()));
        let four = check("claude-sonnet-4-6", "xhigh").unwrap_err();
        assert!(four.contains("low, medium, high, max"), "{four}");
        assert!(
            check("claude-haiku-4-5", "low")
                .unwrap_err()
                .contains("takes no effort")
        );
        assert!(
            check("claude-fable-5-2", "off")
                .unwrap_err()
                .contains("kept from thinking")
        );
        assert_eq!(check("claude-sonnet-5-5", "off"), Ok(()));
        assert_eq!(check("claude-3-haiku", "auto"), Ok(()));
        assert_eq!(EffortSetting::named("more"), None);
        for name in ["auto", "off", "low", "max"] {
            assert_eq!(EffortSetting::named(name).unwrap().name(), name);
        }
    }
}
