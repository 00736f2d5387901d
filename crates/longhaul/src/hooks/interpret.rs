//! What the ending and the output of one command mean for its event. Pure: nothing is run or written here.

use std::process::ExitStatus;
use std::time::Duration;

use super::capture::Captured;
use super::name::{EventName, TextGoes};
use super::outcome::{Failure, Outcome, Permission, Reason};
use super::output::Output;
use super::process::{Ending, Finished};

/// Stands in for a reason that was not given.
const NO_REASON: &str = include_str!("no_reason.md");

/// How much of stderr an error repeats.
const STDERR_LINE: usize = 500;

/// Reads the answer of the hook that is configured at `hook` and had `limit` to give it.
pub(super) fn interpret(
    event: EventName,
    hook: &str,
    limit: Duration,
    finished: &Finished,
) -> Outcome {
    let status = match finished.ending {
        Ending::Exited(status) => status,
        Ending::TimedOut => return Outcome::failed(hook, Failure::TimedOut(limit)),
        Ending::NotStarted(kind) => return Outcome::failed(hook, Failure::NotStarted(kind)),
        Ending::Cancelled => {
            return Outcome {
                cancelled: true,
                ..Outcome::default()
            };
        }
    };
    let mut answer = Answer {
        event,
        hook,
        outcome: Outcome::default(),
    };
    answer.code(status, &finished.stdout, &finished.stderr);
    answer.outcome
}

struct Answer<'a> {
    event: EventName,
    hook: &'a str,
    outcome: Outcome,
}

impl Answer<'_> {
    fn code(&mut self, status: ExitStatus, stdout: &Captured, stderr: &Captured) {
        let json = match stdout.json() {
            Some(Ok(json)) => Some(Output::read(self.event, &json)),
            Some(Err(error)) => {
                self.fail(Failure::NotJson {
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
            Some(code) => self.fail(Failure::Exit {
                code,
                stderr: first_line(&stderr.text()),
            }),
            None => self.fail(Failure::Signal(signal(status))),
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

    fn json(&mut self, json: Output) {
        for failure in json.failures {
            self.fail(failure);
        }
        self.outcome.messages.extend(json.system_message);
        if json.stop && self.event.can_stop_the_turn() {
            self.outcome.stop = Some(Reason {
                hook: self.hook.to_owned(),
                text: json.stop_reason.unwrap_or_default(),
            });
        }
        match json.context {
            Some(_) if self.event == EventName::PreCompact => self.fail(Failure::Unused(
                "`additionalContext` has no effect before a compaction; \
                 use SessionStart with the matcher `compact`",
            )),
            Some(context) if self.event.takes_context() => self.outcome.context.push(context),
            _ => {}
        }
        match self.event {
            EventName::PreToolUse | EventName::PermissionRequest => {
                let old_way = if json.block {
                    Some(Permission::Deny)
                } else {
                    json.approve.then_some(Permission::Allow)
                };
                self.outcome.permission = json.permission.or(old_way);
                self.outcome.updated_input = json.updated_input;
                if self.outcome.permission == Some(Permission::Deny) {
                    self.block(json.permission_reason.or(json.reason));
                }
            }
            EventName::PostToolUse => {
                self.outcome.updated_output = json.updated_output;
                // The tool has run; the model is told what is wrong with that.
                if json.block {
                    self.outcome.context.extend(json.reason);
                }
            }
            EventName::SessionStart => {
                self.outcome.initial_user_message = json.initial_user_message;
                self.outcome.session_title = json.session_title;
            }
            event if json.block && event.can_block() => self.block(json.reason),
            _ => {}
        }
    }

    /// The first reason counts: that of the exit code, if there is one.
    fn block(&mut self, text: Option<String>) {
        self.outcome.blocked.get_or_insert_with(|| Reason {
            hook: self.hook.to_owned(),
            text: text.unwrap_or_else(|| NO_REASON.trim_end().to_owned()),
        });
    }

    fn place(&mut self, place: TextGoes, text: String) {
        if text.is_empty() {
            return;
        }
        match place {
            TextGoes::ToModel => self.outcome.context.push(text),
            TextGoes::ToSummary => self.outcome.instructions.push(text),
            TextGoes::ToUser => self.outcome.messages.push(text),
            TextGoes::Unused => {}
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.outcome.fail(self.hook, failure);
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(STDERR_LINE).collect()
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or_default()
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> i32 {
    0
}
