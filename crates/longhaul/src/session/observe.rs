//! Who watches a session: a screen, a log, a test.

use longhaul_core::engine::Event;
use longhaul_provider::StreamEvent;

/// Hears what happens. Both must return soon: the session waits.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn event(&self, event: &Event) {
        let _ = event;
    }

    /// A piece of a reply came. Replies to requests for a summary are not among them.
    fn stream(&self, event: &StreamEvent) {
        let _ = event;
    }

    /// A summary is being written: so many characters are there.
    fn summarizing(&self, characters: usize) {
        let _ = characters;
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct SilentObserver;

impl Observer for SilentObserver {}
