//! The setting for the way in which summaries are made.

/// Whether Longhaul requests summaries from a model, or the provider makes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummarizerSetting {
    /// A model writes summaries, by our own requests.
    #[default]
    Ours,
    /// The provider writes summaries, by its own compaction on demand. Where that is impossible or fails, this is the
    /// same as [`SummarizerSetting::Ours`].
    Provider,
}

impl SummarizerSetting {
    /// The value's name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "model",
            Self::Provider => "provider",
        }
    }

    /// The value with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Ours, Self::Provider]
            .into_iter()
            .find(|known| known.name() == name)
    }
}
