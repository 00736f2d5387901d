//! The process group of a command that is run for somebody: what it started goes when it is made to go.
//!
//! Running a command, feeding it and reading it is for whoever starts it; a process that leaves its group on purpose
//! (`setsid`) is out of reach.

use std::sync::{Mutex, PoisonError};

use tokio::process::{Child, Command};

/// Puts what will be started into a group of its own.
pub fn lead_own_group(command: &mut Command) {
    #[cfg(unix)]
    command.process_group(0);
    command.kill_on_drop(true);
}

#[cfg(unix)]
type Leader = rustix::process::Pid;
#[cfg(not(unix))]
type Leader = ();

/// A group whose leader has not been waited for, so its number cannot have passed to anybody else.
/// Dropped as such, for instance with the future that runs the command, it kills the group.
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

    /// Kills all of it, and the child where there are no groups.
    pub fn kill(&self, child: &mut Child) {
        self.kill_members();
        // It may be gone already, which is what is wanted.
        let _ = child.start_kill();
    }

    /// Kills all of it that a group can reach.
    pub fn kill_members(&self) {
        #[cfg(unix)]
        if let Some(leader) = *self.leader.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }

    /// The leader ended by itself and was waited for; what it left behind on purpose lives on.
    pub fn release(&self) {
        self.take();
    }

    /// The leader ended by itself and was waited for just now; what it left behind is killed.
    ///
    /// While members live, the group keeps its number. If there are none, the number is free, but numbers are given out
    /// in turn, so nobody has it yet.
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

/// What was there when a group was swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepResult {
    /// Nothing.
    Nothing,
    /// Processes that the leader left behind.
    LeftBehind,
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill_members();
    }
}
