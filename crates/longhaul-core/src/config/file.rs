//! The file layer: TOML split into settings, each with its line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::setting::SettingSpec;
use super::{Config, SETTINGS, SettingSource, suggest};

/// A configuration file.
#[derive(Debug, Clone)]
pub struct ConfigFileLayer {
    /// The path as it should appear in messages.
    pub path: String,
    /// The text of the file.
    pub text: String,
}

/// Applies the file's settings, and records the line of each.
pub(super) fn apply(
    layer: &ConfigFileLayer,
    config: &mut Config,
    mut set: impl FnMut(&'static SettingSpec, SettingSource),
) -> Result<(), ConfigError> {
    let file = ConfigFileText {
        path: &layer.path,
        text: layer.text.strip_prefix('\u{feff}').unwrap_or(&layer.text),
    };
    let table = DeTable::parse(file.text).map_err(|error| ConfigError::Syntax {
        path: layer.path.clone(),
        line: file.line(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let mut leaves = Vec::new();
    file.collect(table.get_ref(), "", &mut leaves);
    // The parser sorts keys, but errors should come in the order of the file.
    leaves.sort_by_key(|leaf| leaf.line);
    for leaf in leaves {
        let setting = file.apply_leaf(config, &leaf)?;
        let path = layer.path.clone();
        set(
            setting,
            SettingSource::File {
                path,
                line: leaf.line,
            },
        );
    }
    Ok(())
}

/// A key with a value, whether it is a setting or not.
struct ConfigFileKey<'t> {
    key: String,
    line: usize,
    value: &'t Spanned<DeValue<'t>>,
}

struct ConfigFileText<'t> {
    path: &'t str,
    text: &'t str,
}

impl ConfigFileText<'_> {
    fn collect<'t>(
        &self,
        table: &'t DeTable<'t>,
        above: &str,
        leaves: &mut Vec<ConfigFileKey<'t>>,
    ) {
        for (name, value) in table {
            let key = match above {
                "" => name.get_ref().to_string(),
                above => format!("{above}.{}", name.get_ref()),
            };
            match value.get_ref() {
                // An empty section sets nothing. A table in place of a value is a value of the wrong type.
                DeValue::Table(inner) if setting(&key).is_none() => {
                    self.collect(inner, &key, leaves);
                }
                _ => leaves.push(ConfigFileKey {
                    key,
                    line: self.line(name.span().start),
                    value,
                }),
            }
        }
    }

    fn apply_leaf(
        &self,
        config: &mut Config,
        leaf: &ConfigFileKey<'_>,
    ) -> Result<&'static SettingSpec, ConfigError> {
        let Some(setting) = setting(&leaf.key) else {
            return Err(ConfigError::UnknownKey {
                path: self.path.to_owned(),
                line: leaf.line,
                hint: suggest::key(&leaf.key, SETTINGS.iter().map(|setting| setting.key)),
                key: leaf.key.clone(),
            });
        };
        let taken = setting.slot.set_typed(config, leaf.value.get_ref());
        taken.map_err(|_| ConfigError::WrongValue {
            path: self.path.to_owned(),
            line: leaf.line,
            key: setting.key,
            found: self.found(leaf.value),
            accepted: setting.slot.accepted_in_file(),
        })?;
        Ok(setting)
    }

    /// The value as it is written in the file, if it is short enough to repeat.
    fn found(&self, value: &Spanned<DeValue<'_>>) -> String {
        let written = self.text.get(value.span()).unwrap_or_default();
        match value.get_ref() {
            DeValue::Table(_) => "a table".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            _ if written.len() <= 60 && !written.contains('\n') => written.to_owned(),
            other => format!("a long {}", other.type_str()),
        }
    }

    fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().get(..offset);
        let before = before.unwrap_or(self.text.as_bytes());
        1 + memchr::memchr_iter(b'\n', before).count()
    }
}

/// The setting with this key.
pub(super) fn setting(key: &str) -> Option<&'static SettingSpec> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
