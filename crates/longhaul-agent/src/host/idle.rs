//! Notices that the user has not done anything for a while after work has ended, so that hooks can be told once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// When the user last did something. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct LastTouch(Arc<Mutex<Instant>>);

impl LastTouch {
    pub(super) fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// The user has just done something.
    pub(super) fn touch(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn at(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until the user has been idle for long enough.
pub(super) struct IdleWatch {
    touched: LastTouch,
    after: Duration,
    /// Whether work has ended that nobody was told about.
    pub(super) is_armed: bool,
}

impl IdleWatch {
    pub(super) fn new(touched: LastTouch, after: Duration) -> Self {
        Self {
            touched,
            after,
            is_armed: false,
        }
    }

    /// Work has ended: from now on, the user is waited for.
    pub(super) fn rest(&mut self) {
        self.touched.touch();
        self.is_armed = true;
    }

    /// Returns once the user has done nothing for long enough. Dropping this half-way loses nothing.
    pub(super) async fn passed(&self) {
        loop {
            let until = self.touched.at() + self.after;
            if Instant::now() >= until {
                return;
            }
            sleep_until(until).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn k1_a_user_who_types_is_not_idle() {
        let touched = LastTouch::now();
        let watch = IdleWatch::new(touched.clone(), Duration::from_secs(60));
        let began = Instant::now();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(45)).await;
            touched.touch();
        });
        watch.passed().await;
        assert!(began.elapsed() >= Duration::from_secs(105));
    }
}
