//! What the exit code and the output of one command mean for its event. Pure: nothing is run or written here.

use std::process::ExitStatus;
use std::time::Duration;

use super::capture::CapturedStream;
use super::name::HookEventName;
use super::outcome::{HookFailure, HookPermission, HookReason, HookResponse};
use super::output::HookOutput;
use super::process::{FinishedHook, HookProcessEnding};
use super::text_target::HookTextTarget;
use crate::process_group::ending_signal;

/// The reason that is used where a hook gives none.
const NO_REASON: &str = include_str!("no_reason.md");

/// The most characters of stderr that an error repeats.
const STDERR_LINE: usize = 500;

/// Reads the answer of the hook that is configured at `hook` and had the time `limit` to answer.
pub(super) fn interpret(
    event: HookEventName,
    hook: &str,
    limit: Duration,
    finished: &FinishedHook,
) -> HookResponse {
    let status = match finished.ending {
        HookProcessEnding::Exited(status) => status,
        HookProcessEnding::TimedOut => {
            return HookResponse::failed(hook, HookFailure::TimedOut(limit));
        }
        HookProcessEnding::NotStarted(kind) => {
            return HookResponse::failed(hook, HookFailure::NotStarted(kind));
        }
        HookProcessEnding::Cancelled => {
            return HookResponse {
                cancelled: true,
                ..HookResponse::default()
            };
        }
    };
    let mut answer = HookAnswer {
        event,
        hook,
        outcome: HookResponse::default(),
    };
    answer.code(status, &finished.stdout, &finished.stderr);
    answer.outcome
}

struct HookAnswer<'a> {
    event: HookEventName,
    hook: &'a str,
    outcome: HookResponse,
}

impl HookAnswer<'_> {
    fn code(&mut self, status: ExitStatus, stdout: &CapturedStream, stderr: &CapturedStream) {
        let json = match stdout.json() {
            Some(Ok(json)) => Some(HookOutput::read(self.event, &json)),
            Some(Err(error)) => {
                self.fail(HookFailure::NotJson {
                    line: error.line().max(1),
                    column: error.column().max(1),
                });
                None
            }
            None => {
                if status.code() == Some(0) {
                    self.place(self.event.plain_stdout(), stdout.text());
                }
                None
            }
        };
        match status.code() {
            Some(0) => {}
            Some(2) => {
                let json_reason = json.as_ref().and_then(|json| json.reason.clone());
                self.blocking_code(stderr.text(), json_reason);
            }
            Some(code) => self.fail(HookFailure::Exit {
                code,
                stderr: first_line(&stderr.text()),
            }),
            None => self.fail(HookFailure::Signal(
                ending_signal(status).unwrap_or_default(),
            )),
        }
        if let Some(json) = json {
            self.json(json);
        }
    }

    fn blocking_code(&mut self, stderr: String, json_reason: Option<String>) {
        if self.event.can_block() {
            let text = Some(stderr).filter(|text| !text.is_empty()).or(json_reason);
            self.block(text);
        } else {
            self.place(self.event.stderr_of_two(), stderr);
        }
    }

    fn json(&mut self, json: HookOutput) {
        for failure in json.failures {
            self.fail(failure);
        }
        self.outcome.messages.extend(json.system_message);
        if json.stop && self.event.can_stop_the_turn() {
            self.outcome.stop = Some(HookReason {
                hook: self.hook.to_owned(),
                text: json.stop_reason.unwrap_or_default(),
            });
        }
        match json.context {
            Some(_) if self.event == HookEventName::PreCompact => self.fail(HookFailure::Unused(
                "`additionalContext` has no effect before a compaction; \
                 use SessionStart with the matcher `compact`",
            )),
            Some(context) if self.event.takes_context() => self.outcome.context.push(context),
            _ => {}
        }
        match self.event {
            HookEventName::PreToolUse | HookEventName::PermissionRequest => {
                let old_way = if json.block {
                    Some(HookPermission::Deny)
                } else {
                    json.approve.then_some(HookPermission::Allow)
                };
                self.outcome.permission = json.permission.or(old_way);
                self.outcome.updated_input = json.updated_input;
                if self.outcome.permission == Some(HookPermission::Deny) {
                    self.block(json.permission_reason.or(json.reason));
                }
            }
            HookEventName::PostToolUse => {
                self.outcome.updated_output = json.updated_output;
                // The tool has run already, so the model is told the reason.
                if json.block {
                    self.outcome.context.extend(json.reason);
                }
            }
            HookEventName::SessionStart => {
                self.outcome.initial_user_message = json.initial_user_message;
                self.outcome.session_title = json.session_title;
            }
            event if json.block && event.can_block() => self.block(json.reason),
            _ => {}
        }
    }

    /// The first reason counts: that of the exit code, if there is one.
    fn block(&mut self, text: Option<String>) {
        self.outcome.blocked.get_or_insert_with(|| HookReason {
            hook: self.hook.to_owned(),
            text: text.unwrap_or_else(|| NO_REASON.trim_end().to_owned()),
        });
    }

    fn place(&mut self, place: HookTextTarget, text: String) {
        if text.is_empty() {
            return;
        }
        match place {
            HookTextTarget::ToModel => self.outcome.context.push(text),
            HookTextTarget::ToSummary => self.outcome.instructions.push(text),
            HookTextTarget::ToUser => self.outcome.messages.push(text),
            HookTextTarget::Unused => {}
        }
    }

    fn fail(&mut self, failure: HookFailure) {
        self.outcome.fail(self.hook, failure);
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(STDERR_LINE).collect()
}
