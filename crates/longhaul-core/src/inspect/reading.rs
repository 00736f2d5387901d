//! Reads a file line by line and makes the report.

use bytes::Bytes;

use super::billed_beside::BilledBeside;
use super::calls::CallNotes;
use super::categories::RecordedPrefixWeight;
use super::report::{InspectionReport, Thresholds, UsageReport, WindowReport};
use super::rounds::{FileBill, rounds};
use super::{boundaries, cache_breaks, calibrated, categories, clearings, earlier};
use crate::boundary::is_copy;
use crate::engine::PrefixCount;
use crate::hash::Set;
use crate::message::{Entry, EntryKind, LineDamage, LineScanner, Subtype};
use crate::models::ModelTable;
use crate::normalize::MessageOutline;
use crate::tokens::calibrated::EntryTokens;
use crate::tokens::{ContextSize, Estimate};
use crate::transcript::{
    EndsTheFile, ResolvedConversation, TranscriptProblem, TranscriptProblemKind, TranscriptTable,
};
use crate::window::{WindowError, WindowInput, WindowSettings, WindowStatus};

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// The line ends in a line feed.
    Lf,
    /// The line ends in carriage return and line feed.
    CrLf,
    /// The line ends with the file.
    EndOfFile,
}

/// A file being inspected.
///
/// ```
/// use longhaul_core::inspect::{Inspection, LineEnd};
///
/// let mut inspection = Inspection::new();
/// inspection.line(1, 0, br#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}"#, LineEnd::Lf);
/// inspection.line(2, 72, br#"{"type":"assist"#, LineEnd::Lf);
/// assert_eq!((inspection.entries(), inspection.damaged_lines()), (1, 1));
/// ```
#[derive(Debug, Default)]
pub struct Inspection {
    scanner: LineScanner,
    table: TranscriptTable,
    calls: CallNotes,
    problems: Vec<TranscriptProblem>,
    session: Option<String>,
    prefix: RecordedPrefixWeight,
    /// The tokens of each row of the table, for the likely size.
    tokens: Vec<EntryTokens>,
    beside: BilledBeside,
    /// The newest compaction's boundary of the main conversation, and its row.
    boundary: Option<(u32, Entry)>,
    /// Rows that an undo wrote again.
    copies: Set<u32>,
    crlf: bool,
    damaged: u64,
}

impl Inspection {
    /// Creates an inspection that has read nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that the file begins with a byte order mark.
    pub fn byte_order_mark(&mut self) {
        let message = "the file begins with a byte order mark; it is ignored";
        self.problems.push(TranscriptProblem::new(
            1,
            TranscriptProblemKind::Bom,
            message,
        ));
    }

    /// Takes one line, without its line end.
    pub fn line(&mut self, number: u64, offset: u64, bytes: &[u8], end: LineEnd) {
        if end == LineEnd::CrLf && !self.crlf {
            self.crlf = true;
            let message = "lines end in carriage return and line feed, from here on or throughout";
            self.problems.push(TranscriptProblem::new(
                number,
                TranscriptProblemKind::Crlf,
                message,
            ));
        }
        if bytes.trim_ascii().is_empty() {
            return;
        }
        match self.scanner.scan(bytes) {
            Ok(facets) => {
                let entry = facets.view(bytes);
                let row = self.table.rows().len() as u32;
                if is_copy(bytes) {
                    self.copies.insert(row);
                }
                if facets.subtype == Subtype::CompactBoundary
                    && !facets.flags.sidechain
                    && let Ok(boundary) = Entry::read(Bytes::copy_from_slice(bytes))
                {
                    self.boundary = Some((row, boundary));
                }
                self.table.push(number, offset, entry);
                self.tokens.push(EntryTokens::of(entry));
                self.calls.note(entry);
                self.beside.note(entry);
                if facets.kind == EntryKind::Head {
                    self.prefix = RecordedPrefixWeight::of(entry);
                }
                if facets.session.is_present() {
                    let session = facets.session.of(bytes);
                    if self
                        .session
                        .as_ref()
                        .is_none_or(|known| known.as_bytes() != session)
                    {
                        self.session = Some(entry.text(facets.session).into_owned());
                    }
                }
            }
            Err(damage) => self.damage(number, damage, end),
        }
    }

    fn damage(&mut self, number: u64, damage: LineDamage, end: LineEnd) {
        self.damaged += 1;
        let ends_the_file = match end {
            LineEnd::EndOfFile => EndsTheFile::Yes,
            LineEnd::Lf | LineEnd::CrLf => EndsTheFile::No,
        };
        self.problems
            .push(TranscriptProblem::damaged(number, &damage, ends_the_file));
    }

    /// How many lines were not intact.
    pub fn damaged_lines(&self) -> u64 {
        self.damaged
    }

    /// How many lines were intact.
    pub fn entries(&self) -> usize {
        self.table.rows().len()
    }

    /// Whether this cannot be a transcript: there are lines, but none is an entry or the beginning of one that was cut
    /// off.
    pub fn is_no_transcript(&self) -> bool {
        let mut rows = self.table.rows().iter();
        let any_entry = rows.any(|row| row.kind != EntryKind::Other || row.uuid.is_some());
        let torn = |problem: &TranscriptProblem| problem.kind == TranscriptProblemKind::TornLine;
        let lines = self.damaged > 0 || self.entries() > 0;
        lines && !any_entry && !self.problems.iter().any(torn)
    }

    /// The conversation of the file and its problems, for a reader that wants the conversation itself.
    pub fn resolve(
        mut self,
    ) -> (
        TranscriptTable,
        ResolvedConversation,
        Vec<TranscriptProblem>,
    ) {
        let conversation = ResolvedConversation::resolve(&self.table, &mut self.problems);
        self.problems
            .sort_by_key(|problem| (problem.line, problem.kind));
        (self.table, conversation, self.problems)
    }

    /// Makes the report on all lines so far. `default_model` is used for counting where no reply names a model.
    ///
    /// # Errors
    /// Fails if the window of the model, or its cap in the settings, is too small to work in.
    pub fn report(
        mut self,
        models: &ModelTable,
        settings: &WindowSettings,
        default_model: Option<&str>,
    ) -> Result<InspectionReport, WindowError> {
        let conversation = ResolvedConversation::resolve(&self.table, &mut self.problems);
        let context = conversation.ledger(&self.table).context();
        let table = &self.table;
        let model = model(table, &conversation).or(default_model);
        let resolved = models.resolve(model.unwrap_or("unknown"));
        let tokenizer = resolved.spec.tokenizer;
        let prefix = self.prefix_tokens(&conversation, context, model);
        let used = context.tokens() + prefix;
        let calibrated = calibrated::size(table, &conversation, &self.tokens, models, tokenizer);
        let rounds = rounds(table, &conversation, &self.copies);
        let bill = FileBill::of(table, &conversation, &rounds, models);
        let (cache_breaks, cache_break_totals) =
            cache_breaks::cache_breaks(table, &conversation, &rounds, models);
        let cleared = categories::cleared(table, &conversation);
        let in_view = categories::results_in_view(table, &conversation, &cleared);
        let mut categories =
            categories::categories(table, &conversation, &in_view, &cleared, self.prefix, used);
        let repeated_in_view = self
            .calls
            .duplicate_reads(table, &conversation, |call| in_view.contains(&call));
        categories.duplicate_reads = repeated_in_view.tokens;
        let status = WindowStatus::new(&WindowInput {
            window: resolved.spec.window,
            max_output: resolved.spec.max_output,
            used,
            settings: *settings,
        })?;
        let mut assumptions = resolved.assumptions.clone();
        // Missing prices of the current model are among its own assumptions.
        let others = (bill.unpriced.iter()).filter(|unpriced| Some(unpriced.as_str()) != model);
        assumptions.extend(others.map(|model| {
            format!("The prices of `{model}` are not known: its costs are left out.")
        }));
        self.problems
            .sort_by_key(|problem| (problem.line, problem.kind));
        Ok(InspectionReport {
            session_id: self.session,
            entries: table.rows().len() as u64,
            messages: MessageOutline::of(table, &conversation).roles.len() as u64,
            rounds: bill.turns.len() as u64,
            context_tokens: used,
            estimated: context.estimated().saturating_add_unsigned(prefix),
            measured: context.measured.tokens(),
            cleared: context.cleared.unpadded(),
            calibrated,
            window: WindowReport {
                model: model.map(str::to_owned),
                size: status.size,
                max_output: status.max_output,
                effective: status.effective,
            },
            thresholds: Thresholds {
                limit: status.limit,
                warning: status.warning,
                error: status.error,
                auto_compact: status.auto_compact,
                auto_compact_enabled: status.auto_compact_enabled,
                blocking: status.blocking,
                percent_left: status.percent_left,
            },
            level: status.level,
            categories,
            tools: self.calls.tools(table, &conversation),
            boundaries: boundaries::compactions(table, &conversation),
            clearings: clearings::clearings(table, &conversation),
            usage: UsageReport::from(&bill.usage),
            cache_hit_rate: bill.usage.cache_hit_rate(),
            cost_usd: bill.cost.to_f64(),
            partial_outputs: bill.partial_outputs,
            earlier_conversations: earlier::earlier(table, &conversation),
            billed: bill.responses,
            notes: self.beside.notes(),
            lost_replies: self.beside.lost_replies(),
            cache_breaks,
            cache_break_totals,
            duplicate_reads: self.calls.duplicate_reads(table, &conversation, |_| true),
            sidechains: bill.sidechains,
            largest_results: self.calls.largest(table, &conversation, &in_view),
            turns: bill.turns,
            assumptions,
            problems: self.problems,
        })
    }
}

impl Inspection {
    /// The tokens of the request prefix where no reply in view has measured it with everything else: as the replies before
    /// the compaction showed, or estimated (ruling 3). Zero if the file does not record it.
    fn prefix_tokens(
        &self,
        conversation: &ResolvedConversation,
        context: ContextSize,
        model: Option<&str>,
    ) -> u64 {
        let own = self.prefix.total();
        if own == Estimate::ZERO || context.measured.tokens() > 0 {
            return 0;
        }
        let boundary = self.boundary.as_ref();
        let known = boundary.filter(|(row, _)| conversation.view().rows.contains(row));
        let known = known.zip(model);
        let known =
            known.and_then(|((_, entry), model)| PrefixCount::of_boundary(entry.view(), model));
        match known {
            Some(known) => known.of(own.padded()),
            None => (context.added + own).padded() - context.added.padded(),
        }
    }
}

/// The model that the next turn will most likely use: that of the newest reply in view, else in the file.
fn model<'a>(table: &'a TranscriptTable, conversation: &ResolvedConversation) -> Option<&'a str> {
    let newest_first = conversation.view().rows.iter().rev().copied();
    let anywhere = (0..table.rows().len() as u32).rev();
    newest_first
        .chain(anywhere.filter(|at| conversation.is_main(*at)))
        .map(|at| &table.rows()[at as usize])
        .find(|row| row.is_reply() && row.model.is_some())
        .and_then(|row| row.model)
        .map(|name| table.text(name))
}
