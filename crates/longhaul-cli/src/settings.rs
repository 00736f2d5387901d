//! Resolves the settings: finds the configuration file and the environment, and applies flags on top.

use std::path::{Path, PathBuf};

use longhaul_core::config::{Config, ConfigFileLayer, ConfigLayers, GatewaySupport, in_serve};
use longhaul_core::models::ModelTable;
use longhaul_store::layout::{Env, Home};

use crate::args::{GlobalArgs, WindowArgs};
use crate::failure::{CliError, warn};
use crate::logging::{self, ExportPolicy, LogLinePolicy};

/// The name of the configuration file in LONGHAUL_HOME.
const FILE_NAME: &str = "config.toml";

/// The flags of every command, and the folders.
#[derive(Debug, Clone)]
pub(crate) struct CommandSettings {
    config: Option<PathBuf>,
    flags: Vec<(String, String)>,
    bad_set: Option<String>,
    pub(crate) env: Env,
    /// Whether telemetry is exported to a collector.
    pub(crate) exporting: ExportPolicy,
    /// Where log lines may be written.
    pub(crate) log_lines: LogLinePolicy,
}

impl From<&GlobalArgs> for CommandSettings {
    fn from(global: &GlobalArgs) -> Self {
        let mut given = Self {
            config: global.config.clone(),
            flags: Vec::new(),
            bad_set: None,
            env: Env::of_process(),
            exporting: ExportPolicy::Never,
            log_lines: LogLinePolicy::Always,
        };
        for set in &global.set {
            match set.split_once('=') {
                Some((key, value)) => given.flags.push((key.trim().to_owned(), value.to_owned())),
                None => given.bad_set = Some(set.clone()),
            }
        }
        given
            .flags
            .extend(global.log.clone().map(|filter| ("log".to_owned(), filter)));
        given
    }
}

impl CommandSettings {
    /// The settings, with the flags of a command. Starts logging accordingly.
    pub(crate) fn resolve(&self, flags: Vec<(String, String)>) -> Result<Config, CliError> {
        if let Some(set) = &self.bad_set {
            return Err(CliError::BadSet(set.clone()));
        }
        let layers = ConfigLayers {
            file: self.file()?,
            env: environment(),
            flags: self.flags.iter().cloned().chain(flags).collect(),
        };
        let config = Config::load(&layers)?;
        logging::start(&config.log, self.log_lines, self.exporting)?;
        for notice in config.notices() {
            warn(&notice.to_string());
        }
        Ok(config)
    }

    /// Whether flags of every command (`--set`, `--config`) say how this run is to work; what is logged does not count.
    pub(crate) fn has_settings(&self) -> bool {
        self.config.is_some() || self.flags.iter().any(|(key, _)| key != "log")
    }

    /// The same flags with other folders.
    pub(crate) fn with_env(&self, env: Env) -> Self {
        Self {
            env,
            ..self.clone()
        }
    }

    /// The settings that flags alone make: neither a file nor the environment counts.
    pub(crate) fn resolve_flags(&self, flags: Vec<(String, String)>) -> Result<Config, CliError> {
        if let Some(set) = &self.bad_set {
            return Err(CliError::BadSet(set.clone()));
        }
        let layers = ConfigLayers {
            flags: self.flags.iter().cloned().chain(flags).collect(),
            ..ConfigLayers::default()
        };
        let config = Config::load(&layers)?;
        logging::start(&config.log, self.log_lines, self.exporting)?;
        Ok(config)
    }

    /// The settings for the gateway. A setting that is given by `--set` and would do nothing there is refused; a file
    /// and the environment are for all commands.
    pub(crate) fn resolve_for_serve(
        &self,
        flags: Vec<(String, String)>,
    ) -> Result<Config, CliError> {
        for (key, _) in &self.flags {
            if let GatewaySupport::Idle(reason) = in_serve(key) {
                return Err(CliError::IdleSetting {
                    key: key.clone(),
                    reason,
                });
            }
        }
        self.resolve(flags)
    }

    /// The file that was named, or the default one if it exists.
    fn file(&self) -> Result<Option<ConfigFileLayer>, CliError> {
        let read = |path: &Path| match std::fs::read_to_string(path) {
            Ok(text) => Ok(ConfigFileLayer {
                path: path.display().to_string(),
                text,
            }),
            Err(source) => Err(CliError::Read {
                path: path.to_owned(),
                source,
            }),
        };
        if let Some(path) = &self.config {
            return read(path).map(Some);
        }
        // Without LONGHAUL_HOME there is no default file; a command that needs it will say so.
        let usual = Home::longhaul(&self.env)
            .ok()
            .map(|home| home.root().join(FILE_NAME));
        usual
            .filter(|path| path.exists())
            .map(|path| read(&path))
            .transpose()
    }
}

/// The variables whose names can be ours. Values that are not text are left out, because they cannot be meant for us.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The window flags as settings.
pub(crate) fn window_flags(window: &WindowArgs) -> Vec<(String, String)> {
    given_flags([
        ("model", &window.model),
        ("models.file", &window.models),
        ("window.cap", &window.window),
        ("window.max_output", &window.max_output),
        ("window.auto_compact_percent", &window.auto_compact_percent),
        ("window.blocking_limit", &window.blocking_limit),
    ])
}

/// The flags that were given, as settings.
pub(crate) fn given_flags<const N: usize>(
    flags: [(&str, &Option<String>); N],
) -> Vec<(String, String)> {
    let given = flags
        .into_iter()
        .filter_map(|(key, value)| value.clone().map(|value| (key.to_owned(), value)));
    given.collect()
}

/// The built-in models, extended by the user's file.
pub(crate) fn models(config: &Config) -> Result<ModelTable, CliError> {
    let Some(file) = &config.models_file else {
        return Ok(ModelTable::builtin());
    };
    let path = PathBuf::from(file);
    let text = std::fs::read_to_string(&path).map_err(|source| CliError::Read {
        path: path.clone(),
        source,
    })?;
    ModelTable::builtin()
        .extended_with(&text)
        .map_err(|source| CliError::ModelFile { path, source })
}
