//! The screen on Windows: a console that can close, and sizes that come among the keys.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::process::Command;
use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

use super::ScreenSignal;

/// The source of signals.
#[derive(Debug)]
pub(in crate::screen) struct Signals {
    interrupt: CtrlC,
    terminate: CtrlBreak,
    close: CtrlClose,
}

impl Signals {
    pub(in crate::screen) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            terminate: ctrl_break()?,
            close: ctrl_close()?,
        })
    }

    pub(in crate::screen) async fn next(&mut self) -> ScreenSignal {
        tokio::select! {
            _ = self.interrupt.recv() => ScreenSignal::Interrupt,
            _ = self.terminate.recv() => ScreenSignal::End,
            _ = self.close.recv() => ScreenSignal::End,
        }
    }
}

/// Waits a little; an error means that the console is gone.
pub(in crate::screen) fn wait_for_input(wait: Duration) -> io::Result<()> {
    crossterm::event::poll(wait).map(|_| ())
}

/// A console does not suspend programs: nothing happens.
pub(in crate::screen) async fn put_aside() -> io::Result<()> {
    Ok(())
}

/// An editor with this file. The command may have arguments: `code --wait`.
pub(in crate::screen) fn editor_command(editor: &str, file: &Path) -> Command {
    let mut shell = Command::new("cmd");
    // With `/S` the outermost quotes are taken away, and all others stay. A path holds none.
    shell
        .raw_arg("/S /C")
        .raw_arg(format!("\"{editor} \"{}\"\"", file.display()));
    shell
}

/// Whether the console understands the codes that move its cursor; asking switches them on.
pub(in crate::screen) fn draws(_: &str) -> bool {
    crossterm::ansi_support::supports_ansi()
}
