//! Whose cache breakpoints a request was sent with.

/// Whose cache breakpoints a request was sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum BreakpointOwner {
    /// There are none, or the API has none.
    #[default]
    None,
    /// The client's breakpoints.
    Kept,
    /// The gateway's breakpoints.
    Managed,
    /// The gateway's breakpoints, for the first time: the client sets none.
    ManagedNow,
}

impl BreakpointOwner {
    /// The name in the response header.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Kept => "kept",
            Self::Managed | Self::ManagedNow => "managed",
        }
    }
}
