//! Lines outside the conversation: progress, snapshots, system lines, queue operations, titles.
//!
//! Progress and system lines are part of the parent chain although no model ever sees them; the others have no uuid.

use super::generator::Generator;
use super::spec::Feature;
use super::tools::GeneratedCall;
use crate::ids;
use crate::json::{ObjectBuilder, array, quote};
use crate::words;

impl Generator {
    /// Writes titles of earlier conversations at the beginning of the file.
    pub(super) fn titles(&mut self) {
        if !self.spec.has(Feature::Titles) {
            return;
        }
        for _ in 0..self.rng.between(1, 3) {
            let title = words::sentence(&mut self.rng, self.letters);
            let leaf = ids::uuid(&mut self.rng);
            self.tape.push(
                &ObjectBuilder::new()
                    .text("type", "summary")
                    .text("summary", &title)
                    .text("leafUuid", &leaf)
                    .end(),
            );
        }
    }

    /// Writes the hooks that ran when the session began.
    pub(super) fn session_start_hooks(&mut self) {
        if self.spec.has(Feature::HookProgress) {
            let id = ids::uuid(&mut self.rng);
            for _ in 0..2 {
                self.hook_line("SessionStart", "SessionStart:startup", &id);
            }
        }
    }

    /// Writes the hooks before a call runs.
    pub(super) fn before_call(&mut self, call: &GeneratedCall) {
        if self.spec.has(Feature::HookProgress) {
            for _ in 0..2 {
                self.hook_line("PreToolUse", &format!("PreToolUse:{}", call.tool), &call.id);
            }
        }
    }

    /// Writes the hooks after a call ran.
    pub(super) fn after_call(&mut self, tool: &str, id: &str) {
        if self.spec.has(Feature::HookProgress) {
            for _ in 0..2 {
                self.hook_line("PostToolUse", &format!("PostToolUse:{tool}"), id);
            }
        }
    }

    fn hook_line(&mut self, event: &str, name: &str, id: &str) {
        let command = format!(
            "${{HARBOR_HOOKS}}/scripts/{}-{}.sh",
            words::noun(&mut self.rng),
            words::noun(&mut self.rng)
        );
        let data = ObjectBuilder::new()
            .text("type", "hook_progress")
            .text("hookEvent", event)
            .text("hookName", name)
            .text("command", &command)
            .end();
        let uuid = ids::uuid(&mut self.rng);
        let line = self
            .tape
            .open(&self.thread, self.thread.last.as_deref())
            .text("type", "progress")
            .raw("data", &data)
            .text("parentToolUseID", id)
            .text("toolUseID", id)
            .text("timestamp", &self.tape.stamp())
            .text("uuid", &uuid)
            .end();
        self.tape.link(&mut self.thread, &line, uuid);
    }

    /// Writes a progress line of a running call.
    pub(super) fn progress_line(&mut self, data: &str, own_id: &str, call_id: &str) {
        self.tape.wait(1_000);
        let uuid = ids::uuid(&mut self.rng);
        let line = self
            .tape
            .open(&self.thread, self.thread.last.as_deref())
            .text("type", "progress")
            .raw("data", data)
            .text("toolUseID", own_id)
            .text("parentToolUseID", call_id)
            .text("uuid", &uuid)
            .text("timestamp", &self.tape.stamp())
            .end();
        self.tape.link(&mut self.thread, &line, uuid);
    }

    /// Writes the progress of a slow command, which reports every second with everything it has printed.
    pub(super) fn bash_progress(&mut self, call_id: &str) {
        if !self.spec.has(Feature::BashProgress) || !self.rng.percent(12) {
            return;
        }
        let mut printed = String::new();
        for second in 0..self.rng.skewed(1, 24) {
            if self.rng.percent(40) {
                printed.push_str(&words::log(&mut self.rng, 2, self.letters));
                printed.push('\n');
            }
            let data = ObjectBuilder::new()
                .text("type", "bash_progress")
                .text("output", &printed)
                .text("fullOutput", &printed)
                .number("elapsedTimeSeconds", second as u64 + 2)
                .number("totalLines", printed.matches('\n').count() as u64)
                .end();
            self.progress_line(&data, &format!("bash-progress-{second}"), call_id);
        }
    }

    /// Writes a snapshot of the files that the session has changed.
    pub(super) fn snapshot(&mut self) {
        if !self.spec.has(Feature::Snapshots) {
            return;
        }
        let id = ids::uuid(&mut self.rng);
        let mut backups = ObjectBuilder::new();
        let newest = self.files.len().saturating_sub(6);
        for file in &self.files[newest..] {
            let backup = ObjectBuilder::new()
                .text("backupFileName", &format!("{:016x}@v1", file.seed))
                .number("version", 1)
                .text("backupTime", &self.tape.stamp())
                .end();
            backups = backups.raw(&file.path, &backup);
        }
        let snapshot = ObjectBuilder::new()
            .text("messageId", &id)
            .raw("trackedFileBackups", &backups.end())
            .text("timestamp", &self.tape.stamp())
            .end();
        let line = ObjectBuilder::new()
            .text("type", "file-history-snapshot")
            .text("messageId", &id)
            .raw("snapshot", &snapshot)
            .flag("isSnapshotUpdate", false)
            .end();
        self.tape.push(&line);
    }

    /// Writes the lines after the last response of a turn.
    pub(super) fn end_of_turn(&mut self) {
        if self.spec.has(Feature::SystemLines) {
            let hook = ObjectBuilder::new()
                .text("command", &format!("{} --stop", words::noun(&mut self.rng)))
                .end();
            let id = ids::uuid(&mut self.rng);
            self.system_line("stop_hook_summary", |line| {
                line.number("hookCount", 1)
                    .raw("hookInfos", &array([hook]))
                    .raw("hookErrors", "[]")
                    .flag("preventedContinuation", false)
                    .text("stopReason", "")
                    .flag("hasOutput", true)
                    .text("level", "suggestion")
                    .text("toolUseID", &id)
            });
            let ms = self.rng.between(9_000, 400_000) as u64;
            self.system_line("turn_duration", |line| {
                line.number("durationMs", ms).flag("isMeta", false)
            });
        }
        if self.spec.has(Feature::QueueOperations) && self.rng.percent(8) {
            let line = ObjectBuilder::new()
                .text("type", "queue-operation")
                .text("operation", "enqueue")
                .text("timestamp", &self.tape.stamp())
                .text("sessionId", &self.tape.session_id)
                .raw(
                    "content",
                    &quote(&words::sentence(&mut self.rng, self.letters)),
                )
                .end();
            self.tape.push(&line);
        }
    }

    fn system_line(&mut self, subtype: &str, body: impl FnOnce(ObjectBuilder) -> ObjectBuilder) {
        let uuid = ids::uuid(&mut self.rng);
        let line = self
            .tape
            .open(&self.thread, self.thread.last.as_deref())
            .text("type", "system")
            .text("subtype", subtype);
        let line = body(line)
            .text("timestamp", &self.tape.stamp())
            .text("uuid", &uuid)
            .end();
        self.tape.link(&mut self.thread, &line, uuid);
    }
}
