//! The process group of a command: killing the group also kills the processes that the command started.
//!
//! Running a command, feeding it and reading its output is up to the caller; a process that leaves its group on purpose
//! (`setsid`) is out of reach.

use std::sync::{Mutex, PoisonError};

use tokio::process::{Child, Command};

/// Makes the command the leader of a group of its own.
pub fn lead_own_group(command: &mut Command) {
    #[cfg(unix)]
    command.process_group(0);
    command.kill_on_drop(true);
}

#[cfg(unix)]
type Leader = rustix::process::Pid;
#[cfg(not(unix))]
type Leader = ();

/// A group whose leader has not been waited for, so its id cannot have passed to another process. Dropping it, for
/// example with the future that runs the command, kills the group.
#[derive(Debug)]
pub struct ProcessGroup {
    leader: Mutex<Option<Leader>>,
}

impl ProcessGroup {
    /// The group of a child that was started with [`lead_own_group`].
    pub fn led_by(child: &Child) -> ProcessGroup {
        #[cfg(unix)]
        let leader = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(rustix::process::Pid::from_raw);
        #[cfg(not(unix))]
        let leader = child.id().map(|_| ());
        ProcessGroup {
            leader: Mutex::new(leader),
        }
    }

    /// Kills the whole group, or the child where there are no groups.
    pub fn kill(&self, child: &mut Child) {
        self.kill_members();
        // It may already be gone, which is fine.
        let _ = child.start_kill();
    }

    /// Kills all processes that are still in the group.
    pub fn kill_members(&self) {
        #[cfg(unix)]
        if let Some(leader) = *self.leader.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }

    /// The leader ended by itself and was waited for; processes that it left running on purpose stay.
    pub fn release(&self) {
        self.take();
    }

    /// The leader ended by itself and was waited for just now; processes that it left running are killed.
    ///
    /// While members live, the group keeps its id. If there are none, the id is free, but ids are assigned in order, so
    /// no other process has it yet.
    pub fn sweep(&self) -> SweepResult {
        let leader = self.take();
        #[cfg(unix)]
        if let Some(leader) = leader
            && rustix::process::test_kill_process_group(leader).is_ok()
        {
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
            return SweepResult::LeftBehind;
        }
        #[cfg(not(unix))]
        let _ = leader;
        SweepResult::Nothing
    }

    fn take(&self) -> Option<Leader> {
        (self.leader.lock())
            .unwrap_or_else(PoisonError::into_inner)
            .take()
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
