//! What the driver of the tour has to do.

use std::time::Duration;

/// A step of the tour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TourStep {
    /// Show this text to the newcomer as the guide's, not as the model's or the user's.
    Say(String),
    /// Type this visibly and send it as the user's prompt.
    Prompt(String),
    /// Wait; in the meantime events go to [`Tour::watch`](super::Tour::watch).
    Wait(TourWait),
    /// Run this command, as if the user had typed it.
    Command(String),
    /// End the session as quitting would, and reopen it from its transcript. The offline model keeps running, so that
    /// its cache can be read.
    Resume,
    /// The tour is over; the session is the user's now.
    End,
}

/// What the driver waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TourWait {
    /// The work on the prompt or command has ended.
    Ended,
    /// The newcomer has read the text. A key press may shorten this; tests do not wait at all.
    Read(Duration),
}
