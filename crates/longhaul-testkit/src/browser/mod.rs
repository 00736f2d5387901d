//! A page in a real browser: Chromium without a window, driven over its DevTools protocol.
//!
//! `find` finds the program and starts it, `wire` talks to it, `page` is what tests use. Everything panics where a test
//! would. Nothing sleeps: the page itself waits for what must come.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the helpers of tests are tests too"
)]

mod find;
mod page;
mod wire;

use std::time::Duration;

pub use page::{BrowserPage, ColorScheme};

use find::BrowserProcess;
use serde_json::json;
use wire::DevToolsConnection;

/// The maximum wait for something that must come.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A browser of its own, with an empty profile. It is closed when dropped.
#[derive(Debug)]
pub struct Browser {
    wire: DevToolsConnection,
    _running: BrowserProcess,
    /// Browsers are large, so only one runs at a time.
    _turn: tokio::sync::MutexGuard<'static, ()>,
}

static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

impl Browser {
    /// Starts a browser. If none is installed, prints a line and returns `None`.
    ///
    /// # Panics
    /// If none is installed and the environment says `CI=true`, or if it does not start.
    pub async fn start() -> Option<Self> {
        let program = find::program()?;
        let turn = TURN.lock().await;
        let (running, url) = find::start(&program).await;
        let wire = DevToolsConnection::connect(&url).await;
        Some(Self {
            wire,
            _running: running,
            _turn: turn,
        })
    }

    /// Opens an empty page: nothing is loaded yet, and everything that it loads is recorded.
    ///
    /// # Panics
    /// If the browser does not answer.
    pub async fn page(&self) -> BrowserPage {
        let target = json!({"url": "about:blank"});
        let made = self.wire.ask(None, "Target.createTarget", target).await;
        let attach = json!({"targetId": made["targetId"], "flatten": true});
        let attached = self.wire.ask(None, "Target.attachToTarget", attach).await;
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        BrowserPage::watched(self.wire.clone(), session).await
    }
}
