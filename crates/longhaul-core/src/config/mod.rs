//! One typed configuration (G1): defaults < file < environment < flags, each value with where it came from.
//!
//! The settings are one table (`table.rs`): key, sentence, type, environment names, flag. Reading the layers, the
//! explanation and the reference in the documentation are all made from it. Texts come in as arguments; finding the
//! file and asking the environment is the shell's work. Secrets are never settings.

mod error;
mod explain;
mod file;
mod hosts;
mod load;
mod reference;
mod setting;
mod slot;
mod suggest;
mod table;

pub use error::{ConfigError, Notice};
pub use explain::{Explained, Source};
pub use hosts::{InServe, in_serve};
pub use load::{FileLayer, Layers};
pub use reference::reference_markdown;
pub use setting::{EnvName, Sense, Setting};
pub use table::SETTINGS;

use crate::engine::Summariser;
use crate::notes::NotesSettings;
use crate::prompt::CacheSettings;
use crate::window::{Action, AutoCompact, Percent, Settings, Switches, Verdict};

/// What is set, by whichever layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Which kinds of compaction may run.
    pub switches: Switches,
    /// Who sums up.
    pub summariser: Summariser,
    /// Whether summaries are prepared ahead, while the conversation goes on (X5).
    pub background: bool,
    /// Whether the provider clears old results by itself (U7).
    pub native_clearing: bool,
    /// The most the window may hold, in tokens.
    pub window_cap: Option<u64>,
    /// The most a reply may hold, in tokens.
    pub max_output: Option<u64>,
    /// Where automatic compaction begins.
    pub auto_compact_percent: Option<Percent>,
    /// Where input is refused, in tokens.
    pub blocking_limit: Option<u64>,
    /// Whether and how long requests are cached.
    pub cache: CacheSettings,
    /// When session notes are taken.
    pub notes: NotesSettings,
    /// The model to use where none is named.
    pub model: Option<String>,
    /// The path of a models file, as given.
    pub models_file: Option<String>,
    /// How many days own data is kept; none: for ever.
    pub retention_days: Option<u32>,
    /// Which log lines are shown.
    pub log: String,
    explained: Vec<Explained>,
    notices: Vec<Notice>,
}

impl Default for Config {
    /// Nothing set: the defaults of every setting.
    fn default() -> Config {
        Config {
            switches: Switches::default(),
            summariser: Summariser::Ours,
            background: true,
            native_clearing: false,
            window_cap: None,
            max_output: None,
            auto_compact_percent: None,
            blocking_limit: None,
            cache: CacheSettings::default(),
            notes: NotesSettings::default(),
            model: None,
            models_file: None,
            retention_days: None,
            log: "warn".to_owned(),
            explained: Vec::new(),
            notices: Vec::new(),
        }
    }
}

impl Config {
    /// Lays the layers over the defaults.
    ///
    /// A bad value in the environment is a [notice](Config::notices), since whoever set it may not know of us; in
    /// the file or a flag it is an error, since it was meant for us.
    pub fn load(layers: &Layers) -> Result<Config, ConfigError> {
        load::load(layers)
    }

    /// Every setting with its value and where that came from, in the order of the table.
    pub fn explain(&self) -> &[Explained] {
        &self.explained
    }

    /// What was set and not taken.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// The overrides that [`WindowStatus`](crate::window::WindowStatus) takes.
    pub fn window_settings(&self) -> Settings {
        Settings {
            window_cap: self.window_cap,
            max_output: self.max_output,
            auto_compact_percent: self.auto_compact_percent,
            blocking_limit: self.blocking_limit,
            auto_compact: match self.switches.decide(Action::Automatic) {
                Verdict::Allowed => AutoCompact::On,
                Verdict::Off(_) => AutoCompact::Off,
            },
        }
    }
}

#[cfg(test)]
mod tests;
