//! One setting: its names, its sentence, and where its value goes.

use super::Config;
use super::slot::ConfigField;

/// A line of the settings table.
#[derive(Debug)]
pub struct SettingSpec {
    /// Its key in the file, dotted.
    pub key: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// The environment variables that set it; the first one that is set well wins.
    pub env: &'static [EnvName],
    /// Its own flag on the command line, if it has one.
    pub flag: Option<&'static str>,
    /// Where its value goes, and so what it may be.
    pub(super) slot: ConfigField,
}

/// An environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvName {
    /// Its name.
    pub name: &'static str,
    /// How its value relates to the setting's.
    pub sense: EnvSense,
}

/// How a variable's value relates to the setting's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvSense {
    /// It is the value.
    Same,
    /// It is the opposite: `DISABLE_COMPACT=1` sets `compaction.enabled` to false.
    Opposite,
}

impl SettingSpec {
    /// Its default, or none if it is unset by default.
    pub fn default_value(&self) -> Option<String> {
        self.slot.show(&mut Config::default())
    }

    /// What its values look like.
    pub fn accepted(&self) -> &'static str {
        self.slot.accepted()
    }

    /// How it is given on the command line.
    pub(crate) fn flag_name(&self) -> String {
        self.flag
            .map_or_else(|| format!("--set {}", self.key), str::to_owned)
    }
}

/// A variable whose value is the setting's.
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
