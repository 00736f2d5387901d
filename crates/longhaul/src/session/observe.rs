//! The trait for observers of a session: a screen, a log, a test.

use longhaul_core::engine::Event;
use longhaul_provider::StreamEvent;

use super::retry_wait::RetryWait;

/// Receives events and streamed text. All methods must return soon: the session waits.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn event(&self, event: &Event) {
        let _ = event;
    }

    /// A piece of a reply arrived. Replies to requests for a summary are not reported here.
    fn stream(&self, event: &StreamEvent) {
        let _ = event;
    }

    /// The request for a turn failed and is sent again after a wait. What arrived of its reply was taken back with
    /// [`StreamEvent::Restarted`].
    fn retrying(&self, wait: &RetryWait) {
        let _ = wait;
    }

    /// A summary is being written and has this many characters so far.
    fn summarizing(&self, characters: usize) {
        let _ = characters;
    }
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct SilentObserver;

impl Observer for SilentObserver {}
