//! One typed configuration (G1): defaults < file < environment < flags, each value with its origin.
//!
//! The settings are one table (`table.rs`): key, description, type, environment names, flag. The layers, the
//! explanation and the reference in the documentation are all derived from it. Texts come in as arguments; the caller
//! finds the file and reads the environment. Secrets are never settings.

mod env_name;
mod error;
mod explain;
mod file;
mod gateway_support;
mod load;
mod reduction;
mod reference;
mod setting;
mod slot;
mod suggest;
mod summarizer;
mod table;

pub use error::{ConfigError, ConfigNotice};
pub use explain::{ExplainedSetting, SettingSource};
pub use file::ConfigFileLayer;
pub use gateway_support::{GatewaySupport, in_serve};
pub use load::ConfigLayers;
pub use reduction::ResultReduction;
pub use reference::reference_markdown;
pub use summarizer::SummarizerSetting;
use table::SETTINGS;

use std::time::Duration;

use crate::economy::EconomyPolicy;
use crate::facts::{BuiltinWords, ChosenWords, PhraseListError, SentenceWords, Vocabulary};
use crate::micro::{ClearableTools, MicroLimits};
use crate::notes::NotesSettings;
use crate::prompt::CacheSettings;
use crate::window::{
    AutoCompact, Percent, SwitchVerdict, SwitchableAction, Switches, WindowOwner, WindowSettings,
};

/// The values of all settings, with every layer applied.
///
/// ```
/// use longhaul_core::config::{Config, ConfigLayers};
///
/// let layers = ConfigLayers {
///     flags: vec![("window.cap".into(), "50000".into())],
///     ..ConfigLayers::default()
/// };
/// let config = Config::load(&layers)?;
/// assert_eq!(config.window_cap, Some(50_000));
/// assert_eq!(Config::default().window_cap, None);
/// # Ok::<(), longhaul_core::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Which kinds of compaction may run.
    pub switches: Switches,
    /// Who writes summaries.
    pub summarizer: SummarizerSetting,
    /// Whether summaries are prepared ahead, while the conversation goes on (X5).
    pub background: bool,
    /// Whether the provider clears old results by itself (U7).
    pub native_clearing: bool,
    /// The model that writes summaries. None means the conversation's own model (F7).
    pub summary_model: Option<String>,
    /// Whether nothing is compacted before the provider finds a request too long (H6). See [`Config::owner`].
    pub reactive_only: bool,
    /// Which actions are decided by their price (V5).
    pub economy: EconomyPolicy,
    /// How results are made smaller before they are first sent (V8).
    pub reduce: ResultReduction,
    /// Whether the gateway offers the model a tool that looks up what is no longer sent (X2).
    pub gateway_recall: bool,
    /// Whether the gateway's page names sessions by hashes alone and shows no text of conversations.
    pub gateway_hashes: bool,
    /// When old tool results are cleared, and how many stay (U3, U4).
    pub micro: MicroLimits,
    /// Tools whose results may be cleared (U1). See [`Config::clearable`].
    pub clearable_tools: Vec<String>,
    /// Additional tools whose results may be cleared.
    pub more_clearable_tools: Vec<String>,
    /// Words that make a user's sentence a rule, in addition to the built-in ones (X1). See [`Config::vocabulary`].
    pub rule_words: Vec<String>,
    /// Whether the built-in rule words count.
    pub builtin_rule_words: bool,
    /// Words with which a user's sentence calls work off, in addition to the built-in ones (ruling 18).
    pub called_off_words: Vec<String>,
    /// Whether the built-in words for calling work off count.
    pub builtin_called_off_words: bool,
    /// The most tokens that the window may hold.
    pub window_cap: Option<u64>,
    /// The most tokens that a reply may hold.
    pub max_output: Option<u64>,
    /// The window share at which automatic compaction begins.
    pub auto_compact_percent: Option<Percent>,
    /// The number of tokens at which input is refused.
    pub blocking_limit: Option<u64>,
    /// Whether requests are cached, and for how long.
    pub cache: CacheSettings,
    /// The folder for diffs of cache breaks, as given.
    pub cache_diff_dir: Option<String>,
    /// Whether the cache of small models is watched, too (D3).
    pub watch_small_models: bool,
    /// When session notes are taken.
    pub notes: NotesSettings,
    /// The model to use where none is named.
    pub model: Option<String>,
    /// The path of a models file, as given.
    pub models_file: Option<String>,
    /// How many days our own data is kept. None means forever.
    pub retention_days: Option<u32>,
    /// How long the request for a turn is sent again after a failure that may pass.
    pub retry_patience: Duration,
    /// Which log lines are shown.
    pub log: String,
    explained: Vec<ExplainedSetting>,
    notices: Vec<ConfigNotice>,
}

impl Default for Config {
    /// The defaults of every setting.
    fn default() -> Config {
        Config {
            switches: Switches::default(),
            summarizer: SummarizerSetting::Ours,
            background: true,
            native_clearing: false,
            summary_model: None,
            reactive_only: false,
            economy: EconomyPolicy::default(),
            reduce: ResultReduction::default(),
            gateway_recall: false,
            gateway_hashes: false,
            micro: MicroLimits::default(),
            clearable_tools: ClearableTools::default().names().to_vec(),
            more_clearable_tools: Vec::new(),
            rule_words: Vec::new(),
            builtin_rule_words: true,
            called_off_words: Vec::new(),
            builtin_called_off_words: true,
            window_cap: None,
            max_output: None,
            auto_compact_percent: None,
            blocking_limit: None,
            cache: CacheSettings::default(),
            cache_diff_dir: None,
            watch_small_models: false,
            notes: NotesSettings::default(),
            model: None,
            models_file: None,
            retention_days: None,
            retry_patience: Duration::from_secs(600),
            log: "warn".to_owned(),
            explained: Vec::new(),
            notices: Vec::new(),
        }
    }
}

impl Config {
    /// Applies the layers over the defaults.
    ///
    /// An invalid value in the environment is a [notice](Config::notices), since whoever set it may not know of us; in
    /// the file or in a flag it is an error, since it was meant for us.
    ///
    /// # Errors
    /// Fails at the first key of the file or of a flag that is not a setting, at a value that its setting does not
    /// take, and at a file that is not TOML. The message names the place and what is accepted.
    pub fn load(layers: &ConfigLayers) -> Result<Config, ConfigError> {
        load::load(layers)
    }

    /// Every setting with its value and its origin, in the order of the table.
    pub fn explain(&self) -> &[ExplainedSetting] {
        &self.explained
    }

    /// The values that were set but are not used.
    pub fn notices(&self) -> &[ConfigNotice] {
        &self.notices
    }

    /// The tools whose results may be cleared.
    pub fn clearable(&self) -> ClearableTools {
        let more = self.more_clearable_tools.iter().cloned();
        ClearableTools::only(self.clearable_tools.iter().cloned()).and(more)
    }

    /// The vocabulary that recognizes facts, with the configured words.
    ///
    /// # Errors
    /// Fails if there are more words than can be searched for: shorten `rules.words` or `called_off.words`.
    pub fn vocabulary(&self) -> Result<Vocabulary, PhraseListError> {
        Vocabulary::with_words(&self.sentence_words())
    }

    /// The configured words for rules and for calling work off.
    pub fn sentence_words(&self) -> SentenceWords {
        let chosen = |own: &[String], builtin: bool| ChosenWords {
            own: own.to_vec(),
            builtin: if builtin {
                BuiltinWords::Count
            } else {
                BuiltinWords::LeftOut
            },
        };
        SentenceWords {
            rules: chosen(&self.rule_words, self.builtin_rule_words),
            called_off: chosen(&self.called_off_words, self.builtin_called_off_words),
        }
    }

    /// Who owns the window (H6): folding if it is on, else the provider's refusals if nothing may be compacted before
    /// them, else the threshold. The threshold also stays if nothing may act on a refusal.
    pub fn owner(&self) -> WindowOwner {
        let may = |action| self.switches.decide(action) == SwitchVerdict::Allowed;
        match () {
            () if may(SwitchableAction::Collapse) => WindowOwner::Collapse,
            () if self.reactive_only && may(SwitchableAction::Reactive) => WindowOwner::Reactive,
            () => WindowOwner::Proactive,
        }
    }

    /// The overrides that [`WindowStatus`](crate::window::WindowStatus) takes.
    pub fn window_settings(&self) -> WindowSettings {
        WindowSettings {
            window_cap: self.window_cap,
            max_output: self.max_output,
            auto_compact_percent: self.auto_compact_percent,
            blocking_limit: self.blocking_limit,
            auto_compact: match self.switches.decide(SwitchableAction::Automatic) {
                SwitchVerdict::Allowed => AutoCompact::On,
                SwitchVerdict::Off(_) => AutoCompact::Off,
            },
        }
    }
}

#[cfg(test)]
mod tests;
