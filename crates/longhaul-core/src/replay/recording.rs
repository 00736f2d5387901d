//! Makes a [`SessionRecording`] of the lines that were read.

use jiff::Timestamp;

use super::reader::SessionRecordingReader;
use super::session::{
    ItemKind, RecordedConversation, RecordedItem, RecordedRequest, SessionFacts, SessionRecording,
    ViewChange,
};
use super::sizes::SizeScale;
use crate::economy::ResultSubject;
use crate::hash::Map;
use crate::message::{BlockKind, EntryKind, Id, Sent, Subtype, Usage};
use crate::micro::ClearableTools;
use crate::prompt::Ttl;
use crate::tokens::{Estimate, LedgerMeasurement};
use crate::transcript::{BlockRow, ResolvedConversation, TranscriptRow, TranscriptTable};

/// A prompt above this size is damage, not a measurement.
const MOST_TOKENS: u64 = 100_000_000;
/// The least that a request reads from the cache if its prefix is shared with others.
const LEAST_PREFIX: u64 = 1_024;

/// An answer of the main conversation, with all of its lines.
#[derive(Debug, Default)]
struct AnswerLines {
    usage: Option<Usage>,
    text: Estimate,
    own: u64,
}

/// An entry that the next request sends.
struct PendingItem {
    kind: ItemKind,
    estimate: u64,
    subject: Option<ResultSubject>,
}

impl SessionRecordingReader {
    /// Makes a session of all lines that were read.
    pub fn finish(self, tools: &ClearableTools) -> SessionRecording {
        let conversation = ResolvedConversation::resolve(&self.table, &mut Vec::new());
        let answers = answers(&self, &conversation);
        let roots = conversation.roots(&self.table);
        let mut recording = RecordingWalk::new(&self, tools, &answers);
        recording.facts.entries = self.table.rows().len() as u64;
        recording.facts.damaged_lines = self.damaged;
        let mut block = 0;
        let mut root = None;
        for (at, row) in (0..).zip(self.table.rows()) {
            let blocks = self.table.blocks(row);
            let sizes = &self.sizes[block..block + blocks.len()];
            block += blocks.len();
            if !conversation.is_main(at) {
                continue;
            }
            if let Some(now) = roots[at as usize]
                && row.is_sent()
                && root.replace(now).is_some_and(|before| before != now)
            {
                recording.begin_conversation();
            }
            recording.row(&conversation, at, row, sizes);
        }
        recording.facts.sidechain_answers = sidechain_answers(&self.table, &conversation);
        recording.finish()
    }
}

/// Follows the main conversation from row to row.
struct RecordingWalk<'a> {
    table: &'a TranscriptTable,
    subjects: &'a Map<Id, ResultSubject>,
    tools: &'a ClearableTools,
    answers: &'a Map<(Option<Id>, u64), AnswerLines>,
    session: SessionRecording,
    now: RecordedConversation,
    pending: Vec<PendingItem>,
    scale: SizeScale,
    facts: SessionFacts,
    /// The tool of each call.
    called: Map<Id, u32>,
    change: ViewChange,
    asked: Option<Timestamp>,
    seen: crate::hash::Set<Id>,
    last: Option<u32>,
    prompt: u64,
    written: (u64, u64),
}

impl<'a> RecordingWalk<'a> {
    fn new(
        read: &'a SessionRecordingReader,
        tools: &'a ClearableTools,
        answers: &'a Map<(Option<Id>, u64), AnswerLines>,
    ) -> Self {
        Self {
            table: &read.table,
            subjects: &read.subjects,
            tools,
            answers,
            session: SessionRecording::default(),
            now: RecordedConversation::default(),
            pending: Vec::new(),
            scale: SizeScale::default(),
            facts: SessionFacts::default(),
            called: Map::default(),
            change: ViewChange::Grew,
            asked: None,
            seen: Default::default(),
            last: None,
            prompt: 0,
            written: (0, 0),
        }
    }

    /// Ends a conversation. What comes next is sent without it.
    fn begin_conversation(&mut self) {
        let ended = std::mem::take(&mut self.now);
        if !ended.requests.is_empty() {
            self.session.conversations.push(ended);
        }
        self.pending.clear();
        self.change = ViewChange::Grew;
        self.last = None;
    }

    fn row(
        &mut self,
        conversation: &ResolvedConversation,
        at: u32,
        row: &TranscriptRow,
        sizes: &[u64],
    ) {
        match row.subtype {
            Subtype::CompactBoundary => {
                self.facts.compactions += 1;
                self.change = ViewChange::Compacted;
            }
            Subtype::MicrocompactBoundary
                if self
                    .table
                    .boundary(at)
                    .is_some_and(|note| note.cache_edits.is_none()) =>
            {
                self.facts.clearings += 1;
                if self.change == ViewChange::Grew {
                    self.change = ViewChange::Cleared;
                }
            }
            _ => {}
        }
        if row.kind == EntryKind::User {
            self.asked = row.timestamp.or(self.asked);
        }
        let restored = self.change == ViewChange::Compacted;
        match row.sent() {
            None => {}
            Some(Sent::Reply) => {
                let is_new = row.message.is_none_or(|message| self.seen.insert(message));
                if is_new {
                    self.answer(conversation, at, row);
                }
                self.items(row, sizes);
            }
            // What a compaction put into the window is not part of a conversation that was never compacted.
            Some(Sent::Attachment) if restored => {}
            Some(Sent::Attachment) => {
                let estimate = row.attachment.unwrap_or_default().unpadded();
                self.pend(ItemKind::Text, estimate, None);
            }
            Some(Sent::Input) if row.flags.compact_summary => {}
            Some(Sent::Input) => self.items(row, sizes),
        }
    }

    fn pend(&mut self, kind: ItemKind, estimate: u64, subject: Option<ResultSubject>) {
        self.pending.push(PendingItem {
            kind,
            estimate,
            subject,
        });
    }

    fn items(&mut self, row: &TranscriptRow, sizes: &[u64]) {
        for (block, size) in self.table.blocks(row).iter().zip(sizes) {
            let (kind, subject) = self.kind(row, block);
            self.pend(kind, *size, subject);
        }
    }

    fn kind(&mut self, row: &TranscriptRow, block: &BlockRow) -> (ItemKind, Option<ResultSubject>) {
        match (block.kind, block.call) {
            (BlockKind::ToolUse, Some(call)) => {
                if let Some(tool) = block.tool {
                    self.called.insert(call, tool);
                }
                (ItemKind::Text, None)
            }
            (BlockKind::ToolResult, Some(call)) => {
                // Only the first result of a call is sent, and so only that one can be cleared.
                let tool = self.called.remove(&call);
                let is_clearable =
                    tool.is_some_and(|tool| self.tools.contains(self.table.text(tool)));
                let kind = if is_clearable {
                    ItemKind::Result
                } else {
                    ItemKind::Text
                };
                (kind, self.subjects.get(&call).copied())
            }
            (kind, _) if kind.is_thinking() => (ItemKind::Thinking, None),
            _ if row.kind == EntryKind::User && !row.flags.meta => (ItemKind::Prompt, None),
            _ => (ItemKind::Text, None),
        }
    }

    /// Notes the request that an answer replies to.
    fn answer(&mut self, conversation: &ResolvedConversation, at: u32, row: &TranscriptRow) {
        let lines = self.answers.get(&key(row));
        let usage = lines.and_then(|lines| lines.usage.clone());
        let Some((lines, usage)) = lines.zip(usage) else {
            self.facts.without_usage += 1;
            return;
        };
        if let Some(last) = self.last
            && is_rewound(self.table, conversation, last, at)
        {
            self.facts.rewinds += 1;
        }
        self.last = Some(at);
        let measured = LedgerMeasurement::of(&usage);
        let prompt = measured.prompt.tokens();
        self.place(prompt);
        let is_partial = measured.is_partial(lines.text);
        self.facts.partial_outputs += u64::from(is_partial);
        let model = row.model.map_or("unknown", |name| self.table.text(name));
        let model = self.model(model);
        let requests = &self.now.requests;
        if requests.last().is_some_and(|last| last.model != model) {
            self.facts.model_switches += 1;
        }
        let start = self.asked.or(row.timestamp);
        let before = requests.last().and_then(|last| last.start);
        if before.zip(start).is_some_and(|(before, now)| now < before) {
            self.facts.clock_steps_back += 1;
        }
        self.written.0 += usage.cache_write_5m;
        self.written.1 += usage.cache_write_1h;
        if usage.cache_read >= LEAST_PREFIX {
            let hot = &mut self.now.hot_prefix;
            *hot = if *hot == 0 {
                usage.cache_read
            } else {
                usage.cache_read.min(*hot)
            };
        }
        self.now.requests.push(RecordedRequest {
            line: row.line,
            message: row.message,
            model,
            start,
            output: if is_partial {
                self.scale.apply(lines.own).max(usage.output)
            } else {
                usage.output
            },
            usage,
            items_end: self.now.items.len(),
            change: std::mem::take(&mut self.change),
        });
        self.prompt = prompt;
    }

    /// Gives the pending entries their sizes and places them in the conversation.
    fn place(&mut self, prompt: u64) {
        let pending = std::mem::take(&mut self.pending);
        let mut sizes: Vec<u64> = pending.iter().map(|item| item.estimate).collect();
        let mut unexplained = 0;
        if self.now.requests.is_empty() {
            self.scale.share_unmeasured(&mut sizes);
            let entries = sizes.iter().sum();
            self.now.prefix = prompt.saturating_sub(entries);
        } else if self.change == ViewChange::Grew && prompt > self.prompt {
            unexplained = self.scale.share(&mut sizes, prompt - self.prompt);
        } else {
            self.scale.share_unmeasured(&mut sizes);
        }
        let items = pending
            .iter()
            .zip(sizes)
            .map(|(item, tokens)| RecordedItem {
                kind: item.kind,
                tokens,
                subject: item.subject,
            });
        self.now.items.extend(items.filter(|item| item.tokens > 0));
        if unexplained > 0 {
            self.now.items.push(RecordedItem {
                kind: ItemKind::Text,
                tokens: unexplained,
                subject: None,
            });
        }
    }

    fn model(&mut self, name: &str) -> usize {
        let models = &mut self.session.models;
        models
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                models.push(name.to_owned());
                models.len() - 1
            })
    }

    fn finish(mut self) -> SessionRecording {
        self.begin_conversation();
        for conversation in &mut self.session.conversations {
            let prefix = conversation.prefix;
            let hot = &mut conversation.hot_prefix;
            *hot = if *hot == 0 {
                prefix
            } else {
                (*hot).min(prefix)
            };
        }
        self.session.ttl = if self.written.1 > self.written.0 {
            Ttl::OneHour
        } else {
            Ttl::FiveMinutes
        };
        self.session.facts = self.facts;
        self.session
    }
}

/// The name of an answer: its message id, or the line of an answer that has none.
fn key(row: &TranscriptRow) -> (Option<Id>, u64) {
    let line = if row.message.is_some() { 0 } else { row.line };
    (row.message, line)
}

/// Gathers the lines of each answer: the usage that bills the most, and the size of what the model wrote.
fn answers(
    read: &SessionRecordingReader,
    conversation: &ResolvedConversation,
) -> Map<(Option<Id>, u64), AnswerLines> {
    let mut answers: Map<(Option<Id>, u64), AnswerLines> = Map::default();
    let mut block = 0;
    for (at, row) in (0..).zip(read.table.rows()) {
        let blocks = read.table.blocks(row).len();
        let own: u64 = read.sizes[block..block + blocks].iter().sum();
        block += blocks;
        if !row.is_reply() || !conversation.is_main(at) {
            continue;
        }
        let answer = answers.entry(key(row)).or_default();
        answer.text += read.table.output_weight(row);
        answer.own += own;
        let usable = |usage: &&Usage| (1..=MOST_TOKENS).contains(&usage.prompt());
        if let Some(usage) = read.table.usage(row).filter(usable)
            && (answer.usage.as_ref()).is_none_or(|known| usage.total() > known.total())
        {
            answer.usage = Some(usage.clone());
        }
    }
    answers
}

fn sidechain_answers(table: &TranscriptTable, conversation: &ResolvedConversation) -> u64 {
    let mut seen = crate::hash::Set::default();
    let rows = (0..).zip(table.rows());
    let answers = rows.filter(|(at, row)| row.is_reply() && conversation.is_sidechain(*at));
    answers.filter(|(_, row)| seen.insert(key(row))).count() as u64
}

/// Whether an answer continues an earlier point than the answer before it.
fn is_rewound(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
    last: u32,
    at: u32,
) -> bool {
    let rows = table.rows();
    let before = &rows[last as usize];
    let mut at = at;
    // A damaged chain may lead forward, so it is not followed forever.
    for _ in 0..rows.len() {
        let Some(parent) = conversation.before(table, at) else {
            return false;
        };
        let row = &rows[parent as usize];
        if parent == last || (row.message.is_some() && row.message == before.message) {
            return false;
        }
        if parent < last {
            return true;
        }
        at = parent;
    }
    false
}
