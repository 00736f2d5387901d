//! Micro-compaction during a turn (U): results are archived first, then the clearing is recorded, then the conversation
//! is rendered again.

use bytes::Bytes;
use jiff::Timestamp;

use super::effect::Effect;
use super::event::Event;
use super::{AfterPersist, CacheEditSupport, Engine, EngineState};
use crate::boundary::{self, CompactionTrigger, LineError, LineStamp};
use crate::economy::EconomyRecord;
use crate::hash::Set;
use crate::message::{BlockKind, Entry, Id};
use crate::micro::{
    CacheState, ClearableResult, MicroSituation, MicroStep, PlannedClearing, choose,
};
use crate::report::{LossReport, ResultLoss, ViewTokens};
use crate::window::{SwitchVerdict, SwitchableAction, WindowStatus};

impl Engine {
    /// Clears stale results, if there are any. Returns whether the turn waits for it.
    pub(super) fn clear(&mut self, now: Timestamp) -> bool {
        let by_price = self.decide_by_price(now);
        if self.config.switches.decide(SwitchableAction::Micro) != SwitchVerdict::Allowed {
            return false;
        }
        self.rest(now);
        let step = match by_price {
            Some(step) => step,
            None if self.clears_by_price() => self.clear_a_full_window(now),
            None => choose(&self.micro_situation(&self.status(), now)),
        };
        match step {
            MicroStep::Nothing | MicroStep::Wait(_) => false,
            MicroStep::Delete(deletions) => {
                let saved = deletions.saved.unpadded();
                self.delete(deletions.results, saved, now)
            }
            MicroStep::Clear(clearing) => self.archive_cleared(clearing),
        }
    }

    /// What the choice of a clearing by thresholds depends on.
    pub(super) fn micro_situation<'a>(
        &'a self,
        status: &'a WindowStatus,
        now: Timestamp,
    ) -> MicroSituation<'a> {
        MicroSituation {
            results: self.live.results(),
            status,
            last_reply: self.live.last_reply(),
            now,
            cache: self.cache_state(now),
            cached: match self.config.cache_edits {
                CacheEditSupport::Supported => Some(&self.cached),
                CacheEditSupport::Unsupported => None,
            },
            pressure: self.config.pressure,
            limits: &self.config.micro,
        }
    }

    /// Asks the provider to drop results from its cache, once that is recorded. Returns whether the turn waits.
    fn delete(&mut self, results: Vec<ClearableResult>, saved: u64, now: Timestamp) -> bool {
        let mut calls = self.live.cache_edits().to_vec();
        let deleted: Vec<String> = results.into_iter().map(|result| result.call).collect();
        calls.extend(deleted.iter().cloned());
        let uuid = self.ids.next_uuid();
        let stamp = LineStamp {
            uuid: &uuid,
            timestamp: now,
        };
        let economy = self.economy.clearing.take();
        let record = self.cache_edits_record(stamp, self.live.newest(), saved);
        let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
        let record = boundary::ClearingRecord {
            cache_edits: Some(&calls),
            ..record
        };
        // If the clearing cannot be recorded, the results stay in the window.
        let Ok(line) = record.line_with(economy.as_ref().map(EconomyRecord::to_boundary).as_ref())
        else {
            return false;
        };
        let source = self.config.source.as_str();
        self.watch.cache_deleted(source, saved);
        self.deletion.ask(deleted, saved);
        self.tell_economized(economy);
        self.persist(vec![line], AfterPersist::Cleared);
        true
    }

    /// Archives what is to be cleared, before it is. Returns whether the turn waits.
    fn archive_cleared(&mut self, clearing: PlannedClearing) -> bool {
        let id = self.effect_id();
        let (entries, results) = self.holding(&clearing);
        self.outbox.push_back(Effect::Archive {
            id,
            entries,
            results: Some(results),
        });
        self.state = EngineState::Archiving(id, Box::new(clearing));
        true
    }

    fn tell_economized(&mut self, economy: Option<EconomyRecord>) {
        if let Some(record) = economy {
            self.notify(Event::Economized(Box::new(record)));
        }
    }

    /// The record of the results that requests ask the provider to drop from its cache from now on (M7); nothing is
    /// cleared.
    pub(super) fn cache_edits_line(
        &self,
        stamp: LineStamp<'_>,
        parent: Option<&str>,
        calls: &[String],
        saved: u64,
    ) -> Result<Bytes, LineError> {
        let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
        boundary::ClearingRecord {
            cache_edits: Some(&calls),
            ..self.cache_edits_record(stamp, parent, saved)
        }
        .line()
    }

    /// A record of cache edits that names no results yet.
    fn cache_edits_record<'a>(
        &'a self,
        stamp: LineStamp<'a>,
        parent: Option<&'a str>,
        saved: u64,
    ) -> boundary::ClearingRecord<'a> {
        boundary::ClearingRecord {
            envelope: self.config.identity.envelope(),
            stamp,
            parent,
            trigger: CompactionTrigger::Auto,
            pre_tokens: self.used(),
            tokens_saved: saved,
            tool_ids: &[],
            attachments: &[],
            cache_edits: None,
            report: None,
        }
    }

    /// Whether the provider still holds the part that the last request wrote, judging by its lifetime.
    fn cache_state(&self, now: Timestamp) -> CacheState {
        let ttl = self
            .assembly
            .as_ref()
            .and_then(|assembly| assembly.prefix().latched.ttl);
        let idle = self.live.last_reply().map(|last| now.duration_since(last));
        match (ttl, idle, self.outdated) {
            (Some(ttl), Some(idle), None) if idle.as_secs() < ttl.seconds() => CacheState::Warm,
            _ => CacheState::Cold,
        }
    }

    /// The entries that hold the cleared results, with the calls that they answer.
    fn holding(&self, clearing: &PlannedClearing) -> (Vec<Entry>, Vec<String>) {
        let calls: Vec<String> = clearing
            .results
            .iter()
            .map(|result| result.call.clone())
            .collect();
        let ids: Set<Id> = calls.iter().map(|call| Id::of(call)).collect();
        let holds = |entry: &Entry| {
            let view = entry.view();
            let mut blocks = view.facets.blocks.iter();
            blocks.any(|block| {
                matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult)
                    && view.block_id(block).is_some_and(|id| ids.contains(&id))
            })
        };
        let entries = self.live.entries().iter().map(|kept| &kept.entry);
        (
            entries.filter(|entry| holds(entry)).cloned().collect(),
            calls,
        )
    }

    /// Records a clearing whose results are safe; `archived` of them are in the archive.
    pub(super) fn archived(&mut self, clearing: PlannedClearing, archived: u64, now: Timestamp) {
        let before = self.used();
        let saved = clearing.saved.unpadded();
        let count = clearing.results.len() as u64;
        let report = LossReport {
            tokens: ViewTokens {
                before,
                after: before.saturating_sub(saved),
            },
            results: ResultLoss {
                cleared: count,
                archived,
            },
            ..LossReport::default()
        };
        let report = serde_json::to_value(&report).ok();
        let calls: Vec<&str> = clearing
            .results
            .iter()
            .map(|result| result.call.as_str())
            .collect();
        let attachments: Vec<&str> = clearing.attachments.iter().map(String::as_str).collect();
        let uuid = self.ids.next_uuid();
        let economy = self.economy.clearing.take();
        let line = boundary::ClearingRecord {
            envelope: self.config.identity.envelope(),
            stamp: LineStamp {
                uuid: &uuid,
                timestamp: now,
            },
            parent: self.live.newest(),
            trigger: CompactionTrigger::Auto,
            pre_tokens: before,
            tokens_saved: saved,
            tool_ids: &calls,
            attachments: &attachments,
            cache_edits: None,
            report: report.as_ref(),
        }
        .line_with(economy.as_ref().map(EconomyRecord::to_boundary).as_ref());
        match line {
            Ok(line) => {
                self.notify(Event::MicroCompacted {
                    reason: clearing.reason,
                    results: calls.len(),
                    saved,
                    calls: calls.iter().map(|call| (*call).to_owned()).collect(),
                });
                self.tell_economized(economy);
                self.persist(vec![line], AfterPersist::Cleared);
            }
            // The results stay in the window.
            Err(_) => self.step(now),
        }
    }
}
