//! One setting: its names, its description, and the field that holds its value.

use super::Config;
use super::env_name::EnvName;
use super::slot::ConfigField;

/// A line of the settings table.
#[derive(Debug)]
pub(crate) struct SettingSpec {
    /// The dotted key in the file.
    pub(super) key: &'static str,
    /// The description of the setting, in a sentence.
    pub(super) doc: &'static str,
    /// The environment variables that set it; the first one with a valid value wins.
    pub(super) env: &'static [EnvName],
    /// The setting's own flag on the command line, if it has one.
    pub(super) flag: Option<&'static str>,
    /// The field for its value, which also determines the type.
    pub(super) slot: ConfigField,
}

impl SettingSpec {
    /// The setting's default, or none if it is unset by default.
    pub(crate) fn default_value(&self) -> Option<String> {
        self.slot.show(&mut Config::default())
    }

    /// A description of the accepted values.
    pub(crate) fn accepted(&self) -> &'static str {
        self.slot.accepted()
    }

    /// The flag that sets it on the command line.
    pub(crate) fn flag_name(&self) -> String {
        self.flag
            .map_or_else(|| format!("--set {}", self.key), str::to_owned)
    }
}
