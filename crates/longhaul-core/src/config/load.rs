//! Applies the layers on top of each other, the weakest first, and records which layer set each value.

use std::collections::BTreeMap;

use super::env_name::EnvSense;
use super::error::{ConfigError, ConfigNotice};
use super::explain::{ExplainedSetting, SettingSource};
use super::setting::SettingSpec;
use super::{Config, ConfigFileLayer, SETTINGS, file, suggest};
use crate::window::{WindowOwner, check_cap};

/// The prefix of our environment variables.
const OURS: &str = "LONGHAUL_";

/// All configuration layers, as text.
#[derive(Debug, Clone, Default)]
pub struct ConfigLayers {
    /// The configuration file, if there is one.
    pub file: Option<ConfigFileLayer>,
    /// The environment: names and values. It may be complete; variables that are not ours are ignored.
    pub env: Vec<(String, String)>,
    /// The given flags: keys of settings, and values.
    pub flags: Vec<(String, String)>,
}

/// Where each setting's value came from, by key. A setting without an entry has its default.
type SettingSources = BTreeMap<&'static str, SettingSource>;

pub(super) fn load(layers: &ConfigLayers) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    let mut sources = SettingSources::new();
    if let Some(layer) = &layers.file {
        file::apply(layer, &mut config, |setting, source| {
            sources.insert(setting.key, source);
        })?;
    }
    for setting in SETTINGS {
        apply_env(&layers.env, setting, &mut config, &mut sources);
    }
    let slips = slips(&layers.env);
    config.notices.extend(slips);
    for (key, value) in &layers.flags {
        let setting = apply_flag(key, value, &mut config)?;
        sources.insert(setting.key, SettingSource::Flag(setting.flag_name()));
    }
    // Only the value that counts is judged: a stronger layer may have replaced one that is too small.
    check_cap(config.window_cap).map_err(|error| ConfigError::Window {
        origin: sources
            .get("window.cap")
            .cloned()
            .unwrap_or(SettingSource::Default),
        error,
    })?;
    if config.reactive_only && config.owner() == WindowOwner::Proactive {
        config.notices.push(ConfigNotice::Meaningless {
            key: "compaction.reactive_only",
            reason: "nothing may act on a request that is too long (compaction.reactive, compaction.automatic)",
        });
    }
    let explained = SETTINGS.iter().map(|setting| ExplainedSetting {
        key: setting.key,
        value: setting.slot.show(&mut config),
        source: sources
            .remove(setting.key)
            .unwrap_or(SettingSource::Default),
        doc: setting.doc,
        env_names: setting.env.iter().map(|env| env.name).collect(),
    });
    config.explained = explained.collect();
    Ok(config)
}

/// Uses the first of a setting's variables whose value is valid, and reports every invalid one.
fn apply_env(
    env: &[(String, String)],
    setting: &'static SettingSpec,
    config: &mut Config,
    sources: &mut SettingSources,
) {
    // The last name is applied first, so that the first one wins.
    for known in setting.env.iter().rev() {
        let Some((_, value)) = env.iter().rev().find(|(name, _)| name == known.name) else {
            continue;
        };
        match setting.slot.set(config, value, known.sense) {
            Ok(()) => {
                sources.insert(setting.key, SettingSource::Environment(known.name));
            }
            Err(_) => config.notices.push(ConfigNotice::IgnoredValue {
                variable: known.name,
                value: shortened(value),
                accepted: setting.accepted(),
            }),
        }
    }
}

fn apply_flag(
    key: &str,
    value: &str,
    config: &mut Config,
) -> Result<&'static SettingSpec, ConfigError> {
    let setting = file::setting(key).ok_or_else(|| ConfigError::UnknownFlag {
        key: key.to_owned(),
        hint: suggest::key(key, SETTINGS.iter().map(|setting| setting.key)),
    })?;
    let taken = setting.slot.set(config, value, EnvSense::Same);
    taken.map_err(|_| ConfigError::FlagValue {
        flag: setting.flag_name(),
        value: shortened(value),
        accepted: setting.accepted(),
    })?;
    Ok(setting)
}

/// Variables that look like ours but are not. Only near misses are reported: others may belong to another part of the
/// program.
fn slips(env: &[(String, String)]) -> Vec<ConfigNotice> {
    let known = || {
        SETTINGS
            .iter()
            .flat_map(|setting| setting.env)
            .map(|env| env.name)
    };
    // Names are compared without their common prefix, which would make any two look alike.
    let nearest = |name: &str| {
        let own = name.strip_prefix(OURS)?;
        let near = suggest::nearest(own, known().filter_map(|ours| ours.strip_prefix(OURS)))?;
        known().find(|ours| ours.strip_prefix(OURS) == Some(near))
    };
    let strange = env
        .iter()
        .map(|(name, _)| name)
        .filter(|name| !known().any(|ours| ours == name.as_str()));
    let notices = strange.filter_map(|name| {
        let hint = nearest(name)?;
        let variable = name.clone();
        Some(ConfigNotice::UnknownVariable { variable, hint })
    });
    notices.collect()
}

/// Shortens a value for a message.
fn shortened(value: &str) -> String {
    const MOST: usize = 60;
    match value.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", value.get(..cut).unwrap_or_default()),
        None => value.to_owned(),
    }
}
