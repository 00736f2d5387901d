//! Gathers facts entry by entry. `results.rs` evaluates calls and their results.

use std::sync::Arc;

use jiff::Timestamp;

use super::call::FactCall;
use super::cancelled::CancelledAction;
use super::excerpt::ToolResultBlock;
use super::failure::LastError;
use super::file::{FileAction, TouchedFile, TouchedFiles};
use super::message::{UserMessage, user_message_in, wordless_message};
use super::rule::{self, UserRule};
use super::todo::TodoFact;
use super::user_answers::{self, UserAnswer};
use super::user_cancellation::UserCancellation;
use super::vocabulary::Vocabulary;
use crate::hash::{Map, Set};
use crate::message::{EntryKind, EntryView, Id, Subtype};

/// The facts that a session must not lose.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use longhaul_core::facts::{Facts, Vocabulary};
/// use longhaul_core::message::Entry;
///
/// let line = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Fix the test. Never push to main."}}"#;
/// let mut facts = Facts::new(Arc::new(Vocabulary::default()));
/// facts.push(Entry::read(Bytes::from(line))?.view());
/// assert_eq!(facts.messages()[0].text, "Fix the test. Never push to main.");
/// assert_eq!(facts.rules()[0].text, "Never push to main.");
/// # Ok::<(), longhaul_core::message::LineDamage>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) messages: Vec<UserMessage>,
    pub(super) rules: Vec<UserRule>,
    pub(super) rules_dropped: u32,
    pub(super) files: TouchedFiles,
    pub(super) todos: Vec<TodoFact>,
    pub(super) cancelled: Vec<CancelledAction>,
    pub(super) called_off: Vec<UserCancellation>,
    /// How many messages the user had written when the model last presented a plan.
    pub(super) plan_since: u32,
    pub(super) last_error: Option<LastError>,
    /// The end of the assistant's last text: a short message may answer it.
    pub(super) last_said: Option<String>,
    /// The time of the newest entry that these facts include.
    pub(super) through: Option<Timestamp>,
    /// If the facts were read from a boundary: entries older than this are included already.
    pub(super) included_through: Option<Timestamp>,
    pub(super) seen: Set<Id>,
    pub(super) open: Map<Id, (FactCall, CallPurpose)>,
}

/// What a call's result will provide.
#[derive(Debug, Clone)]
pub(super) enum CallPurpose {
    File(String, FileAction),
    Plan(String),
    Task(String),
    /// The questions that the call asks the user.
    Questions(Vec<String>),
    Other,
}

impl Facts {
    /// Creates facts without any entries.
    pub fn new(vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            vocabulary,
            ..Self::default()
        }
    }

    /// Gathers the facts of a session from its entries, in order: for a file whose boundaries carry none, and after a
    /// rewind. [`super::session_rows`] finds those entries.
    pub fn scan<'a>(
        vocabulary: Arc<Vocabulary>,
        entries: impl IntoIterator<Item = EntryView<'a>>,
    ) -> Self {
        let mut facts = Self::new(vocabulary);
        for entry in entries {
            facts.push(entry);
        }
        facts
    }

    /// Adds an entry of the main conversation. Known entries are skipped, so those that a boundary preserved may come
    /// again.
    pub fn push(&mut self, entry: EntryView<'_>) {
        let facets = entry.facets;
        match facets.kind {
            EntryKind::System if facets.subtype == Subtype::CompactBoundary => {
                // A reader of only a file's tail continues with the facts that its boundary carries.
                let stored = Facts::from_boundary(self.vocabulary.clone(), entry);
                if let Some(stored) = stored.filter(|stored| stored.knows_more(self)) {
                    *self = stored;
                }
            }
            EntryKind::System if facets.subtype == Subtype::Other => self.notice(entry),
            EntryKind::User => {
                let heard = self.user_answers_in(entry);
                self.speak(entry, &heard);
                self.results(entry);
            }
            EntryKind::Attachment => self.speak(entry, &[]),
            EntryKind::Assistant => self.reply(entry),
            _ => {}
        }
    }

    fn knows_more(&self, other: &Self) -> bool {
        self.messages.len() > other.messages.len() || self.files.touches() > other.files.touches()
    }

    /// The user's words in the results of an entry.
    fn user_answers_in(&self, entry: EntryView<'_>) -> Vec<UserAnswer> {
        let heard = ToolResultBlock::all(entry).filter_map(|answer| {
            let call = answer.call().and_then(|id| self.open.get(&id));
            match (answer.block.is_error, call) {
                (true, Some((call, _))) if user_answers::fails_in_own_words(&call.tool) => {
                    user_answers::refused(answer, &self.vocabulary.host_texts)
                }
                (true, _) => None,
                (false, Some((_, CallPurpose::Questions(asked)))) => {
                    user_answers::answered(answer, asked)
                }
                (false, _) => None,
            }
        });
        heard.collect()
    }

    fn speak(&mut self, entry: EntryView<'_>, heard: &[UserAnswer]) {
        let typed = user_message_in(entry, &self.vocabulary.host_texts);
        let mut message = match typed {
            Some(typed) => typed,
            None if !heard.is_empty() => wordless_message(entry),
            None => return,
        };
        if entry.uuid().is_some_and(|uuid| !self.seen.insert(uuid)) {
            return;
        }
        message.ordinal = self.user_message_count() + 1;
        let own = self.vocabulary.host_texts.own_words(&message.text);
        // Only the answer can state a rule, because the question is the assistant's.
        let mut own = own.into_owned();
        for words in heard.iter().map(|heard| &heard.words) {
            own.push_str("\n\n");
            own.push_str(words);
        }
        if heard.is_empty() {
            message.asked = user_answers::question_of(&message.text, self.last_said.as_deref());
        }
        heard.iter().for_each(|heard| message.add(&heard.text));
        self.last_said = None;
        self.rules_dropped += rule::note(
            &mut self.rules,
            &self.vocabulary.wording,
            &own,
            message.ordinal,
            &message.uuid,
        );
        self.note_called_off(&own, message.ordinal);
        self.messages.push(message);
    }

    /// The number of messages that the user has written.
    pub(super) fn user_message_count(&self) -> u32 {
        self.messages.len() as u32
    }

    /// Whether an entry was part of what a boundary carried. User messages are recognized by their uuid instead.
    pub(super) fn is_included(&mut self, at: Option<Timestamp>) -> bool {
        let known = self
            .included_through
            .is_some_and(|through| at.is_some_and(|at| at < through));
        if !known {
            self.through = self.through.max(at);
        }
        known
    }

    /// The vocabulary that recognizes these facts.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Every message of the user, in order.
    pub fn messages(&self) -> &[UserMessage] {
        &self.messages
    }

    /// The user's rules, in order.
    pub fn rules(&self) -> &[UserRule] {
        &self.rules
    }

    /// Files touched, the newest first.
    pub fn files(&self) -> Vec<&TouchedFile> {
        self.files.newest()
    }

    /// The number of touched files, including those that are too old to be listed.
    pub fn file_count(&self) -> u64 {
        self.files.len() as u64 + u64::from(self.files.dropped)
    }

    /// The current todo and task lists.
    pub fn todos(&self) -> &[TodoFact] {
        &self.todos
    }

    /// The work that is still to be done.
    pub fn open_todos(&self) -> impl Iterator<Item = &TodoFact> {
        self.todos.iter().filter(|todo| todo.is_open())
    }

    /// Plans and calls that the user turned down.
    pub fn cancelled(&self) -> &[CancelledAction] {
        &self.cancelled
    }

    /// The newest failure.
    pub fn last_error(&self) -> Option<&LastError> {
        self.last_error.as_ref()
    }
}
