//! `/rewind`: a list of messages, then a menu of what can be done at one of them. Only what would succeed is offered, and
//! files that somebody else has changed are overwritten only after a question.

use longhaul_core::engine::Pivot;
use longhaul_core::summary::PivotDirection;

use super::answers::message;
use super::{App, Dialog, HostAnswer, MessageAction, RewindTarget};
use crate::files::{ConflictPolicy, RestorableState};
use crate::screen::host::{
    CompactionRequest, HostRequest, PlannedFile, RewindChoices, RewindPlan, RewindReply,
    RewindRequest, RewindScope,
};
use crate::screen::picker::{PickOption, Picker};
use crate::screen::text::{clean_line, count};

/// The number of files that a menu names.
const NAMED: usize = 3;

impl App {
    /// Shows the messages.
    pub(super) fn pick_message(&mut self, choices: &RewindChoices) {
        let messages = choices.messages.iter();
        let mut options: Vec<PickOption<RewindTarget>> = messages.map(message).collect();
        let newest = options.len().saturating_sub(1);
        if choices.can_undo {
            options.push(PickOption {
                value: RewindTarget::Uncompacted,
                text: "undo the newest compaction".to_owned(),
                about: String::new(),
            });
        }
        if options.is_empty() {
            self.note("nothing was said yet: there is nothing to go back to");
            return;
        }
        let mut picker = Picker::list("Go back to", options);
        picker.step(newest as isize);
        self.dialog = Some(Dialog::Rewind(picker));
    }

    pub(super) fn rewind_to(&mut self, target: RewindTarget) {
        self.dialog = None;
        match target {
            RewindTarget::Uncompacted => {
                self.work(HostRequest::UndoCompaction, HostAnswer::Undone);
            }
            RewindTarget::Message(uuid) => {
                let of = uuid.clone();
                self.ask(
                    |reply| HostRequest::RewindPlan(of, reply),
                    |plan| HostAnswer::RewindPlan(uuid, plan),
                );
            }
        }
    }

    /// Shows what can be done at a message.
    pub(super) fn offer_rewind(&mut self, uuid: String, plan: &RewindPlan) {
        let conflicts: Vec<String> = named(plan, RestorableState::ChangedSince);
        let back = |scope| {
            let request = RewindRequest {
                uuid: uuid.clone(),
                scope,
                conflicts: ConflictPolicy::Leave,
            };
            let asks = if scope == RewindScope::Conversation {
                Vec::new()
            } else {
                conflicts.clone()
            };
            MessageAction::Rewind(request, asks)
        };
        let option = |value, text: String, about: String| PickOption { value, text, about };
        let restorable: Vec<&PlannedFile> = (plan.files.iter())
            .filter(|file| file.state != RestorableState::NotKept)
            .collect();
        let files = count(restorable.len(), "file");
        let names = list(restorable.iter().map(|file| file.name.as_str()));
        let mut options = Vec::new();
        if !restorable.is_empty() {
            options.push(option(
                back(RewindScope::Both),
                format!("go back and restore {files}"),
                names.clone(),
            ));
        }
        let stay = if restorable.is_empty() {
            "go back: forget this message and all that followed"
        } else {
            "go back; files stay as they are"
        };
        options.push(option(
            back(RewindScope::Conversation),
            stay.to_owned(),
            String::new(),
        ));
        if !restorable.is_empty() {
            options.push(option(
                back(RewindScope::Files),
                format!("restore {files}; the conversation goes on"),
                names,
            ));
        }
        if plan.summarizes_from {
            options.push(option(
                MessageAction::SumUpFrom(uuid.clone()),
                "summarize from here on; what came before stays".to_owned(),
                String::new(),
            ));
        }
        if plan.summarizes_up_to {
            options.push(option(
                MessageAction::SumUpTo(uuid.clone()),
                "summarize up to here; this message and all that followed stay".to_owned(),
                String::new(),
            ));
        }
        let mut title = "At this message".to_owned();
        if plan.commands > 0 {
            let commands = count(plan.commands, "command");
            title.push_str(&format!(" · what {commands} did since stays"));
        }
        let not_kept = named(plan, RestorableState::NotKept);
        if !not_kept.is_empty() {
            title.push_str(&format!(
                " · not kept: {}",
                list(not_kept.iter().map(String::as_str))
            ));
        }
        self.dialog = Some(Dialog::Back(Picker::menu(title, options)));
    }

    pub(super) fn go_back(&mut self, back: MessageAction) {
        self.dialog = None;
        let (uuid, direction) = match back {
            MessageAction::Rewind(request, conflicts) if conflicts.is_empty() => {
                self.work(
                    |reply| HostRequest::Rewind(request, reply),
                    HostAnswer::Rewound,
                );
                return;
            }
            MessageAction::Rewind(request, conflicts) => {
                self.ask_about_conflicts(&request, &conflicts);
                return;
            }
            MessageAction::SumUpFrom(uuid) => (uuid, PivotDirection::From),
            MessageAction::SumUpTo(uuid) => (uuid, PivotDirection::UpTo),
        };
        self.compact(CompactionRequest {
            pivot: Some(Pivot { uuid, direction }),
            ..CompactionRequest::default()
        });
    }

    /// Asks what to do with files that are not as the agent's last edit left them. Checkpoints do not tell who changed them:
    /// a command of the agent, or somebody else.
    fn ask_about_conflicts(&mut self, request: &RewindRequest, conflicts: &[String]) {
        let option = |conflicts, text: &str| PickOption {
            value: MessageAction::Rewind(
                RewindRequest {
                    conflicts,
                    ..request.clone()
                },
                Vec::new(),
            ),
            text: text.to_owned(),
            about: String::new(),
        };
        let title = format!(
            "Changed since the last edit, by a command or somebody else: {}",
            list(conflicts.iter().map(String::as_str))
        );
        let options = vec![
            option(ConflictPolicy::Leave, "leave them as they are"),
            option(ConflictPolicy::Overwrite, "overwrite them, too"),
        ];
        self.dialog = Some(Dialog::Back(Picker::menu(title, options)));
    }

    /// Shows what was taken back.
    pub(super) fn on_rewound(&mut self, done: RewindReply) {
        if let Some(text) = &done.text {
            self.editor.set(text);
            self.new_conversation();
            self.note("gone back; what followed is still in the transcript");
        }
        if let Some(files) = &done.files {
            self.note(&clean_line(files));
        }
    }
}

fn named(plan: &RewindPlan, state: RestorableState) -> Vec<String> {
    let files = plan.files.iter().filter(|file| file.state == state);
    files.map(|file| file.name.clone()).collect()
}

/// The first names, and how many more there are.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(clean_line).collect();
    let more = names.len().saturating_sub(NAMED);
    let shown = names[..names.len() - more].join(", ");
    match more {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
