//! A small language for writing transcripts in tests.

use longhaul_core::inspect::{Inspection, InspectionReport, LineEnd};
use longhaul_core::message::LineScanner;
use longhaul_core::models::ModelTable;
use longhaul_core::transcript::{ResolvedConversation, TranscriptProblem, TranscriptTable};
use longhaul_core::window::WindowSettings;
use serde_json::{Value, json};

/// A transcript that is being written. Each entry follows the previous one unless told otherwise.
#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) lines: Vec<String>,
    parent: Option<String>,
}

impl Lines {
    /// Adds an entry with these fields. `uuid` may be given; `parentUuid` is the previous entry.
    pub(crate) fn add(&mut self, uuid: &str, fields: Value) -> &mut Self {
        let mut entry = json!({
            "parentUuid": self.parent,
            "isSidechain": false,
            "sessionId": "s",
            "uuid": uuid,
            "timestamp": "2026-01-01T00:00:00.000Z",
        });
        for (key, value) in fields.as_object().unwrap() {
            entry[key] = value.clone();
        }
        if entry["isSidechain"] == json!(false) {
            self.parent = Some(uuid.to_owned());
        }
        self.lines.push(entry.to_string());
        self
    }

    /// Lets the next entry follow this one.
    pub(crate) fn after(&mut self, uuid: &str) -> &mut Self {
        self.parent = Some(uuid.to_owned());
        self
    }

    pub(crate) fn user(&mut self, uuid: &str, text: &str) -> &mut Self {
        self.add(
            uuid,
            json!({"type": "user", "message": {"role": "user", "content": text}}),
        )
    }

    pub(crate) fn reply(
        &mut self,
        uuid: &str,
        id: &str,
        content: Value,
        usage: Value,
    ) -> &mut Self {
        let message = json!({"id": id, "model": "claude-opus-4-5", "role": "assistant", "content": content, "usage": usage});
        self.add(uuid, json!({"type": "assistant", "message": message}))
    }

    pub(crate) fn call(
        &mut self,
        uuid: &str,
        id: &str,
        tool: &str,
        call: &str,
        usage: Value,
    ) -> &mut Self {
        let block = json!({"type": "tool_use", "id": call, "name": tool, "input": {}});
        self.reply(uuid, id, json!([block]), usage)
    }

    pub(crate) fn result(&mut self, uuid: &str, call: &str, text: &str) -> &mut Self {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": text});
        self.add(
            uuid,
            json!({"type": "user", "message": {"role": "user", "content": [block]}}),
        )
    }

    /// Adds a boundary and its summary.
    pub(crate) fn boundary(&mut self, uuid: &str, summary: &str, metadata: Value) -> &mut Self {
        let logical = self.parent.take();
        self.add(
            uuid,
            json!({"type": "system", "subtype": "compact_boundary", "logicalParentUuid": logical,
                   "content": "Conversation compacted", "compactMetadata": metadata}),
        );
        self.add(
            summary,
            json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": "the summary"}}),
        )
    }

    pub(crate) fn clearing(&mut self, uuid: &str, calls: &[&str]) -> &mut Self {
        self.add(
            uuid,
            json!({"type": "system", "subtype": "microcompact_boundary",
                   "microcompactMetadata": {"trigger": "auto", "compactedToolIds": calls}}),
        )
    }

    pub(crate) fn table(&self) -> TranscriptTable {
        let mut table = TranscriptTable::default();
        let mut scanner = LineScanner::default();
        for (number, line) in (1..).zip(&self.lines) {
            if let Ok(facets) = scanner.scan(line.as_bytes()) {
                table.push(number, 0, facets.view(line.as_bytes()));
            }
        }
        table
    }

    pub(crate) fn resolve(
        &self,
    ) -> (
        TranscriptTable,
        ResolvedConversation,
        Vec<TranscriptProblem>,
    ) {
        let table = self.table();
        let mut problems = Vec::new();
        let conversation = ResolvedConversation::resolve(&table, &mut problems);
        (table, conversation, problems)
    }

    /// Returns the line numbers of the live view, in order.
    pub(crate) fn view(&self) -> Vec<u64> {
        let (table, conversation, _) = self.resolve();
        let rows = &conversation.view().rows;
        rows.iter()
            .map(|row| table.rows()[*row as usize].line)
            .collect()
    }

    /// Returns the measured, estimated and total tokens.
    pub(crate) fn context(&self) -> (u64, i64, u64) {
        let (table, conversation, _) = self.resolve();
        let context = conversation.ledger(&table).context();
        (
            context.measured.tokens(),
            context.estimated(),
            context.tokens(),
        )
    }
}

/// Returns a usage that adds up to `total`, most of it read from the cache.
pub(crate) fn usage(total: u64) -> Value {
    json!({"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": total - 7, "output_tokens": 4})
}

/// Returns the report on a file with these bytes.
pub(crate) fn inspect(bytes: &[u8]) -> InspectionReport {
    let mut inspection = Inspection::new();
    let body = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if body.len() < bytes.len() {
        inspection.byte_order_mark();
    }
    for (number, line) in (1..).zip(body.split_inclusive(|byte| *byte == b'\n')) {
        let (line, end) = match line {
            [line @ .., b'\r', b'\n'] => (line, LineEnd::CrLf),
            [line @ .., b'\n'] => (line, LineEnd::Lf),
            line => (line, LineEnd::EndOfFile),
        };
        inspection.line(number, 0, line, end);
    }
    let settings = WindowSettings::default();
    inspection
        .report(&ModelTable::builtin(), &settings, None)
        .unwrap()
}

/// Returns the table and the conversation of a file with these bytes.
pub(crate) fn live_lines(bytes: &[u8]) -> (TranscriptTable, ResolvedConversation) {
    let mut table = TranscriptTable::default();
    let mut scanner = LineScanner::default();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if let Ok(facets) = scanner.scan(line) {
            table.push(number, 0, facets.view(line));
        }
    }
    let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
    (table, conversation)
}
