//! A transcript to which compactions and undos are appended, and which is read back each time.

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::boundary::{
    CompactionRecord, CompactionTrigger, CopiedEntry, KeptEntry, LineEnvelope, LineStamp,
    LineThread, PreservedAnchor, PreservedPart, SummaryAttachment, UndoPlan, UndoRecord,
};
use longhaul_core::message::{Entry, LineScanner};
use longhaul_core::rounds::ViewPiece;
use longhaul_core::summary::{CompactionScope, PivotDirection};
use longhaul_core::transcript::{ResolvedConversation, TranscriptProblem, TranscriptTable};
use serde_json::{Value, json};

pub(crate) struct SessionFile {
    pub(crate) bytes: Vec<u8>,
    made: usize,
}

/// One entry of the live view.
pub(crate) struct Live {
    pub(crate) entry: Entry,
    pub(crate) offset: u64,
    pub(crate) piece: ViewPiece,
}

impl Live {
    pub(crate) fn uuid(&self) -> String {
        self.entry
            .view()
            .text(self.entry.facets().uuid)
            .into_owned()
    }
}

/// The uuids of the entries that a compaction wrote.
pub(crate) struct Written {
    pub(crate) boundary: String,
    pub(crate) summary: String,
    pub(crate) attached: Vec<String>,
}

pub(crate) fn envelope() -> LineEnvelope<'static> {
    LineEnvelope {
        thread: LineThread::Main,
        cwd: "/srv/project",
        session_id: "a-session",
        version: "1.2.3",
        git_branch: Some("main"),
    }
}

pub(crate) fn time() -> Timestamp {
    "2026-03-01T12:00:00.5Z".parse().unwrap()
}

pub(crate) fn stamp(uuid: &str) -> LineStamp<'_> {
    LineStamp {
        uuid,
        timestamp: time(),
    }
}

impl SessionFile {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, made: 0 }
    }

    fn id(&mut self, of: &str) -> String {
        self.made += 1;
        format!("{of}-{}", self.made)
    }

    pub(crate) fn append(&mut self, lines: &[Bytes]) {
        for line in lines {
            assert!(!line.contains(&b'\n'));
            self.bytes.extend_from_slice(line);
            self.bytes.push(b'\n');
        }
    }

    /// Adds a turn after the newest entry.
    pub(crate) fn turn(&mut self, text: &str) -> [String; 2] {
        let last = self.live().last().unwrap().uuid();
        let (prompt, reply) = (self.id("prompt"), self.id("reply"));
        let lines = [
            json!({"type": "user", "uuid": prompt, "parentUuid": last, "sessionId": "s",
                   "message": {"role": "user", "content": text}}),
            json!({"type": "assistant", "uuid": reply, "parentUuid": prompt, "sessionId": "s",
                   "message": {"id": self.id("msg"), "role": "assistant", "model": "claude-opus-4-5",
                               "content": [{"type": "text", "text": format!("about {text}")}],
                               "usage": {"input_tokens": 5, "output_tokens": 5}}}),
        ];
        self.append(&lines.map(|line| line.to_string().into()));
        [prompt, reply]
    }

    pub(crate) fn read(
        &self,
    ) -> (
        TranscriptTable,
        ResolvedConversation,
        Vec<TranscriptProblem>,
        Vec<Entry>,
    ) {
        let mut table = TranscriptTable::default();
        let mut scanner = LineScanner::default();
        let (mut offset, mut entries, mut problems) = (0, Vec::new(), Vec::new());
        for (number, line) in (1..).zip(self.bytes.split(|byte| *byte == b'\n')) {
            if let Ok(facets) = scanner.scan(line) {
                table.push(number, offset, facets.view(line));
                entries.push(Entry::noted(Bytes::copy_from_slice(line), facets));
            }
            offset += line.len() as u64 + 1;
        }
        let conversation = ResolvedConversation::resolve(&table, &mut problems);
        (table, conversation, problems, entries)
    }

    pub(crate) fn live(&self) -> Vec<Live> {
        let (table, conversation, _, entries) = self.read();
        let rows = conversation.view().rows.iter().map(|at| *at as usize);
        rows.map(|at| {
            let row = &table.rows()[at];
            let piece = ViewPiece::of_row(&table, row);
            assert_eq!(
                piece,
                ViewPiece::of_view(entries[at].view()),
                "both forms of an entry agree"
            );
            Live {
                entry: entries[at].clone(),
                offset: row.offset,
                piece,
            }
        })
        .collect()
    }

    /// Returns the uuids that the model sees, in order.
    pub(crate) fn seen(&self) -> Vec<String> {
        let live = self.live();
        let sent = live.iter().filter(|live| live.piece.part.is_sent());
        sent.map(Live::uuid).collect()
    }

    pub(crate) fn problems(&self) -> Vec<TranscriptProblem> {
        self.read().2
    }

    /// Compacts the live view; `pivot` is an index into it.
    pub(crate) fn compact(&mut self, pivot: Option<(usize, PivotDirection)>) -> Written {
        let live = self.live();
        let pieces: Vec<ViewPiece> = live.iter().map(|live| live.piece.clone()).collect();
        let scope = match pivot {
            None => CompactionScope::whole(&pieces),
            Some((pivot, direction)) => CompactionScope::partial(&pieces, pivot, direction),
        };
        let anchor = match pivot {
            Some((_, PivotDirection::From)) => PreservedAnchor::Boundary,
            _ => PreservedAnchor::Summary,
        };
        let kept = live[scope.kept.clone()].iter().map(|live| KeptEntry {
            entry: live.entry.view(),
            offset: live.offset,
        });
        let kept = PreservedPart::of(anchor, kept);
        let written = Written {
            boundary: self.id("boundary"),
            summary: self.id("summary"),
            attached: vec![self.id("todo"), self.id("hook")],
        };
        let values: [Value; 2] = [
            json!({"type": "todo", "content": [], "itemCount": 0, "context": "post-compact"}),
            longhaul_core::boundary::hook_context("SessionStart", "SessionStart:compact", &["hi"]),
        ];
        let attached: Vec<SummaryAttachment<'_>> = written
            .attached
            .iter()
            .zip(&values)
            .map(|(uuid, value)| SummaryAttachment {
                stamp: stamp(uuid),
                value,
            })
            .collect();
        let last = live.last().map(Live::uuid);
        let lines = CompactionRecord {
            envelope: envelope(),
            boundary: stamp(&written.boundary),
            summary: stamp(&written.summary),
            logical_parent: last.as_deref(),
            trigger: CompactionTrigger::Auto,
            pre_tokens: 1_000,
            messages_summarized: scope.messages(&pieces) as u64,
            user_context: None,
            discovered_tools: &[],
            kept: kept.as_ref(),
            thinking_stripped_through: None,
            ledger: None,
            report: None,
            folds: None,
            made: None,
            recompaction: None,
            head_tokens: None,
            signed: None,
            text: "the summary",
            attached: &attached,
        }
        .lines()
        .unwrap();
        self.append(&lines);
        written
    }

    /// Undoes the newest compaction.
    pub(crate) fn undo(&mut self) -> Option<UndoPlan> {
        let (table, conversation, _, entries) = self.read();
        let plan = UndoPlan::of(&table, &conversation)?;
        let text = |row: u32| {
            let view = entries[row as usize].view();
            view.text(view.facets.uuid).into_owned()
        };
        let uuid = self.id("undo");
        let ids: Vec<String> = plan.later.iter().map(|_| self.id("copy")).collect();
        let later: Vec<CopiedEntry<'_>> = plan
            .later
            .iter()
            .zip(&ids)
            .map(|(row, uuid)| CopiedEntry {
                entry: entries[*row as usize].view(),
                uuid,
            })
            .collect();
        let lines = UndoRecord {
            envelope: envelope(),
            stamp: stamp(&uuid),
            boundary: &text(plan.boundary),
            parent: &text(plan.parent),
            later: &later,
            thinking_stripped_through: ids.last().map(String::as_str),
            report: None,
        }
        .lines()
        .unwrap();
        self.append(&lines);
        Some(plan)
    }
}
