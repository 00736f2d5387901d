//! The setting that says who writes summaries.

/// Who writes summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummarizerSetting {
    /// A model, asked by us.
    #[default]
    Ours,
    /// The provider, by its own compaction on demand; where that cannot be, or fails, as [`Summariser::Ours`].
    Provider,
}

impl SummarizerSetting {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "model",
            Self::Provider => "provider",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Ours, Self::Provider]
            .into_iter()
            .find(|known| known.name() == name)
    }
}
