//! Agents in the background (R4): which ones exist, their progress, and their reports.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use longhaul_core::rehydrate::{AgentState, BackgroundAgent};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The maximum number of characters of a report in the conversation.
const REPORT: usize = 40_000;

/// A background agent.
#[derive(Debug, Clone)]
pub(crate) struct BackgroundJob {
    pub(crate) id: String,
    pub(crate) description: String,
    pub(crate) transcript: PathBuf,
    pub(crate) state: AgentState,
    /// Its report, or why it failed.
    pub(crate) report: String,
    /// Whether the model has been told.
    pub(crate) collected: bool,
}

/// All background agents of a session.
#[derive(Debug, Default)]
pub(crate) struct BackgroundJobs {
    jobs: Mutex<Vec<BackgroundJob>>,
    changed: Notify,
}

impl BackgroundJobs {
    pub(crate) fn begin(&self, job: BackgroundJob) {
        self.lock().push(job);
    }

    pub(crate) fn end(&self, id: &str, state: AgentState, report: String) {
        if let Some(job) = self.lock().iter_mut().find(|job| job.id == id) {
            job.state = state;
            job.report = report;
        }
        self.changed.notify_waiters();
    }

    /// The agents that have ended and were not reported yet, as attachments; they now count as reported.
    pub(crate) fn arrivals(&self) -> Vec<Value> {
        let mut jobs = self.lock();
        let ended = jobs
            .iter_mut()
            .filter(|job| job.state != AgentState::Running && !job.collected);
        ended
            .map(|job| {
                job.collected = true;
                json!({
                    "type": "task_status",
                    "taskId": job.id,
                    "taskType": "local_agent",
                    "description": job.description,
                    "status": match job.state {
                        AgentState::Failed => "failed",
                        _ => "completed",
                    },
                    "deltaSummary": bounded(&job.report, &job.transcript),
                })
            })
            .collect()
    }

    /// The agents that the model must know of after a compaction.
    pub(crate) fn uncollected(&self) -> Vec<BackgroundAgent> {
        let jobs = self.lock();
        let open = jobs.iter().filter(|job| !job.collected);
        open.map(|job| BackgroundAgent {
            id: job.id.clone(),
            description: job.description.clone(),
            state: job.state,
            summary: None,
        })
        .collect()
    }

    /// The number of agents that still run.
    pub(crate) fn running(&self) -> usize {
        let jobs = self.lock();
        let running = jobs.iter().filter(|job| job.state == AgentState::Running);
        running.count()
    }

    /// The agent with this id.
    pub(crate) fn find(&self, id: &str) -> Option<BackgroundJob> {
        self.lock().iter().find(|job| job.id == id).cloned()
    }

    /// Waits until the agent with this id has ended; the caller tells the model.
    pub(crate) async fn ended(&self, id: &str) -> Option<BackgroundJob> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Enabled before the check, so that a change in between is not missed.
            changed.as_mut().enable();
            let job = self.find(id)?;
            if job.state != AgentState::Running {
                self.collect(id);
                return Some(job);
            }
            changed.await;
        }
    }

    pub(crate) fn collect(&self, id: &str) {
        if let Some(job) = self.lock().iter_mut().find(|job| job.id == id) {
            job.collected = true;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<BackgroundJob>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A report, cut to the maximum length.
pub(crate) fn bounded(report: &str, transcript: &std::path::Path) -> String {
    let Some((at, _)) = report.char_indices().nth(REPORT) else {
        return report.to_owned();
    };
    let note = include_str!("fragments/cut.txt").trim_end();
    let note = note.replace("{transcript}", &transcript.display().to_string());
    format!("{}\n{note}", &report[..at])
}
