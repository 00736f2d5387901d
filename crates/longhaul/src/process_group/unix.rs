//! Process groups. A group has the id of its leader.

use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};

pub(super) fn lead_own_group(command: &mut Command) {
    command.process_group(0);
}

pub(super) fn ending_signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
}

impl Group {
    pub(super) fn led_by(child: &Child) -> Option<Self> {
        let id = i32::try_from(child.id()?).ok()?;
        Pid::from_raw(id).map(|leader| Self { leader })
    }

    pub(super) fn kill(&mut self) {
        // An error means that the group is already empty, which is fine.
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    /// Whether processes are left after the leader was waited for. While there are, the group keeps its id. If there are
    /// none, the id is free, but ids are assigned in order, so no other process has it yet.
    pub(super) fn has_members(&self) -> bool {
        test_kill_process_group(self.leader).is_ok()
    }

    pub(super) fn let_go(self) {}
}
