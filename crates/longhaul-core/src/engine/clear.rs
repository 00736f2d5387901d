//! Micro-compaction during a turn (U): results are archived first, then the clearing is recorded, then the conversation
//! is rendered again.

use bytes::Bytes;
use jiff::Timestamp;

use super::effect::Effect;
use super::event::Event;
use super::{AfterPersist, CacheEditSupport, Engine, EngineState};
use crate::boundary::{self, CompactionTrigger, LineError, LineStamp};
use crate::hash::Set;
use crate::message::{BlockKind, Entry, Id};
use crate::micro::{CacheState, MicroSituation, MicroStep, PlannedClearing, choose};
use crate::report::{LossReport, ResultLoss, ViewTokens};
use crate::window::{SwitchVerdict, SwitchableAction};

impl Engine {
    /// Clears stale results, if there are any. Returns whether the turn waits for it.
    pub(super) fn clear(&mut self, now: Timestamp) -> bool {
        if self.config.switches.decide(SwitchableAction::Micro) != SwitchVerdict::Allowed {
            return false;
        }
        self.rest(now);
        let status = self.status();
        let cached = match self.config.cache_edits {
            CacheEditSupport::Supported => Some(&self.cached),
            CacheEditSupport::Unsupported => None,
        };
        let step = choose(&MicroSituation {
            results: self.live.results(),
            status: &status,
            last_reply: self.live.last_reply(),
            now,
            cache: self.cache_state(now),
            cached,
            pressure: self.config.pressure,
            limits: &self.config.micro,
        });
        match step {
            MicroStep::Nothing | MicroStep::Wait(_) => false,
            MicroStep::Delete(deletions) => {
                let saved = deletions.saved.unpadded();
                let mut calls = self.live.cache_edits().to_vec();
                let results = deletions.results.into_iter();
                let deleted: Vec<String> = results.map(|result| result.call).collect();
                calls.extend(deleted.iter().cloned());
                // If the clearing cannot be recorded, the results stay in the window.
                let uuid = self.ids.next_uuid();
                let stamp = LineStamp {
                    uuid: &uuid,
                    timestamp: now,
                };
                let line = self.cache_edits_line(stamp, self.live.newest(), &calls, saved);
                let Ok(line) = line else {
                    return false;
                };
                let source = self.config.source.as_str();
                self.watch.cache_deleted(source, saved);
                self.deletion.ask(deleted, saved);
                self.persist(vec![line], AfterPersist::Cleared);
                true
            }
            MicroStep::Clear(clearing) => {
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
            envelope: self.config.identity.envelope(),
            stamp,
            parent,
            trigger: CompactionTrigger::Auto,
            pre_tokens: self.used(),
            tokens_saved: saved,
            tool_ids: &[],
            attachments: &[],
            cache_edits: Some(&calls),
            report: None,
        }
        .line()
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
        .line();
        match line {
            Ok(line) => {
                self.notify(Event::MicroCompacted {
                    reason: clearing.reason,
                    results: calls.len(),
                    saved,
                    calls: calls.iter().map(|call| (*call).to_owned()).collect(),
                });
                self.persist(vec![line], AfterPersist::Cleared);
            }
            // The results stay in the window.
            Err(_) => self.step(now),
        }
    }
}
