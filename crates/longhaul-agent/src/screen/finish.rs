//! The end of a screen: the terminal is restored already, and the host finishes. What it waits for is said, and ctrl-c ends
//! that.

use std::io::{self, Write as _};

use tokio::sync::mpsc::UnboundedReceiver;

use super::app::App;
use super::system::{ScreenSignal, Signals};
use super::text::clean_line;
use crate::event::AgentEvent;

/// Waits until the host has finished.
pub(super) async fn finish(app: &mut App, events: &mut UnboundedReceiver<AgentEvent>) {
    let mut signals = Signals::listen().ok();
    let host = app.end();
    let finished = host.finish();
    tokio::pin!(finished);
    loop {
        tokio::select! {
            biased;
            () = &mut finished => return,
            Some(event) = events.recv() => if let AgentEvent::HookRuns(hook) = event {
                let line = format!("waiting for the {}; ctrl-c ends it", clean_line(&hook.words()));
                // A terminal that is gone needs no line.
                let _ = writeln!(io::stderr(), "{line}");
            },
            ScreenSignal::Interrupt = next(&mut signals) => host.cancel(),
        }
    }
}

/// The next signal, if signals can be heard.
async fn next(signals: &mut Option<Signals>) -> ScreenSignal {
    match signals {
        Some(signals) => signals.next().await,
        None => std::future::pending().await,
    }
}
