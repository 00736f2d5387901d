//! Evaluates replies, calls and results: touched files, open work, rejected actions, the last error.

use jiff::Timestamp;

use super::call::{self, FactCall};
use super::cancelled::{self, CancelledActionKind};
use super::excerpt::{ToolResultBlock, excerpt};
use super::failure::{ErrorSource, LastError, key_text};
use super::file::FileCallOutcome;
use super::gather::{CallPurpose, Facts};
use super::todo;
use super::user_answers;
use crate::json::ObjectReader;
use crate::message::{BlockKind, EntryBlock, EntryView};

/// The most bytes of an error's text that are kept, from its beginning and its end.
const ERROR: usize = 2_000;
/// The most objects in which an API error may be nested.
const DEEPEST_ERROR: usize = 4;

impl Facts {
    pub(super) fn reply(&mut self, entry: EntryView<'_>) {
        let at = entry.timestamp();
        if self.is_included(at) {
            return;
        }
        if entry.facets.flags.api_error {
            let blocks = entry.facets.blocks.iter();
            let mut texts = blocks.filter(|block| block.kind == BlockKind::Text);
            let text = texts
                .next()
                .map(|block| excerpt(block.body.of(entry.line), ERROR));
            self.note_error(LastError {
                source: ErrorSource::Api,
                text: text.unwrap_or_default(),
                ..unexplained(entry, at)
            });
            return;
        }
        if let Some(error) = self.last_error.as_mut().filter(|_| entry.facets.is_reply()) {
            error.replied();
        }
        for block in &entry.facets.blocks {
            match block.kind {
                BlockKind::ToolUse => self.call(entry, block, at),
                BlockKind::Text if !block.blank => {
                    self.last_said = user_answers::last_words(block.body.of(entry.line));
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, entry: EntryView<'_>, block: &EntryBlock, at: Option<Timestamp>) {
        let Some(id) = entry.block_id(block) else {
            return;
        };
        let vocabulary = self.vocabulary.clone();
        let name = entry.text(block.name);
        let named = |names: &[String]| names.iter().any(|known| *known == name);
        let input = entry.object(block.body);
        let mut tools = vocabulary.file_tools.iter();
        let tool = tools.find(|tool| tool.is_called(name.as_bytes(), input));
        let call = call::read(entry, block, tool.map(|tool| tool.path.as_str()));
        let purpose = if let Some(tool) = tool
            && let Some(path) = input.string(&tool.path)
        {
            self.files
                .touch(&path, tool.action, FileCallOutcome::Asked, at);
            CallPurpose::File(path.into_owned(), tool.action)
        } else if named(&vocabulary.plan_tools) {
            let plan = input.string("plan").unwrap_or_default();
            self.plan_since = self.user_message_count();
            CallPurpose::Plan(cancelled::plan_title(&plan))
        } else if named(&vocabulary.task_create_tools) {
            CallPurpose::Task(input.string("subject").unwrap_or_default().into_owned())
        } else if named(&vocabulary.question_tools) {
            CallPurpose::Questions(user_answers::questions(input))
        } else {
            if named(&vocabulary.todo_tools) {
                todo::replace(&mut self.todos, input, self.messages.len() as u32);
            } else if named(&vocabulary.task_update_tools) {
                todo::update(&mut self.todos, input, self.messages.len() as u32);
            }
            CallPurpose::Other
        };
        self.open.insert(id, (call, purpose));
    }

    pub(super) fn results(&mut self, entry: EntryView<'_>) {
        for answer in ToolResultBlock::all(entry) {
            let at = entry.timestamp();
            if self.is_included(at) {
                return;
            }
            let call = answer.call().and_then(|id| self.open.remove(&id));
            if answer.block.is_error {
                self.failed(answer, call, at)
            } else {
                self.succeeded(answer, call, at)
            }
        }
    }

    fn succeeded(
        &mut self,
        answer: ToolResultBlock<'_>,
        call: Option<(FactCall, CallPurpose)>,
        at: Option<Timestamp>,
    ) {
        let Some((call, purpose)) = call else { return };
        if let Some(error) = &mut self.last_error {
            error.succeeded(call.key);
        }
        match purpose {
            CallPurpose::File(path, action) => {
                self.files.touch(&path, action, FileCallOutcome::Done, at)
            }
            CallPurpose::Plan(title) => {
                cancelled::accept(&mut self.cancelled, CancelledActionKind::Plan, &title);
            }
            CallPurpose::Task(subject) => {
                let said = self.user_message_count();
                todo::create(&mut self.todos, &subject, &answer.excerpt(ERROR), said);
            }
            CallPurpose::Questions(_) | CallPurpose::Other => {}
        }
        if !self.cancelled.is_empty() {
            let title = call_title(&call);
            cancelled::accept(&mut self.cancelled, CancelledActionKind::Call, &title);
        }
    }

    fn failed(
        &mut self,
        answer: ToolResultBlock<'_>,
        call: Option<(FactCall, CallPurpose)>,
        at: Option<Timestamp>,
    ) {
        let (entry, text) = (answer.entry, answer.excerpt(ERROR));
        if let Some(said) = cancelled::refusal(&text) {
            let (kind, title) = match &call {
                Some((_, CallPurpose::Plan(title))) => (CancelledActionKind::Plan, title.clone()),
                Some((call, _)) => (CancelledActionKind::Call, call_title(call)),
                None => return,
            };
            let uuid = entry.text(entry.facets.uuid).into_owned();
            cancelled::decline(&mut self.cancelled, kind, &title, said, uuid);
            return;
        }
        // A refusal is not a failure, whichever host wrote it.
        if user_answers::is_refusal(&text) {
            return;
        }
        if let Some((_, CallPurpose::File(path, action))) = &call {
            self.files.touch(path, *action, FileCallOutcome::Failed, at);
        }
        let call = call.map(|(call, _)| call);
        self.note_error(LastError {
            text,
            key: call
                .as_ref()
                .map(|call| key_text(call.key))
                .unwrap_or_default(),
            tool: call.as_ref().map(|call| call.tool.clone()),
            about: call.and_then(|call| call.about),
            ..unexplained(entry, at)
        });
    }

    /// Records the last error: the newest failure with a text, because one without a text is useless.
    fn note_error(&mut self, error: LastError) {
        if !error.text.trim().is_empty() {
            self.last_error = Some(error);
        }
    }

    /// Records a host's notice of a failed request.
    pub(super) fn notice(&mut self, entry: EntryView<'_>) {
        if memchr::memmem::find(entry.line, b"api_error").is_none() {
            return;
        }
        let notice = ObjectReader::new(entry.line);
        let at = entry.timestamp();
        if notice.string("subtype").as_deref() != Some("api_error") || self.is_included(at) {
            return;
        }
        // Hosts wrap the provider's answer in their own; the innermost message is the provider's.
        let mut text = None;
        let mut inside = Some(notice);
        for _ in 0..DEEPEST_ERROR {
            inside = inside.and_then(|outer| outer.object("error"));
            let message = inside.and_then(|error| error.get("message"));
            let message = message.map(|message| excerpt(message, ERROR));
            text = message
                .filter(|message| !message.trim().is_empty())
                .or(text);
        }
        let content = || notice.get("content").map(|text| excerpt(text, ERROR));
        self.note_error(LastError {
            source: ErrorSource::Api,
            text: text.or_else(content).unwrap_or_default(),
            ..unexplained(entry, at)
        });
    }
}

/// A tool's failure of which only the place is known.
fn unexplained(entry: EntryView<'_>, at: Option<Timestamp>) -> LastError {
    LastError {
        source: ErrorSource::Tool,
        tool: None,
        about: None,
        text: String::new(),
        uuid: entry.text(entry.facets.uuid).into_owned(),
        at,
        succeeded_since: false,
        key: String::new(),
    }
}

fn call_title(call: &FactCall) -> String {
    match &call.about {
        Some(about) => format!("{}: {about}", call.tool),
        None => call.tool.clone(),
    }
}
