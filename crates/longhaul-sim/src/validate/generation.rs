//! The generation of a model, for rules that the model table does not contain.

use longhaul_core::models::ModelSpec;

/// A family of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelFamily {
    Haiku,
    Sonnet,
    Opus,
    Fable,
    Mythos,
    /// A model of no known family. It counts as the newest, so that nobody relies on what new models refuse.
    Other,
}

/// The position of a model in its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModelGeneration {
    pub(crate) family: ModelFamily,
    pub(crate) version: (u32, u32),
}

impl ModelGeneration {
    /// The generation for an id such as `claude-opus-4-6` or `claude-3-7-sonnet`.
    pub(crate) fn of(spec: &ModelSpec) -> ModelGeneration {
        ModelGeneration::named(&spec.id)
    }

    /// The generation for an id alone.
    pub(crate) fn named(id: &str) -> ModelGeneration {
        let family = id.split('-').find_map(|part| match part {
            "haiku" => Some(ModelFamily::Haiku),
            "sonnet" => Some(ModelFamily::Sonnet),
            "opus" => Some(ModelFamily::Opus),
            "fable" => Some(ModelFamily::Fable),
            "mythos" => Some(ModelFamily::Mythos),
            _ => None,
        });
        let numbers = id.split('-').filter(|part| part.len() <= 2);
        let mut numbers = numbers.filter_map(|part| part.parse::<u32>().ok());
        let version = match (family, numbers.next()) {
            (Some(_), Some(major)) => (major, numbers.next().unwrap_or(0)),
            // Mythos Preview is between 4.6 and 5.
            (Some(_), None) => (4, 7),
            (None, _) => (u32::MAX, 0),
        };
        ModelGeneration {
            family: family.unwrap_or(ModelFamily::Other),
            version,
        }
    }

    /// Whether a request may end with the beginning of the reply.
    pub(super) fn takes_prefill(self) -> bool {
        self.version < (4, 6) && self.family != ModelFamily::Mythos
    }

    /// Whether `temperature`, `top_p` and `top_k` may differ from their defaults.
    pub(super) fn takes_sampling(self) -> bool {
        self.version < (4, 7)
    }

    /// Whether `temperature` and `top_p` may be given together.
    pub(super) fn takes_both_samplings(self) -> bool {
        match self.family {
            ModelFamily::Opus => self.version < (4, 1),
            _ => self.version < (4, 5),
        }
    }

    /// Whether a tool can be forced.
    pub(super) fn takes_forced_tools(self) -> bool {
        match self.family {
            ModelFamily::Fable | ModelFamily::Mythos => self.version < (5, 1),
            ModelFamily::Opus | ModelFamily::Sonnet => self.version < (5, 5),
            ModelFamily::Haiku => true,
            ModelFamily::Other => false,
        }
    }

    /// Whether messages of role system are accepted.
    pub(super) fn takes_system_messages(self) -> bool {
        match self.family {
            ModelFamily::Opus => self.version >= (4, 8),
            ModelFamily::Fable | ModelFamily::Mythos => self.version >= (5, 0),
            ModelFamily::Sonnet | ModelFamily::Haiku => self.version >= (5, 5),
            ModelFamily::Other => true,
        }
    }

    /// The accepted values of `output_config.effort`, sorted as the API lists them.
    pub(super) fn efforts(self) -> &'static [&'static str] {
        match (self.family, self.version) {
            (_, version) if version >= (4, 7) => &["high", "low", "max", "medium", "xhigh"],
            (_, (4, 6)) => &["high", "low", "max", "medium"],
            (ModelFamily::Opus, (4, 5)) => &["high", "low", "medium"],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n1_the_models_table_has_the_efforts_that_are_accepted() {
        for spec in longhaul_core::models::ModelTable::builtin().models() {
            let mut listed: Vec<&str> = spec.thinking.efforts.iter().map(|it| it.name()).collect();
            listed.sort_unstable();
            assert_eq!(listed, ModelGeneration::of(spec).efforts(), "{}", spec.id);
        }
    }

    #[test]
    fn a_models_place_is_read_off_its_id() {
        for (id, family, version) in [
            ("claude-opus-4-6", ModelFamily::Opus, (4, 6)),
            ("claude-sonnet-4", ModelFamily::Sonnet, (4, 0)),
            ("claude-3-7-sonnet", ModelFamily::Sonnet, (3, 7)),
            ("claude-haiku-4-5-20251001", ModelFamily::Haiku, (4, 5)),
            ("claude-mythos-preview", ModelFamily::Mythos, (4, 7)),
            ("qwen-3", ModelFamily::Other, (u32::MAX, 0)),
        ] {
            assert_eq!(
                ModelGeneration::named(id),
                ModelGeneration { family, version },
                "{id}"
            );
        }
    }
}
