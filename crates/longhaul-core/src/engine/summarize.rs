//! Obtains a summary (F7, L): from the provider's own compaction where that is wanted (N3), else by a fork that uses
//! the conversation's own cache, else by a plain request, else without a model.

use jiff::Timestamp;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::compaction_in_progress::{CompactionInProgress, CompactionStage, CompactionTiming};
use super::effect::{Effect, ModelRequest};
use super::event::{CompactFailure, Event, Summarizer};
use super::input::{EffectFailure, EffectFailureKind, EffectOutcome};
use super::summary_request_state::SummaryRoute;
use super::{AfterPersist, Engine, PrefixRecording, signed_summary};
use crate::local_summary;
use crate::message::{Entry, Id, Usage};
use crate::models::ModelSpec;
use crate::money::Usd;
use crate::plan::SummaryWay;
use crate::prompt::{
    LatchedSettings, OnPrefixMismatch, RequestAssembly, RequestKind, RequestParameters,
    RequestPrefix, ThinkingChoice,
};
use crate::rounds::{MARKER, MOST_RETRIES, RequestLead, ViewPiece, drop_oldest};
use crate::summary::{
    PLAIN_SYSTEM, PivotDirection, StrippedEntry, Summary, SummaryFailure, SummaryInstructions,
    SummaryPromptVariant, SummaryStop, begun, opening_words, prompt, read, strip,
};

/// The most tokens of a summary in a plain request.
const PLAIN_OUTPUT: u64 = 20_000;
/// Further attempts when the stream of a plain request breaks off.
const STREAM_RETRIES: u32 = 2;
/// The most tokens of a summary without a model.
const LOCAL_SUMMARY: u64 = 12_000;

impl Engine {
    /// Starts to obtain a summary.
    pub(super) fn begin_summary(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        if let Some(approved) = &compaction.request.approved {
            return match Summary::new(approved) {
                Some(summary) => {
                    compaction.summary = Some((summary, Summarizer::Approved));
                    self.summary_ready(compaction, now);
                }
                None => {
                    let message = "the approved summary is empty".to_owned();
                    self.give_up(compaction, CompactFailure::NoSummary, message, now);
                }
            };
        }
        if !self.can_shrink(&compaction) {
            // This is decided before anything is paid for.
            return self.refuse_to_cut(compaction, now);
        }
        if compaction.way == SummaryWay::Local {
            self.keep_unanswered(&mut compaction);
            let folded = compaction.folding.as_mut();
            let folded = folded.and_then(|folding| self.fold_locally(folding));
            let summary = folded.unwrap_or_else(|| {
                let budget = self.config.window.scale().apply(LOCAL_SUMMARY);
                self.local_summary(&compaction, budget)
            });
            compaction.summary = Some((summary, Summarizer::Local));
            return self.summary_ready(compaction, now);
        }
        if self.asks_plainly() {
            compaction.asking.path = SummaryRoute::Plain;
            return self.ask_for_summary(compaction, now);
        }
        compaction.asking.path = if self.asks_provider(&compaction) {
            SummaryRoute::Provider
        } else {
            SummaryRoute::Fork
        };
        if compaction.place == CompactionTiming::Ahead {
            // This request comes after what was sent, which is on disk.
            return self.ask_for_summary(compaction, now);
        }
        match self.before_sending(now) {
            Ok(lines) if !lines.is_empty() => {
                self.persist(lines, |lines| {
                    AfterPersist::Summarize(lines, Box::new(compaction))
                });
            }
            _ => self.ask_for_summary(compaction, now),
        }
    }

    /// Whether the conversation has no request of its own to fork.
    fn asks_plainly(&self) -> bool {
        self.config.prefixes != PrefixRecording::Written || self.config.summary_model.is_some()
    }

    /// The model that writes summaries.
    fn summary_spec(&self) -> &ModelSpec {
        let own = &self.config.model;
        let other = self.config.summary_model.as_ref();
        other.map_or(own, |other| &other.spec)
    }

    /// The cost of the requests for a summary.
    pub(super) fn summary_cost(&self, usage: Option<&Usage>) -> Option<Usd> {
        self.summary_spec().cost(usage?)
    }

    /// A summary without a model, which is always possible.
    pub(super) fn local_summary(&self, compaction: &CompactionInProgress, budget: u64) -> Summary {
        let entries = &self.live.entries()[compaction.scope.summarized.clone()];
        let views = entries.iter().map(|kept| kept.entry.view());
        let text = local_summary::summarize(views, self.live.facts(), budget);
        Summary::of_extracts(&text).unwrap_or_else(Summary::of_nothing)
    }

    /// The summary that was cut off on every route, completed with extracts.
    pub(super) fn completed(
        &self,
        compaction: &mut CompactionInProgress,
    ) -> Option<(Summary, Summarizer)> {
        let (begun, by) = compaction.asking.begun.take()?;
        let entries = &self.live.entries()[compaction.scope.summarized.clone()];
        let views = entries.iter().map(|kept| kept.entry.view());
        let budget = self.config.window.scale().apply(LOCAL_SUMMARY);
        let summary = local_summary::complete(&begun, views, self.live.facts(), budget)?;
        Some((summary, by))
    }

    pub(super) fn ask_for_summary(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        let body = match compaction.asking.path {
            SummaryRoute::Provider => self.provider_request(&compaction),
            SummaryRoute::Fork => self.fork(&compaction),
            SummaryRoute::Plain => self.plain(&compaction),
        };
        let (body, betas) = match body {
            Some(body) => body,
            None if compaction.asking.path != SummaryRoute::Plain => {
                compaction.asking.path = compaction.asking.path.next();
                return self.ask_for_summary(compaction, now);
            }
            None => {
                let message = "the request for a summary could not be made".to_owned();
                return self.model_failed(compaction, CompactFailure::ApiError, message, now);
            }
        };
        let id = self.effect_id();
        self.outbox.push_back(Effect::Summarize {
            id,
            request: ModelRequest {
                source: compaction.source(),
                body,
                betas,
                urgency: compaction.place.urgency(),
            },
            urgency: compaction.place.urgency(),
        });
        compaction.stage = CompactionStage::Summary;
        compaction.awaits = Some(id);
        self.hold(compaction);
    }

    /// The instructions for the summary.
    pub(super) fn instructions<'a>(
        &'a self,
        compaction: &'a CompactionInProgress,
        hooks: &'a [&'a str],
    ) -> SummaryInstructions<'a> {
        let user = compaction.request.instructions.as_deref();
        let memory_file = compaction.project_instructions.as_deref();
        let memory_file = memory_file.or(self.config.compact_instructions.as_deref());
        SummaryInstructions {
            called_off: self.live.facts().called_off(),
            user: user.unwrap_or_default(),
            hooks,
            memory_file: memory_file.unwrap_or_default(),
        }
    }

    /// The first entry after the sent part, if not everything is sent.
    pub(super) fn first_kept(&self, compaction: &CompactionInProgress) -> Option<Id> {
        let behind = self.live.entries()[compaction.scope.sent.end..].iter();
        let mut behind = behind.map(|kept| kept.entry.view());
        let seen = behind.find(|entry| ViewPiece::of_view(*entry).part.is_sent());
        seen.and_then(|entry| entry.uuid())
    }

    fn summary_prompt(&self, compaction: &CompactionInProgress) -> String {
        if let Some(folding) = &compaction.folding {
            // A fork shows everything that was sent; a plain request shows the part that is folded.
            let kept = self.live.entries().get(compaction.scope.sent.end);
            let kept = kept.filter(|_| compaction.asking.path == SummaryRoute::Fork);
            let kept = kept.map(|kept| opening_words(kept.entry.view()));
            return self.fold_prompt(compaction, folding, kept.as_deref());
        }
        let hooks = compaction.hook_texts();
        let instructions = self.instructions(compaction, &hooks);
        let quote = match compaction.direction {
            Some(PivotDirection::From) => {
                let first = &self.live.entries()[compaction.scope.summarized.start];
                opening_words(first.entry.view())
            }
            _ => String::new(),
        };
        let variant = match compaction.direction {
            None => SummaryPromptVariant::Whole,
            Some(PivotDirection::UpTo) => SummaryPromptVariant::UpTo,
            Some(PivotDirection::From) => SummaryPromptVariant::From { quote: &quote },
        };
        prompt(variant, &instructions)
    }

    /// The conversation's own request with one more message: it reads the cache and writes nothing.
    fn fork(
        &mut self,
        compaction: &CompactionInProgress,
    ) -> Option<(Vec<bytes::Bytes>, Vec<String>)> {
        let text = self.summary_prompt(compaction);
        let kind = RequestKind::Fork { text: &text };
        // This request leaves out by reference the same results as the conversation's requests.
        let edits = self.cache_edits();
        if let Some((from, lead)) = compaction.asking.shortened {
            let head = self.assembly.as_ref()?.prefix().clone();
            let marker = marker(lead);
            let rest = &self.live.entries()[from..compaction.scope.sent.end];
            let views = rest.iter().map(|kept| kept.entry.view());
            let history = marker.iter().map(Entry::view).chain(views);
            let mut aside = RequestAssembly::aside(
                head,
                self.live.cleared(),
                last(rest.iter().map(|kept| &kept.entry)),
                history,
            );
            let assembled = aside.request(kind, edits.as_deref());
            let betas = aside.prefix().latched.betas.clone();
            return Some((assembled.ok()?.slices, betas));
        }
        // Up to a pivot, only the part before it is sent. Spans are folded in batches that end far back, where the
        // cache may no longer have an entry point: there everything is sent.
        let until = self
            .first_kept(compaction)
            .filter(|_| compaction.folding.is_none());
        if compaction.place == CompactionTiming::Ahead {
            // A reply or calls may be in progress; none of that is touched.
            let assembly = self.assembly.as_ref()?;
            let mut fork = assembly.fork(until, edits.as_deref())?;
            fork.say(&text);
            return Some((fork.body(), assembly.prefix().latched.betas.clone()));
        }
        let assembly = self.assembly.as_mut()?;
        let assembled = assembly.request_until(kind, until, edits.as_deref());
        let assembled = assembled.ok()?;
        Some((assembled.slices, assembly.prefix().latched.betas.clone()))
    }

    /// A separate request: short system prompt, no thinking, images left out.
    fn plain(&self, compaction: &CompactionInProgress) -> Option<(Vec<bytes::Bytes>, Vec<String>)> {
        let text = self.summary_prompt(compaction);
        let head = self.plain_request_prefix()?;
        let (from, lead) = match compaction.asking.shortened {
            Some(shortened) => shortened,
            None => (compaction.scope.sent.start, RequestLead::Own),
        };
        let marker = marker(lead);
        let sent = &self.live.entries()[from..compaction.scope.sent.end];
        let stripped: Vec<Entry> = sent
            .iter()
            .filter_map(|kept| plainly(&kept.entry))
            .collect();
        let history = marker.iter().chain(&stripped).map(Entry::view);
        let mut aside =
            RequestAssembly::aside(head, self.live.cleared(), last(stripped.iter()), history);
        let assembled = aside.request(RequestKind::Fork { text: &text }, None);
        let betas = aside.prefix().latched.betas.clone();
        Some((assembled.ok()?.slices, betas))
    }

    fn plain_request_prefix(&self) -> Option<RequestPrefix> {
        let spec = self.summary_spec();
        let model = match &self.config.summary_model {
            Some(other) => other.id.as_str().into(),
            None => self.prefix.model()?,
        };
        let most = self.config.window.scale().apply(PLAIN_OUTPUT);
        let body = RequestParameters {
            model: &model,
            spec,
            max_tokens: most.min(spec.max_output).max(1),
            think: ThinkingChoice::Off,
            on_mismatch: OnPrefixMismatch::Refuse,
            effort: None,
            more: Default::default(),
        }
        .to_body()
        .ok()?;
        let mut latched =
            LatchedSettings::new(None, self.prefix.latched.betas.clone(), spec, body.json);
        latched.add_betas(body.betas);
        Some(RequestPrefix {
            system: to_raw_value(&json!([{"type": "text", "text": PLAIN_SYSTEM.trim()}])).ok()?,
            // Calls in the conversation need their tools defined.
            tools: self.prefix.tools.clone(),
            user_context: self.prefix.user_context.clone(),
            latched,
        })
    }

    /// Takes the outcome of the request for a summary.
    pub(super) fn summary_answered(
        &mut self,
        mut compaction: CompactionInProgress,
        outcome: EffectOutcome,
        now: Timestamp,
    ) {
        let reply = match outcome {
            EffectOutcome::Summarized(reply) => *reply,
            EffectOutcome::Failed(failed) => return self.summary_failed(compaction, failed, now),
            _ => return self.give_up_api(compaction, "no answer".to_owned(), now),
        };
        if let Some(usage) = &reply.usage {
            let sum = compaction.usage.get_or_insert_default();
            sum.add_billed(usage);
        }
        let by = match compaction.asking.path {
            SummaryRoute::Provider => {
                match signed_summary::read(reply.message.as_deref()) {
                    Some((summary, signed)) => {
                        compaction.summary = Some((summary, Summarizer::Provider));
                        compaction.signed = Some(signed);
                        self.summary_ready(compaction, now);
                    }
                    None => {
                        compaction.asking.path = SummaryRoute::Fork;
                        self.ask_for_summary(compaction, now);
                    }
                }
                return;
            }
            SummaryRoute::Fork => Summarizer::Fork,
            SummaryRoute::Plain => Summarizer::Plain,
        };
        let read = match &mut compaction.folding {
            Some(folding) => self.folded(folding, &reply),
            None => read(reply.reply()).map(|summary| (summary, by)),
        };
        if compaction.folding.is_none()
            && let Some(begun) = begun(reply.reply())
        {
            compaction.asking.keep_begun(begun, by);
        }
        match read {
            Ok(summary) => {
                let took = now.duration_since(compaction.started).as_millis();
                self.growth.summary_took(u64::try_from(took).unwrap_or(0));
                compaction.summary = Some(summary);
                self.summary_ready(compaction, now);
            }
            // There was no room for the summary, which is equivalent to a request that is too long (L1).
            Err(_) if reply.stop == SummaryStop::WindowFull => self.shorten(compaction, None, now),
            Err(_) if compaction.asking.path == SummaryRoute::Fork => {
                compaction.asking.path = SummaryRoute::Plain;
                self.ask_for_summary(compaction, now);
            }
            Err(failure) => {
                let kind = match failure {
                    SummaryFailure::Refusal => CompactFailure::Refused,
                    SummaryFailure::ApiErrorText { .. } => CompactFailure::ApiError,
                    _ => CompactFailure::NoSummary,
                };
                self.model_failed(compaction, kind, failure.to_string(), now);
            }
        }
    }

    fn give_up_api(&mut self, compaction: CompactionInProgress, message: String, now: Timestamp) {
        self.model_failed(compaction, CompactFailure::ApiError, message, now);
    }

    fn summary_failed(
        &mut self,
        mut compaction: CompactionInProgress,
        failed: EffectFailure,
        now: Timestamp,
    ) {
        match failed.kind {
            EffectFailureKind::TooLong { gap } => self.shorten(compaction, gap, now),
            EffectFailureKind::Cancelled => {
                self.give_up(compaction, CompactFailure::Cancelled, failed.message, now);
            }
            // Every other route asks the same provider, just as often.
            EffectFailureKind::Overloaded
            | EffectFailureKind::RateLimited
            | EffectFailureKind::Network
            | EffectFailureKind::Auth
            | EffectFailureKind::Billing => self.give_up_api(compaction, failed.message, now),
            _ if compaction.asking.path != SummaryRoute::Plain => {
                compaction.asking.path = compaction.asking.path.next();
                self.ask_for_summary(compaction, now);
            }
            EffectFailureKind::Transient if compaction.asking.stream_retries < STREAM_RETRIES => {
                compaction.asking.stream_retries += 1;
                self.ask_for_summary(compaction, now);
            }
            _ => self.give_up_api(compaction, failed.message, now),
        }
    }

    /// Leaves out the oldest rounds of a request for a summary that was too long itself (L1).
    fn shorten(&mut self, mut compaction: CompactionInProgress, gap: Option<u64>, now: Timestamp) {
        if compaction.folding.is_some() && compaction.asking.path == SummaryRoute::Fork {
            // A fork sends everything, a plain request only the part that is folded.
            compaction.asking.path = SummaryRoute::Plain;
            return self.ask_for_summary(compaction, now);
        }
        let pieces = self.live.pieces();
        let weights = self.live.weights();
        let sent = compaction.scope.sent.clone();
        let from = compaction
            .asking
            .shortened
            .map_or(sent.start, |(from, _)| from);
        let retries = compaction.asking.too_long_retries;
        // Spans that are left out cannot be folded.
        let dropped = if retries < MOST_RETRIES && compaction.folding.is_none() {
            drop_oldest(&pieces[from..sent.end], &weights[from..sent.end], gap).ok()
        } else {
            None
        };
        let Some(dropped) = dropped else {
            let message = super::not_compacted::sentence(CompactFailure::PromptTooLong).to_owned();
            return self.model_failed(compaction, CompactFailure::PromptTooLong, message, now);
        };
        compaction.asking.too_long_retries += 1;
        compaction.asking.shortened = Some((from + dropped.from, dropped.lead));
        compaction.asking.path = if self.asks_plainly() {
            SummaryRoute::Plain
        } else {
            SummaryRoute::Fork
        };
        self.notify(Event::TooLongRetry {
            attempt: retries + 1,
            rounds: dropped.rounds,
        });
        self.ask_for_summary(compaction, now);
    }
}

/// The last entry that is sent: thinking up to there is left out where the request differs from the one that it was
/// bound to.
fn last<'a>(sent: impl DoubleEndedIterator<Item = &'a Entry>) -> Option<Id> {
    sent.rev().find_map(|entry| entry.view().uuid())
}

/// The entry that replaces the rounds that were left out.
fn marker(lead: RequestLead) -> Option<Entry> {
    let line = match lead {
        RequestLead::Own => return None,
        RequestLead::Marker => json!({
            "type": "user",
            "message": {"role": "user", "content": MARKER.trim()},
        }),
    };
    Entry::read(line.to_string().into()).ok()
}

/// The form of an entry in a plain request.
fn plainly(entry: &Entry) -> Option<Entry> {
    match strip(entry.view()) {
        StrippedEntry::AsIs => Some(entry.clone()),
        StrippedEntry::Rewritten(line) => Entry::read(line).ok(),
        StrippedEntry::Dropped => None,
    }
}
