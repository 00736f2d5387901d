//! The seam to time.

use std::sync::Arc;

use jiff::Timestamp;

/// Tells the time. Tests bring their own.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        C::now(self)
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
