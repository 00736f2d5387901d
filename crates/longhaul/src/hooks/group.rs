//! The process group of a hook: what a hook started goes when the hook is made to go.

use tokio::process::{Child, Command};

/// Puts what will be started into a group of its own.
pub(super) fn lead_own_group(command: &mut Command) {
    #[cfg(unix)]
    command.process_group(0);
    command.kill_on_drop(true);
}

/// A group whose leader has not been waited for, so its number cannot have passed to anybody else.
/// Dropped as such, for instance with the future that runs the hook, it kills the group.
pub(super) struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    pub(super) fn led_by(child: &Child) -> Group {
        #[cfg(not(unix))]
        let _ = child;
        Group {
            #[cfg(unix)]
            leader: child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(rustix::process::Pid::from_raw),
        }
    }

    /// Kills all of it.
    pub(super) fn kill(&self, child: &mut Child) {
        self.kill_members();
        // Also where there are no groups. It may be gone already, which is what is wanted.
        let _ = child.start_kill();
    }

    /// The leader ended by itself and was waited for; what it left behind on purpose lives on.
    pub(super) fn release(mut self) {
        #[cfg(unix)]
        {
            self.leader = None;
        }
        #[cfg(not(unix))]
        let _ = &mut self;
    }

    fn kill_members(&self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill_members();
    }
}
