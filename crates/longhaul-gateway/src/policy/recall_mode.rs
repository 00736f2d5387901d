//! Whether the model may look up what is no longer sent.

/// Whether conversations are offered a tool that looks up what is no longer sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecallMode {
    /// They are not.
    #[default]
    Off,
    /// Those that begin with tools are.
    On,
}

impl RecallMode {
    /// The mode with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "off" => Some(Self::Off),
            "on" => Some(Self::On),
            _ => None,
        }
    }
}

impl From<bool> for RecallMode {
    fn from(is_on: bool) -> Self {
        if is_on { Self::On } else { Self::Off }
    }
}
