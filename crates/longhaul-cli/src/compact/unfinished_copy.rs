//! Deletes a copy that is not finished when the user or a supervisor ends the program: it is as large as the transcript,
//! and nothing else would ever delete it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use crate::signals::{EndSignal, EndSignals};

/// Watches for signals for as long as the copy is unfinished, on a thread of its own, because a large file is copied and
/// read before anything is asynchronous.
pub(super) struct UnfinishedCopyWatch {
    /// Whether something else ends the work after Ctrl-C, and the copy with it.
    interrupt_is_handled: Arc<AtomicBool>,
}

impl UnfinishedCopyWatch {
    /// Begins to watch. Where signals cannot be watched, the copy stays as it would without this.
    pub(super) fn of(copy: &Path) -> Self {
        let interrupt_is_handled = Arc::new(AtomicBool::new(false));
        let (ready, is_ready) = channel();
        let (path, handled) = (copy.to_owned(), Arc::clone(&interrupt_is_handled));
        let started = std::thread::Builder::new()
            .name("unfinished copy".to_owned())
            .spawn(move || watch(&path, &handled, &ready));
        if started.is_ok() {
            // An error means that the thread has ended, and nothing is watched.
            let _ = is_ready.recv();
        }
        Self {
            interrupt_is_handled,
        }
    }

    /// While the guard lives, Ctrl-C is left to somebody else, who ends the work in order.
    pub(super) fn leave_interrupts(&self) -> InterruptsLeft {
        self.interrupt_is_handled.store(true, Ordering::SeqCst);
        InterruptsLeft(Arc::clone(&self.interrupt_is_handled))
    }
}

/// Ctrl-C is somebody else's as long as this lives.
pub(super) struct InterruptsLeft(Arc<AtomicBool>);

impl Drop for InterruptsLeft {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

fn watch(copy: &PathBuf, is_handled: &AtomicBool, ready: &Sender<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let Ok(mut signals) = EndSignals::listen_with_hangup() else {
            return;
        };
        let _ = ready.send(());
        loop {
            let signal = signals.received().await;
            if signal == EndSignal::Interrupt && is_handled.load(Ordering::SeqCst) {
                continue;
            }
            // It may have got its name a moment ago.
            let _ = std::fs::remove_file(copy);
            std::process::exit(signal.exit_code());
        }
    });
}
