//! One setting: its names, its description, and the field that holds its value.

use super::Config;
use super::slot::ConfigField;

/// A line of the settings table.
#[derive(Debug)]
pub struct SettingSpec {
    /// The dotted key in the file.
    pub key: &'static str,
    /// The description of the setting, in a sentence.
    pub doc: &'static str,
    /// The environment variables that set it; the first one with a valid value wins.
    pub env: &'static [EnvName],
    /// The setting's own flag on the command line, if it has one.
    pub flag: Option<&'static str>,
    /// The field for its value, which also determines the type.
    pub(super) slot: ConfigField,
}

/// An environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvName {
    /// The variable's name.
    pub name: &'static str,
    /// How the variable's value relates to the setting's.
    pub sense: EnvSense,
}

/// How a variable's value relates to the setting's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvSense {
    /// The variable's value is the setting's value.
    Same,
    /// The variable's value is the opposite: `DISABLE_COMPACT=1` sets `compaction.enabled` to false.
    Opposite,
}

impl SettingSpec {
    /// The setting's default, or none if it is unset by default.
    pub fn default_value(&self) -> Option<String> {
        self.slot.show(&mut Config::default())
    }

    /// A description of the accepted values.
    pub fn accepted(&self) -> &'static str {
        self.slot.accepted()
    }

    /// The flag that sets it on the command line.
    pub(crate) fn flag_name(&self) -> String {
        self.flag
            .map_or_else(|| format!("--set {}", self.key), str::to_owned)
    }
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
