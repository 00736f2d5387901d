//! A wait before a request is sent again, as an observer is told of it.

use std::time::Duration;

use longhaul_provider::ErrorClass;

/// A wait before a request is sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryWait {
    /// What went wrong.
    pub class: ErrorClass,
    /// What the server or the network said about it.
    pub message: String,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// How long the session waits.
    pub wait: Duration,
    /// The number of the attempt that follows the wait, from 2.
    pub attempt: u32,
}

impl RetryWait {
    /// A wait of which nothing else is known, for tests of observers.
    pub fn new(class: ErrorClass, wait: Duration, attempt: u32) -> Self {
        Self {
            class,
            message: String::new(),
            status: None,
            wait,
            attempt,
        }
    }
}
