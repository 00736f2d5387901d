//! The processes of a command: killing its group also kills the processes that the command started.
//!
//! Running a command, feeding it and reading its output is up to the caller. What a group is differs: a process group on
//! Unix, which a process can leave on purpose (`setsid`), and a job object on Windows.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};

use tokio::process::{Child, Command};

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Makes the command the leader of a group of its own.
pub fn lead_own_group(command: &mut Command) {
    system::lead_own_group(command);
    command.kill_on_drop(true);
}

/// The number of the signal that ended a process; `None` if it ended by itself, and where there are no signals.
pub fn ending_signal(status: ExitStatus) -> Option<i32> {
    system::ending_signal(status)
}

/// A group whose leader has not been waited for, so its id cannot have passed to another process. Dropping it, for
/// example with the future that runs the command, kills the group.
#[derive(Debug)]
pub struct ProcessGroup {
    group: Mutex<Option<system::Group>>,
}

impl ProcessGroup {
    /// The group of a child that was started with [`lead_own_group`].
    pub fn led_by(child: &Child) -> ProcessGroup {
        ProcessGroup {
            group: Mutex::new(system::Group::led_by(child)),
        }
    }

    /// Kills the whole group.
    pub fn kill(&self, child: &mut Child) {
        self.kill_members();
        // It may already be gone, which is fine.
        let _ = child.start_kill();
    }

    /// Kills all processes that are still in the group.
    pub fn kill_members(&self) {
        let mut group = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = &mut *group {
            group.kill();
        }
    }

    /// The leader ended by itself and was waited for; processes that it left running on purpose stay.
    pub fn release(&self) {
        if let Some(group) = self.take() {
            group.let_go();
        }
    }

    /// The leader ended by itself and was waited for just now; processes that it left running are killed.
    pub fn sweep(&self) -> SweepResult {
        match self.take() {
            Some(mut group) if group.has_members() => {
                group.kill();
                SweepResult::LeftBehind
            }
            _ => SweepResult::Nothing,
        }
    }

    fn take(&self) -> Option<system::Group> {
        let mut group = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        group.take()
    }
}

/// What was found when a group was killed after its leader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepResult {
    /// There were no processes left.
    Nothing,
    /// There were processes that the leader had left running.
    LeftBehind,
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill_members();
    }
}
