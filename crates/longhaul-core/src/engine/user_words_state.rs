//! Whether a new view holds all of the user's words.

/// Whether all of the user's words are in the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserWordsState {
    /// Every message is in the view, whole or shortened.
    Kept,
    /// The words fill their share of the window, and older messages were left out.
    FillTheirShare,
    /// Messages were left out because other things take the room.
    Crowded,
    /// Only the words that fit are in the view.
    Cut,
}

impl UserWordsState {
    /// Whether the words have all the room that they may have.
    pub(super) fn have_their_share(self) -> bool {
        matches!(self, Self::Kept | Self::FillTheirShare)
    }
}
