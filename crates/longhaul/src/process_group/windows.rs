//! Job objects. What a process in a job starts is in the job, too, and cannot leave it; closing the job kills all of them,
//! and the system closes it when this process dies.

use std::process::ExitStatus;

use tokio::process::{Child, Command};
use win32job::{ExtendedLimitInfo, Job};

/// A command joins its job right after it was started: nothing has to be set before.
pub(super) fn lead_own_group(_: &mut Command) {}

pub(super) fn ending_signal(_: ExitStatus) -> Option<i32> {
    None
}

/// A job that the leader is in; `None` once it was closed.
#[derive(Debug)]
pub(super) struct Group(Option<Job>);

impl Group {
    pub(super) fn led_by(child: &Child) -> Option<Self> {
        let leader = child.raw_handle()?;
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits);
        let joined = job.and_then(|job| job.assign_process(leader as isize).map(|()| job));
        match joined {
            Ok(job) => Some(Self(Some(job))),
            Err(error) => {
                // The child itself is still killed with its handle.
                tracing::warn!(%error, "what the command starts cannot be killed with it");
                None
            }
        }
    }

    pub(super) fn kill(&mut self) {
        self.0 = None;
    }

    /// Whether processes are left after the leader was waited for.
    pub(super) fn has_members(&self) -> bool {
        let job = self.0.as_ref();
        let left = job.and_then(|job| job.query_process_id_list().ok());
        left.is_some_and(|left| !left.is_empty())
    }

    pub(super) fn let_go(self) {
        if let Some(job) = &self.0
            && let Err(error) = job.set_extended_limit_info(&ExtendedLimitInfo::new())
        {
            tracing::warn!(%error, "what the command left running ends with it");
        }
    }
}
