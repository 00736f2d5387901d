//! Gathers facts entry by entry.

use std::sync::Arc;

use jiff::Timestamp;

use super::call::{self, Call};
use super::cancelled::{self, Cancelled, CancelledKind};
use super::excerpt::{excerpt, result_excerpt};
use super::failure::{ErrorSource, LastError, key_text};
use super::file::{FileAction, Files, Outcome, TouchedFile};
use super::message::{UserMessage, spoken};
use super::rule::{self, Rule};
use super::todo::{self, Todo};
use super::vocabulary::Vocabulary;
use crate::hash::{Map, Set};
use crate::json::Object;
use crate::message::{Block, BlockKind, EntryKind, Id, Subtype, View};

/// The most bytes of an error's text that are kept, from its beginning and its end.
const ERROR: usize = 2_000;

/// What a session must not lose.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) messages: Vec<UserMessage>,
    pub(super) rules: Vec<Rule>,
    pub(super) rules_dropped: u32,
    pub(super) files: Files,
    pub(super) todos: Vec<Todo>,
    pub(super) cancelled: Vec<Cancelled>,
    pub(super) last_error: Option<LastError>,
    /// When the newest entry was written that these facts include.
    pub(super) through: Option<Timestamp>,
    /// Read from a boundary: what is older than this is included already.
    pub(super) included_through: Option<Timestamp>,
    pub(super) seen: Set<Id>,
    pub(super) open: Map<Id, (Call, Purpose)>,
}

/// What a call's result will tell.
#[derive(Debug, Clone)]
pub(super) enum Purpose {
    File(String, FileAction),
    Plan(String),
    Task(String),
    Other,
}

impl Facts {
    /// None yet.
    pub fn new(vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            vocabulary,
            ..Self::default()
        }
    }

    /// The facts of a session whose entries are at hand, in order: for a file whose boundaries carry none, and after a
    /// rewind. Which entries those are, [`super::session_rows`] tells.
    pub fn scan<'a>(
        vocabulary: Arc<Vocabulary>,
        entries: impl IntoIterator<Item = View<'a>>,
    ) -> Self {
        let mut facts = Self::new(vocabulary);
        for entry in entries {
            facts.push(entry);
        }
        facts
    }

    /// Adds an entry of the main conversation. Entries that are known are passed over, so that those which a boundary
    /// preserved may come again.
    pub fn push(&mut self, entry: View<'_>) {
        let facets = entry.facets;
        match facets.kind {
            EntryKind::System if facets.subtype == Subtype::CompactBoundary => {
                // Whoever reads only a file's tail goes on with what its boundary carries.
                let stored = Facts::from_boundary(self.vocabulary.clone(), entry);
                if let Some(stored) = stored.filter(|stored| stored.knows_more(self)) {
                    *self = stored;
                }
            }
            EntryKind::System if facets.subtype == Subtype::Other => self.notice(entry),
            EntryKind::User => {
                self.speak(entry);
                self.results(entry);
            }
            EntryKind::Attachment => self.speak(entry),
            EntryKind::Assistant => self.reply(entry),
            _ => {}
        }
    }

    fn knows_more(&self, other: &Self) -> bool {
        self.messages.len() > other.messages.len() || self.files.touches() > other.files.touches()
    }

    fn speak(&mut self, entry: View<'_>) {
        let Some(mut message) = spoken(entry, &self.vocabulary.host_texts) else {
            return;
        };
        if entry.uuid().is_some_and(|uuid| !self.seen.insert(uuid)) {
            return;
        }
        message.ordinal = self.messages.len() as u32 + 1;
        self.rules_dropped += rule::note(
            &mut self.rules,
            &self.vocabulary.wording,
            &message.text,
            message.ordinal,
            &message.uuid,
        );
        self.messages.push(message);
    }

    /// Whether an entry was part of what a boundary carried. User messages are known by their uuid instead.
    fn is_included(&mut self, at: Option<Timestamp>) -> bool {
        let known = self
            .included_through
            .is_some_and(|through| at.is_some_and(|at| at < through));
        if !known {
            self.through = self.through.max(at);
        }
        known
    }

    fn reply(&mut self, entry: View<'_>) {
        let at = entry.timestamp();
        if self.is_included(at) {
            return;
        }
        if entry.facets.flags.api_error {
            let texts = entry
                .facets
                .blocks
                .iter()
                .find(|block| block.kind == BlockKind::Text);
            if let Some(block) = texts {
                let text = excerpt(block.body.of(entry.line), ERROR);
                self.last_error = Some(LastError {
                    source: ErrorSource::Api,
                    text,
                    ..unexplained(entry, at)
                });
            }
            return;
        }
        if let Some(error) = self.last_error.as_mut().filter(|_| entry.facets.is_reply()) {
            error.replied();
        }
        for block in &entry.facets.blocks {
            if block.kind == BlockKind::ToolUse {
                self.call(entry, block, at);
            }
        }
    }

    fn call(&mut self, entry: View<'_>, block: &Block, at: Option<Timestamp>) {
        let Some(id) = entry.block_id(block) else {
            return;
        };
        let vocabulary = self.vocabulary.clone();
        let name = entry.text(block.name);
        let named = |names: &[String]| names.iter().any(|known| *known == name);
        let tool = vocabulary.file_tools.iter().find(|tool| tool.name == name);
        let call = call::read(entry, block, tool.map(|tool| tool.path.as_str()));
        let input = entry.object(block.body);
        let purpose = if let Some(tool) = tool
            && let Some(path) = input.string(&tool.path)
        {
            self.files.touch(&path, tool.action, Outcome::Asked, at);
            Purpose::File(path.into_owned(), tool.action)
        } else if named(&vocabulary.plan_tools) {
            let plan = input.string("plan").unwrap_or_default();
            Purpose::Plan(cancelled::plan_title(&plan))
        } else if named(&vocabulary.task_create_tools) {
            Purpose::Task(input.string("subject").unwrap_or_default().into_owned())
        } else {
            if named(&vocabulary.todo_tools) {
                todo::replace(&mut self.todos, input);
            } else if named(&vocabulary.task_update_tools) {
                todo::update(&mut self.todos, input);
            }
            Purpose::Other
        };
        self.open.insert(id, (call, purpose));
    }

    fn results(&mut self, entry: View<'_>) {
        let results = entry.facets.blocks.iter().enumerate();
        for (at, block) in
            results.filter(|(_, block)| block.kind == BlockKind::ToolResult && !block.inner)
        {
            let when = entry.timestamp();
            if self.is_included(when) {
                return;
            }
            let call = entry.block_id(block).and_then(|id| self.open.remove(&id));
            let inside = &entry.facets.blocks[at + 1..];
            match block.is_error {
                true => self.failed(entry, block, inside, call, when),
                false => self.succeeded(entry, block, inside, call, when),
            }
        }
    }

    fn succeeded(
        &mut self,
        entry: View<'_>,
        block: &Block,
        inside: &[Block],
        call: Option<(Call, Purpose)>,
        at: Option<Timestamp>,
    ) {
        let Some((call, purpose)) = call else { return };
        if let Some(error) = &mut self.last_error {
            error.succeeded(call.key);
        }
        match purpose {
            Purpose::File(path, action) => self.files.touch(&path, action, Outcome::Done, at),
            Purpose::Plan(title) => {
                cancelled::accept(&mut self.cancelled, CancelledKind::Plan, &title);
            }
            Purpose::Task(subject) => {
                todo::create(
                    &mut self.todos,
                    &subject,
                    &result_excerpt(entry, block, inside, ERROR),
                );
            }
            Purpose::Other => {}
        }
        if !self.cancelled.is_empty() {
            let title = call_title(&call);
            cancelled::accept(&mut self.cancelled, CancelledKind::Call, &title);
        }
    }

    fn failed(
        &mut self,
        entry: View<'_>,
        block: &Block,
        inside: &[Block],
        call: Option<(Call, Purpose)>,
        at: Option<Timestamp>,
    ) {
        let text = result_excerpt(entry, block, inside, ERROR);
        if let Some(said) = cancelled::refusal(&text) {
            let (kind, title) = match &call {
                Some((_, Purpose::Plan(title))) => (CancelledKind::Plan, title.clone()),
                Some((call, _)) => (CancelledKind::Call, call_title(call)),
                None => return,
            };
            let uuid = entry.text(entry.facets.uuid).into_owned();
            cancelled::decline(&mut self.cancelled, kind, &title, said, uuid);
            return;
        }
        if let Some((_, Purpose::File(path, action))) = &call {
            self.files.touch(path, *action, Outcome::Failed, at);
        }
        let call = call.map(|(call, _)| call);
        self.last_error = Some(LastError {
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

    /// A host's notice of a failed request.
    fn notice(&mut self, entry: View<'_>) {
        if memchr::memmem::find(entry.line, b"api_error").is_none() {
            return;
        }
        let notice = Object::new(entry.line);
        let at = entry.timestamp();
        if notice.string("subtype").as_deref() != Some("api_error") || self.is_included(at) {
            return;
        }
        let error = notice.object("error");
        let nested = error.and_then(|error| error.object("error"));
        let text = [nested, error]
            .into_iter()
            .flatten()
            .find_map(|error| error.get("message"))
            .or_else(|| notice.get("content"));
        self.last_error = Some(LastError {
            source: ErrorSource::Api,
            text: text.map(|text| excerpt(text, ERROR)).unwrap_or_default(),
            ..unexplained(entry, at)
        });
    }

    /// What these facts are recognised by.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Every message of the user, in order.
    pub fn messages(&self) -> &[UserMessage] {
        &self.messages
    }

    /// What the user laid down, in order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Files touched, the newest first.
    pub fn files(&self) -> Vec<&TouchedFile> {
        self.files.newest()
    }

    /// How many files were touched, those included that are too old to be listed.
    pub fn file_count(&self) -> u64 {
        self.files.len() as u64 + u64::from(self.files.dropped)
    }

    /// The todo and task lists as they stand.
    pub fn todos(&self) -> &[Todo] {
        &self.todos
    }

    /// Work still to be done.
    pub fn open_todos(&self) -> impl Iterator<Item = &Todo> {
        self.todos.iter().filter(|todo| todo.is_open())
    }

    /// Plans and calls that the user turned down.
    pub fn cancelled(&self) -> &[Cancelled] {
        &self.cancelled
    }

    /// The newest failure.
    pub fn last_error(&self) -> Option<&LastError> {
        self.last_error.as_ref()
    }
}

/// A tool's failure about which nothing is known but where it stands.
fn unexplained(entry: View<'_>, at: Option<Timestamp>) -> LastError {
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

fn call_title(call: &Call) -> String {
    match &call.about {
        Some(about) => format!("{}: {about}", call.tool),
        None => call.tool.clone(),
    }
}
