//! Everything that compaction depends on besides the conversation.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use longhaul_core::config::Config;
use longhaul_core::facts::Vocabulary;
use longhaul_core::micro::ClearableTools;
use longhaul_core::models::ModelTable;
use longhaul_core::window::{WindowError, WindowInput, WindowStatus};

use super::tools::KnownTools;

/// Settings, and tables of known models and tools.
#[derive(Debug, Clone)]
pub struct CompactorSettings {
    /// Switches and thresholds.
    pub config: Arc<Config>,
    /// The known models.
    pub models: Arc<ModelTable>,
    /// The tools of known agents.
    pub tools: Arc<KnownTools>,
    /// Tools whose results may be cleared.
    pub clearable: ClearableTools,
    /// The words and tools by which facts are recognized.
    pub vocabulary: Arc<Vocabulary>,
    /// The user's instructions for summaries.
    pub instructions: Option<String>,
    /// Tokens of the request prefix of this conversation: system prompt and tools, estimated.
    pub before_messages: u64,
    /// The most tokens of a file that is restored, if files are restored only where that is cheaper than reading them
    /// again.
    pub largest_file: Option<u64>,
    /// The current time.
    pub now: Timestamp,
    /// How long a request waits for a summary from a model.
    pub patience: Duration,
}

impl CompactorSettings {
    /// Settings with the built-in table of tools; `more` has the names of further tools whose results may be cleared.
    pub fn new(
        config: Arc<Config>,
        models: Arc<ModelTable>,
        more: &[String],
        now: Timestamp,
    ) -> Self {
        let tools = KnownTools::builtin();
        let more: Vec<String> = (more.iter().chain(&config.more_clearable_tools))
            .cloned()
            .collect();
        Self {
            clearable: tools.clearable(&more),
            vocabulary: tools.vocabulary(&config.sentence_words()),
            config,
            models,
            tools: Arc::new(tools),
            instructions: None,
            before_messages: 0,
            largest_file: None,
            now,
            patience: Duration::from_secs(120),
        }
    }

    /// The settings for a conversation whose request prefix has this many tokens.
    #[must_use]
    pub fn for_conversation(&self, before_messages: u64, now: Timestamp) -> Self {
        Self {
            before_messages,
            now,
            ..self.clone()
        }
    }

    /// The window of a model, and its thresholds.
    pub fn window(&self, model: &str) -> Result<WindowStatus, WindowError> {
        let spec = self.models.resolve(model).spec;
        WindowStatus::new(&WindowInput {
            window: spec.window,
            max_output: spec.max_output,
            used: 0,
            settings: self.config.window_settings(),
        })
    }

    /// What was counted for the messages alone.
    pub(super) fn of_messages(&self, measured: Option<u64>) -> Option<u64> {
        let counted = measured?.saturating_sub(self.before_messages);
        (counted > 0).then_some(counted)
    }
}
