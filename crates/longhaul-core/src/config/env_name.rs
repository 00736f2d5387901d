//! The environment variables that set a setting.

/// An environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnvName {
    /// The variable's name.
    pub(super) name: &'static str,
    /// How the variable's value relates to the setting's.
    pub(super) sense: EnvSense,
}

/// How a variable's value relates to the setting's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnvSense {
    /// The variable's value is the setting's value.
    Same,
    /// The variable's value is the opposite: `DISABLE_COMPACT=1` sets `compaction.enabled` to false.
    Opposite,
}

/// A variable whose value is the setting's value.
pub(super) const fn env(name: &'static str) -> EnvName {
    EnvName {
        name,
        sense: EnvSense::Same,
    }
}

/// A variable that switches the setting off.
pub(super) const fn env_off(name: &'static str) -> EnvName {
    EnvName {
        name,
        sense: EnvSense::Opposite,
    }
}
