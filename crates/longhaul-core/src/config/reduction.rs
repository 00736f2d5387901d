//! The setting for results that are made smaller before they are first sent (V8).

/// How results are made smaller before they are first sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultReduction {
    /// Results are sent as they come.
    Off,
    /// What is in view already is not sent again: an identical result becomes a pointer, and a file that was read again
    /// becomes what changed.
    #[default]
    Exact,
    /// As [`ResultReduction::Exact`], and of an oversized result only its head, tail and error lines are sent. The
    /// whole can be recalled.
    Recallable,
}

impl ResultReduction {
    /// The value's name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Exact => "exact",
            Self::Recallable => "recallable",
        }
    }

    /// The value with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Off, Self::Exact, Self::Recallable]
            .into_iter()
            .find(|known| known.name() == name)
    }
}
