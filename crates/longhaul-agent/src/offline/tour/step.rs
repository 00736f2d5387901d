//! What whoever drives the tour has to do.

use std::time::Duration;

/// A step of the tour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TourStep {
    /// Shows this to the newcomer, as a guide's words: not the model's, not the user's.
    Say(String),
    /// Types this visibly and sends it as the user's prompt.
    Prompt(String),
    /// Waits; events go to [`Tour::watch`](super::Tour::watch) meanwhile.
    Wait(TourWait),
    /// Gives this command, as if the user had typed it.
    Command(String),
    /// Ends the session as quitting would, and opens it again from its transcript. The offline model stays: what it has
    /// cached is to be read.
    Resume,
    /// The tour is over; the session is the user's now.
    End,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TourWait {
    /// The work on the prompt or command ended.
    Ended,
    /// The newcomer has read what was said. A key may cut it short; tests do not wait at all.
    Read(Duration),
}
