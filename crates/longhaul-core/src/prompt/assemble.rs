//! Assembles requests from frozen bytes (B1): the bytes of the request prefix and slices of the rendering, with cache
//! breakpoints inserted between them.
//!
//! Nothing is serialized again, so a request costs only what its turn added. One [`RequestAssembly`] is one rendering
//! under one prefix; a compaction, a clearing, a rewind or another prefix begins the next.
//! [`RequestAssembly::entries_before_request`] returns the entries that must be on disk first, and a request is only
//! made once they are acknowledged.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::breakpoints::ExpectedCut;
use super::changed_part::ChangedPart;
use super::frame::RequestFrame;
use super::replay::{BoundaryEffects, is_boundary};
use super::request_prefix::PrefixEntryStart;
use super::stripping::{newest, stripped_through};
use super::synthetic::{self, NewEntryStamp};
use super::{
    AssembledRequest, CacheWrite, ConversationFork, MessageBreakpoints, PrefixReason,
    PriorRendering, RenderingReplay, RequestKind, RequestNotReady, RequestPrefix,
};
use crate::message::{Entry, EntryKind, EntryView, Id, LineDamage, PrefixEntryError, Sent};
use crate::models::ThinkingBinding;
use crate::normalize::{MessageRole, RenderOptions, Rendering};

/// A session's requests, made from one prefix and one rendering.
///
/// ```
/// use bytes::Bytes;
/// use longhaul_core::message::Entry;
/// use longhaul_core::models::{ModelTable, ThinkingBinding};
/// use longhaul_core::prompt::{
///     LatchedSettings, NewEntryStamp, OnPrefixMismatch, PrefixReason, PriorRendering, PushOutcome, RenderingStart,
///     RequestAssembly, RequestKind, RequestParameters, RequestPrefix, SystemPrompt, ThinkingChoice, Ttl,
/// };
///
/// let model = ModelTable::builtin().resolve("claude-sonnet-4-6").spec;
/// let body = RequestParameters {
///     model: "claude-sonnet-4-6",
///     spec: &model,
///     max_tokens: 1_000,
///     think: ThinkingChoice::Default,
///     on_mismatch: OnPrefixMismatch::Refuse,
///     effort: None,
///     more: serde_json::Map::new(),
/// }
/// .to_body()?;
/// let ttl = Some(Ttl::FiveMinutes);
/// let prefix = RequestPrefix {
///     system: SystemPrompt::custom("You fix bugs.", ttl)?.json,
///     tools: serde_json::value::to_raw_value(&serde_json::json!([]))?,
///     user_context: None,
///     latched: LatchedSettings::new(ttl, body.betas, &model, body.json),
/// };
/// let line = |uuid: &str, kind: &str, text: &str| Entry::read(Bytes::from(format!(
///     r#"{{"type":"{kind}","uuid":"{uuid}","message":{{"role":"{kind}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
/// )));
/// let hello = line("u1", "user", "Hello")?;
/// let start = RenderingStart {
///     before: PriorRendering::None,
///     head: prefix,
///     reason: PrefixReason::First,
///     binding: ThinkingBinding::None,
/// };
/// let mut assembly = RequestAssembly::begin(start, [hello.view()].into_iter());
///
/// // What a request says must be on disk before it is sent.
/// let stamp = NewEntryStamp { session_id: "s", uuid: "u2", parent: Some("u1"), timestamp: jiff::Timestamp::UNIX_EPOCH };
/// let lines = assembly.entries_before_request(stamp)?;
/// assembly.persisted(&lines)?;
/// let first = assembly.request(RequestKind::Main, None)?.to_vec();
///
/// for entry in [line("u3", "assistant", "Hi")?, line("u4", "user", "Go on")?] {
///     assert_eq!(assembly.push(entry.view()), PushOutcome::Pushed);
/// }
/// let second = assembly.request(RequestKind::Main, None)?.to_vec();
/// let common = first.iter().zip(&second).take_while(|(a, b)| a == b).count();
/// assert!(String::from_utf8_lossy(&first[..common]).contains("You fix bugs."), "the prefix is sent again, byte for byte");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RequestAssembly {
    head: RequestPrefix,
    frame: RequestFrame,
    rendering: Rendering,
    /// The start that the prefix entry records; `None` once the entry is on disk.
    unwritten: Option<PrefixEntryStart>,
    /// What clearings changed, until a reply shows that the changed part was sent.
    changed: ChangedPart,
    cut: ExpectedCut,
}

/// How a rendering begins.
#[derive(Debug)]
pub struct RenderingStart<'a> {
    /// The previous rendering.
    pub before: PriorRendering<'a>,
    /// The request prefix that the rendering begins with.
    pub head: RequestPrefix,
    /// Why the rendering begins.
    pub reason: PrefixReason,
    /// Whether the model binds thinking to the bytes before it.
    pub binding: ThinkingBinding,
}

/// The result of pushing an entry.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushOutcome {
    /// The entry is part of the next request.
    Pushed,
    /// The entry changes sent messages: begin a new rendering from the current view.
    BeginsAnew,
    /// The entry was not added: the prefix entry must be on disk first, because its position in the file tells which
    /// entries existed when the rendering began.
    HeadFirst,
}

impl RequestAssembly {
    /// Begins a rendering of a history: all entries of the live view, in order, boundaries included. The boundaries
    /// tell which results were cleared and up to where thinking is stripped.
    pub fn begin<'a>(
        beginning: RenderingStart<'_>,
        history: impl Iterator<Item = EntryView<'a>> + Clone,
    ) -> Self {
        let RenderingStart {
            before,
            mut head,
            reason,
            binding,
        } = beginning;
        let boundaries = BoundaryEffects::of(history.clone());
        if boundaries.stripped.is_some() {
            head.latched.thinking_stripped_through = boundaries.stripped;
        }
        let options = options(&head, boundaries.cleared);
        head.latched.thinking_stripped_through =
            stripped_through(before, &head, binding, &options, history.clone());
        let start = PrefixEntryStart {
            reason,
            history_through: newest(history.clone()),
        };
        Self::render(head, options, history, Some(start))
    }

    /// Resumes a rendering whose prefix is on disk, with the same bytes as in the process that wrote it (Y2).
    ///
    /// `view` returns the entries of the live view that the replay was read from. An outdated replay cannot be resumed:
    /// call [`RequestAssembly::begin`] after its prefix instead.
    pub fn resume<'a>(replay: RenderingReplay, view: impl Fn(usize) -> EntryView<'a>) -> Self {
        let history = replay.history.iter().map(|index| view(*index));
        let boundaries = BoundaryEffects::of(history.clone());
        let mut head = replay.prefix;
        // Prefix entries that Longhaul wrote repeat what the boundaries before them say.
        if head.latched.thinking_stripped_through.is_none() {
            head.latched.thinking_stripped_through = boundaries.stripped;
        }
        let options = options(&head, boundaries.cleared);
        let mut assembly = Self::render(head, options, history, None);
        for index in replay.pushed {
            assembly.push_rendered(view(index));
        }
        assembly
    }

    fn render<'a>(
        head: RequestPrefix,
        mut options: RenderOptions,
        history: impl Iterator<Item = EntryView<'a>> + Clone,
        unwritten: Option<PrefixEntryStart>,
    ) -> Self {
        let stripped = head.latched.thinking_stripped_through.as_deref();
        options.thinking_stripped_through = stripped.map(Id::of);
        let changed = ChangedPart::of(history.clone(), options.thinking_stripped_through);
        Self {
            frame: RequestFrame::of(&head),
            rendering: Rendering::begin(options, history),
            head,
            unwritten,
            changed,
            cut: ExpectedCut::default(),
        }
    }

    fn push_rendered(&mut self, entry: EntryView<'_>) {
        if entry.sent() == Some(Sent::Reply) {
            self.changed.was_sent();
        }
        self.rendering.push(entry);
    }

    /// Creates a rendering for a single request beside the conversation, which is never continued and never written to
    /// a file. Thinking up to `stripped` is not sent.
    pub fn aside<'a>(
        mut head: RequestPrefix,
        cleared: &[Id],
        stripped: Option<Id>,
        history: impl Iterator<Item = EntryView<'a>>,
    ) -> Self {
        let mut options = options(&head, cleared.to_vec());
        options.thinking_stripped_through = stripped;
        head.latched.thinking_stripped_through = None;
        Self {
            frame: RequestFrame::of(&head),
            rendering: Rendering::begin(options, history),
            head,
            unwritten: None,
            changed: ChangedPart::default(),
            cut: ExpectedCut::default(),
        }
    }

    /// Adds an entry of the conversation.
    pub fn push(&mut self, entry: EntryView<'_>) -> PushOutcome {
        if is_boundary(entry) {
            return PushOutcome::BeginsAnew;
        }
        if self.unwritten.is_some() {
            return PushOutcome::HeadFirst;
        }
        self.push_rendered(entry);
        PushOutcome::Pushed
    }

    /// Returns the entries that must be on disk before the next request: the prefix if it is new, and results for calls
    /// that were never answered. They must be appended as one unit and then acknowledged by
    /// [`RequestAssembly::persisted`].
    ///
    /// # Errors
    /// Fails if the request prefix holds a line break or cannot be written as JSON.
    pub fn entries_before_request(
        &self,
        birth: NewEntryStamp<'_>,
    ) -> Result<Vec<Bytes>, PrefixEntryError> {
        let mut entries = Vec::new();
        if let Some(start) = &self.unwritten {
            entries.push(
                self.head
                    .to_entry(birth.session_id, birth.timestamp, start)?,
            );
        }
        let calls = self.rendering.open_calls();
        if !calls.is_empty() {
            entries.push(synthetic::results(&calls, birth)?);
        }
        Ok(entries)
    }

    /// Records that these entries of [`RequestAssembly::entries_before_request`] are on disk.
    ///
    /// # Errors
    /// Fails at a line that is not an entry, such as one that did not come from there. Lines before it are recorded.
    pub fn persisted(&mut self, entries: &[Bytes]) -> Result<(), LineDamage> {
        for line in entries {
            let entry = Entry::read(line.clone())?;
            match entry.facets().kind {
                EntryKind::Head => self.unwritten = None,
                _ => self.rendering.push(entry.view()),
            }
        }
        Ok(())
    }

    /// Returns the next request, with further body fields after the messages if they do not change the prefix.
    ///
    /// This freezes the entries since the last request, so call it between replies and not while lines of a reply are
    /// still to come.
    ///
    /// # Errors
    /// Fails if the request cannot be sent yet: entries are not on disk, calls have no results, nothing was asked, or
    /// an extra field is part of the prefix already. Each error says what to add.
    pub fn request(
        &mut self,
        kind: RequestKind<'_>,
        more: Option<&RawValue>,
    ) -> Result<AssembledRequest, RequestNotReady> {
        self.request_until(kind, None, more)
    }

    /// Returns a request with only the messages before an entry, which reads that much of the cache (P2).
    pub(crate) fn request_until(
        &mut self,
        kind: RequestKind<'_>,
        until: Option<Id>,
        more: Option<&RawValue>,
    ) -> Result<AssembledRequest, RequestNotReady> {
        if self.unwritten.is_some() {
            return Err(RequestNotReady::NotPersisted);
        }
        self.settle()?;
        if let Some(name) = more.and_then(|more| self.frame.repeated(more)) {
            return Err(RequestNotReady::Repeated(name));
        }
        let (blocks, messages) = (self.rendering.blocks(), self.rendering.messages());
        let blocks = &blocks[..self.end_before(until)];
        let last = blocks.last().ok_or(RequestNotReady::Empty)?;
        let messages = &messages[..=last.message as usize];
        let role = messages.last().map(|message| message.role);
        let (write, opening) = match kind {
            RequestKind::Main if role != Some(MessageRole::User) => {
                return Err(RequestNotReady::NothingAsked);
            }
            RequestKind::Main => (CacheWrite::Write, self.frame.opening.clone()),
            RequestKind::Fork { .. } => (CacheWrite::Skip, self.frame.opening.clone()),
            RequestKind::SummedUp => {
                let opening = RequestFrame::summarizing_opening(&self.head)
                    .ok_or(RequestNotReady::Unsuited)?;
                (CacheWrite::Skip, opening)
            }
        };
        let unchanged = self.changed.begins_at(&self.rendering, blocks);
        let room = self.frame.room;
        let marks = if blocks.len() == self.rendering.blocks().len() {
            self.cut.follow(blocks);
            let change = (unchanged, &self.cut);
            MessageBreakpoints::place_after_change(blocks, messages, write, room, change)
        } else {
            let cut = ExpectedCut::of(blocks);
            MessageBreakpoints::place_after_change(blocks, messages, write, room, (unchanged, &cut))
        };
        let mut slices = vec![opening];
        self.messages(marks, last.end, &mut slices);
        slices.push(ending(kind, role, more));
        Ok(AssembledRequest {
            slices,
            breakpoints: marks,
        })
    }

    /// Freezes the entries since the last request if they have no open calls, so that a fork can follow them.
    pub fn freeze(&mut self) {
        if self.rendering.open_calls().is_empty() {
            self.rendering.seal();
        }
    }

    /// Returns the last frozen entry.
    pub(crate) fn last_entry(&self) -> Option<Id> {
        let mut blocks = self.rendering.blocks().iter().rev();
        blocks.find_map(|block| block.entry)
    }

    /// Creates a fork after the sent messages, or after those of them before an entry. This freezes nothing and calls
    /// may be open: entries since the last request are not part of the fork. Returns `None` before the first request.
    pub fn fork(&self, until: Option<Id>, more: Option<&RawValue>) -> Option<ConversationFork> {
        if self.unwritten.is_some() {
            return None;
        }
        let (blocks, messages) = (self.rendering.blocks(), self.rendering.messages());
        let blocks = &blocks[..self.end_before(until)];
        let last = blocks.last()?;
        let messages = &messages[..=last.message as usize];
        let role = messages.last()?.role;
        // Messages that end with the user's words ended a request, so they are in the cache to their end.
        let write = match role {
            MessageRole::User => CacheWrite::Write,
            MessageRole::Assistant => CacheWrite::Skip,
        };
        let marks = MessageBreakpoints::place(blocks, messages, write, self.frame.room);
        let mut base = vec![self.frame.opening.clone()];
        self.messages(marks, last.end, &mut base);
        let options = options(&self.head, Vec::new());
        Some(ConversationFork::new(
            base,
            role,
            options,
            fields(more).into(),
        ))
    }

    /// Returns the number of sealed blocks before an entry, or of all sealed blocks if the entry is not among them.
    fn end_before(&self, until: Option<Id>) -> usize {
        let blocks = self.rendering.blocks();
        let place = until.and_then(|until| {
            let mut entries = blocks.iter().map(|block| block.entry);
            entries.position(|entry| entry == Some(until))
        });
        place.unwrap_or(blocks.len())
    }

    /// Returns the body that asks for the token count of the next request. Its messages have no cache breakpoints. This
    /// also freezes the entries since the last request.
    ///
    /// # Errors
    /// Fails if the request cannot be sent yet, like [`RequestAssembly::request`].
    pub fn count_tokens(&mut self) -> Result<Vec<Bytes>, RequestNotReady> {
        self.settle()?;
        let mut slices = vec![self.frame.counting.clone()];
        self.messages(
            MessageBreakpoints::default(),
            self.rendering.buffer().len(),
            &mut slices,
        );
        slices.push(ending(RequestKind::Main, None, None));
        Ok(slices)
    }

    /// Freezes the entries since the last request.
    fn settle(&mut self) -> Result<(), RequestNotReady> {
        let open = self.rendering.open_calls().len();
        if open > 0 {
            return Err(RequestNotReady::OpenCalls(open));
        }
        self.rendering.seal();
        if self.rendering.messages().is_empty() {
            Err(RequestNotReady::Empty)
        } else {
            Ok(())
        }
    }

    /// Adds the messages with cache breakpoints inserted, without closing the last message.
    fn messages(&self, marks: MessageBreakpoints, end: u64, slices: &mut Vec<Bytes>) {
        let buffer = self.rendering.buffer();
        let mut from = 0;
        for mark in marks.blocks() {
            // A breakpoint goes before the brace that closes the block.
            let brace = self.rendering.blocks()[*mark as usize].end - 1;
            buffer.slices(from, brace, slices);
            slices.push(self.frame.marker.clone());
            from = brace;
        }
        buffer.slices(from, end, slices);
    }

    /// Whether there are so many pictures that older ones must be left out: a new rendering must begin.
    pub fn must_begin_anew(&self) -> bool {
        self.rendering.must_begin_anew()
    }

    /// The request prefix.
    pub fn prefix(&self) -> &RequestPrefix {
        &self.head
    }

    /// The rendering.
    pub fn rendering(&self) -> &Rendering {
        &self.rendering
    }

    /// Returns this rendering as the predecessor of the next one.
    pub fn as_predecessor(&self) -> PriorRendering<'_> {
        PriorRendering::Rendering(&self.head, &self.rendering)
    }
}

/// Returns the bytes that close the last message, add a fork's message, and end the body.
fn ending(kind: RequestKind<'_>, last: Option<MessageRole>, more: Option<&RawValue>) -> Bytes {
    let mut bytes = match kind {
        RequestKind::Main | RequestKind::SummedUp => b"]}".to_vec(),
        RequestKind::Fork { text } => forked(last == Some(MessageRole::User), b"]}", text),
    };
    bytes.push(b']');
    bytes.extend(fields(more));
    bytes.push(b'}');
    bytes.into()
}

/// Returns further body fields with a comma before them.
fn fields(more: Option<&RawValue>) -> Vec<u8> {
    let more = more.map(|more| more.get().trim()).unwrap_or_default();
    let inside = more
        .strip_prefix('{')
        .and_then(|more| more.strip_suffix('}'));
    match inside.map(str::trim) {
        Some(fields) if !fields.is_empty() => [b",", fields.as_bytes()].concat(),
        _ => Vec::new(),
    }
}

/// Returns a fork's message: joined to the user's message if that is still open, otherwise after the closing of the
/// reply.
fn forked(in_user: bool, closing: &[u8], text: &str) -> Vec<u8> {
    let block = text_block(text);
    let before: [&[u8]; 2] = if in_user {
        [b",", b""]
    } else {
        [closing, br#",{"role":"user","content":["#]
    };
    [before[0], before[1], &block, b"]}"].concat()
}

/// Returns a text block. Text always has a JSON form.
fn text_block(text: &str) -> Vec<u8> {
    let text = serde_json::Value::from(text);
    format!(r#"{{"type":"text","text":{text}}}"#).into_bytes()
}

fn options(head: &RequestPrefix, cleared: Vec<Id>) -> RenderOptions {
    RenderOptions {
        user_context: head.user_context.clone(),
        cleared,
        thinking_stripped_through: None,
        cache_references: head.latched.cache_references,
        betas: head.latched.betas.clone(),
        most_images: head.latched.most_images,
        tools: head.tool_names(),
    }
}
