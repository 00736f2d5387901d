//! Which generation of models a rule holds for, where the model table does not say it.

use longhaul_core::models::ModelSpec;

/// A line of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Haiku,
    Sonnet,
    Opus,
    Fable,
    Mythos,
    /// Not one of the above: taken as the newest, so that nothing leans on what new models refuse.
    Other,
}

/// A model's place in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) family: Family,
    pub(crate) version: (u32, u32),
}

impl Generation {
    /// By the id: `claude-opus-4-6`, `claude-3-7-sonnet`.
    pub(crate) fn of(spec: &ModelSpec) -> Generation {
        Generation::named(&spec.id)
    }

    /// By the id alone.
    pub(crate) fn named(id: &str) -> Generation {
        let family = id.split('-').find_map(|part| match part {
            "haiku" => Some(Family::Haiku),
            "sonnet" => Some(Family::Sonnet),
            "opus" => Some(Family::Opus),
            "fable" => Some(Family::Fable),
            "mythos" => Some(Family::Mythos),
            _ => None,
        });
        let numbers = id.split('-').filter(|part| part.len() <= 2);
        let mut numbers = numbers.filter_map(|part| part.parse::<u32>().ok());
        let version = match (family, numbers.next()) {
            (Some(_), Some(major)) => (major, numbers.next().unwrap_or(0)),
            // Mythos Preview stands between 4.6 and 5.
            (Some(_), None) => (4, 7),
            (None, _) => (u32::MAX, 0),
        };
        Generation {
            family: family.unwrap_or(Family::Other),
            version,
        }
    }

    /// Whether a request may end with the beginning of the reply.
    pub(super) fn takes_prefill(self) -> bool {
        self.version < (4, 6) && self.family != Family::Mythos
    }

    /// Whether `temperature`, `top_p` and `top_k` may differ from their defaults.
    pub(super) fn takes_sampling(self) -> bool {
        self.version < (4, 7)
    }

    /// Whether `temperature` and `top_p` may be given together.
    pub(super) fn takes_both_samplings(self) -> bool {
        match self.family {
            Family::Opus => self.version < (4, 1),
            _ => self.version < (4, 5),
        }
    }

    /// Whether a tool can be forced.
    pub(super) fn takes_forced_tools(self) -> bool {
        match self.family {
            Family::Fable | Family::Mythos => self.version < (5, 1),
            Family::Opus | Family::Sonnet => self.version < (5, 5),
            Family::Haiku => true,
            Family::Other => false,
        }
    }

    /// Whether messages of role system are taken.
    pub(super) fn takes_system_messages(self) -> bool {
        match self.family {
            Family::Opus => self.version >= (4, 8),
            Family::Fable | Family::Mythos => self.version >= (5, 0),
            Family::Sonnet | Family::Haiku => self.version >= (5, 5),
            Family::Other => true,
        }
    }

    /// The values of `output_config.effort` it takes, sorted as the API lists them.
    pub(super) fn efforts(self) -> &'static [&'static str] {
        match (self.family, self.version) {
            (_, version) if version >= (4, 7) => &["high", "low", "max", "medium", "xhigh"],
            (_, (4, 6)) => &["high", "low", "max", "medium"],
            (Family::Opus, (4, 5)) => &["high", "low", "medium"],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_place_is_read_off_its_id() {
        for (id, family, version) in [
            ("claude-opus-4-6", Family::Opus, (4, 6)),
            ("claude-sonnet-4", Family::Sonnet, (4, 0)),
            ("claude-3-7-sonnet", Family::Sonnet, (3, 7)),
            ("claude-haiku-4-5-20251001", Family::Haiku, (4, 5)),
            ("claude-mythos-preview", Family::Mythos, (4, 7)),
            ("qwen-3", Family::Other, (u32::MAX, 0)),
        ] {
            assert_eq!(
                Generation::named(id),
                Generation { family, version },
                "{id}"
            );
        }
    }
}
