//! The course of a turn (O1, O3, O5): clear stale results, compact if necessary, write what must be on disk, ask the
//! model, write its reply.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::compaction_in_progress::AfterCompaction;
use super::effect::{Effect, ModelRequest, Urgency};
use super::event::{Event, PrefixChangeTime};
use super::input::{EffectFailure, EffectFailureKind, EffectOutcome, ModelReply, ReplyEnding};
use super::line::{self, NewEntry};
use super::reduce::AfterAddition;
use super::result::{CallFailure, CallResult};
use super::{AfterPersist, CacheEditSupport, Engine, EngineState, ReplyDelivery, deletion};
use crate::boundary::LineStamp;
use crate::cache::{
    CacheBreakpoint, CacheVerdict, FingerprintMessages, RequestFingerprint, WatchedCallId,
};
use crate::message::{Entry, PrefixEntryError, ReductionRecord, Usage};
use crate::micro::native::ProviderClearing;
use crate::plan::{self, NextStep, PlanSituation};
use crate::prompt::{
    NewEntryStamp, PrefixReason, PriorRendering, RenderingStart, RequestAssembly, RequestKind,
    RequestNotReady, RequestPrefix,
};
use crate::window::{SwitchVerdict as Allowed, SwitchableAction};

/// The message for a call that comes while another one is in progress.
const UNDER_WAY: &str = "something is still under way";

/// What has happened in this turn.
#[derive(Debug, Default)]
pub(super) struct TurnProgress {
    /// The turn's id, for tracking.
    pub(super) id: String,
    /// Results were cleared or need not be.
    pub(super) cleared: bool,
    /// A compaction was tried and did not help.
    pub(super) tried: bool,
    /// A summary pays and is to be made in this turn.
    pub(super) pays: Option<crate::economy::EconomyRecord>,
    /// A request was too long or its reply ran out of room, and the conversation was compacted for it; this happens
    /// once per turn.
    pub(super) recovered: bool,
    /// The provider refused thinking and all of it was given up; this happens once per turn.
    pub(super) thinking_dropped: bool,
    /// The provider's failure for the request that was too long.
    pub(super) too_long: Option<EffectFailure>,
    /// The provider's token count of the request that was too long, if it said so.
    pub(super) counted: Option<u64>,
    /// A reply that ran out of room, while the conversation is made smaller for another attempt.
    pub(super) withheld: Option<Box<ModelReply>>,
}

/// A reply that is being written to disk.
#[derive(Debug)]
pub(super) struct PendingReply {
    uuid: String,
    usage: Usage,
    /// The call that it answers. `None` if the call is judged already.
    call: Option<WatchedCallId>,
    applied: ProviderClearing,
}

/// The uuid of the last of these lines that has one.
fn last_uuid(lines: &[Bytes]) -> Option<String> {
    lines.iter().rev().find_map(|line| {
        let entry = Entry::read(line.clone()).ok()?;
        let view = entry.view();
        let uuid = view.text(view.facets.uuid);
        view.facets.uuid.is_present().then(|| uuid.into_owned())
    })
}

/// The cache-break detector's view of a request prefix.
fn watched(head: &RequestPrefix) -> crate::cache::PrefixFingerprint {
    let part = |raw: &RawValue| Bytes::copy_from_slice(raw.get().as_bytes());
    let latched = &head.latched;
    let read = crate::cache::PrefixFingerprint::of_parts(
        &part(&head.system),
        &part(&head.tools),
        &part(&latched.body),
        latched.betas.iter().map(String::as_str),
    );
    // Valid JSON can always be read.
    read.unwrap_or_default()
}

impl Engine {
    /// Adds the host's entries to the conversation. They count once they are on disk.
    pub(super) fn add(&mut self, entries: &[NewEntry], now: Timestamp) {
        if !matches!(self.state, EngineState::Idle) {
            // The awaited reply was requested without them, and its thinking may be bound to what was sent.
            return self.queued.extend_from_slice(entries);
        }
        let added = self.added_lines(entries, now);
        self.write_added(added, AfterAddition::Report);
    }

    /// An entry of the host as a transcript line. Fails with the reason why it cannot be written.
    pub(super) fn added_line(
        &self,
        uuid: &str,
        parent: Option<&str>,
        new: &NewEntry,
        reductions: &[ReductionRecord],
        now: Timestamp,
    ) -> Result<Bytes, String> {
        let stamp = LineStamp {
            uuid,
            timestamp: now,
        };
        let envelope = self.config.identity.envelope();
        let line = line::added(envelope, stamp, parent, new, reductions);
        line.map_err(|error| error.to_string())
    }

    /// The parent of the next entry: the newest one, even if it is not on disk yet.
    pub(super) fn newest_uuid(&self) -> Option<String> {
        last_uuid(&self.unwritten).or_else(|| self.live.newest().map(str::to_owned))
    }

    pub(super) fn begin_turn(&mut self, now: Timestamp) {
        if !matches!(self.state, EngineState::Idle) {
            return self.fail_call(CallFailure::NotAnswered(EffectFailure::other(UNDER_WAY)));
        }
        self.tracking.turn();
        self.turn = TurnProgress {
            id: self.ids.next_uuid(),
            ..TurnProgress::default()
        };
        self.step(now);
    }

    /// Performs the next step before the request can be sent.
    pub(super) fn step(&mut self, now: Timestamp) {
        if self.is_cancelled() {
            return self.turn_cancelled();
        }
        if !self.unwritten.is_empty() {
            return self.persist(Vec::new(), AfterPersist::CaughtUp);
        }
        if !self.turn.cleared {
            self.turn.cleared = true;
            if self.clear(now) {
                return;
            }
        }
        if self.folds() && self.fold_if_due(now) {
            return;
        }
        let status = self.status();
        let situation = PlanSituation {
            status: &status,
            switches: &self.config.switches,
            source: &self.config.source,
            owner: self.config.owner,
            breaker: self.tracking.breaker(),
            tried: self.turn.tried || self.rests_from_thresholds(),
        };
        match plan::next(&situation) {
            NextStep::Compact(way) => self.compact_by_itself(way, now),
            NextStep::Refuse(refusal) => {
                let message = refusal.sentence(&status);
                self.notify(Event::Refused {
                    message: message.clone(),
                });
                self.fail_call(CallFailure::Refused(message));
            }
            NextStep::Send if self.must_shrink() => self.compact_reactively(now),
            NextStep::Send if self.summarize_by_price(now) => {}
            NextStep::Send => match self.before_sending(now) {
                Ok(lines) if lines.is_empty() => self.send(now),
                Ok(lines) => self.persist(lines, AfterPersist::Send),
                Err(error) => self.turn_failed(EffectFailure::other(error.to_string())),
            },
        }
    }

    /// Whether the last reply ran out of room and nothing has been done about it yet (O3).
    fn must_shrink(&self) -> bool {
        self.live.window_exceeded() && !self.turn.tried && self.may_recover()
    }

    /// Whether the conversation may be compacted because the provider has no room for it.
    fn may_recover(&self) -> bool {
        self.config.switches.decide(SwitchableAction::Reactive) == Allowed::Allowed
    }

    /// Makes sure that there is a rendering, and returns the lines that must be on disk before a request.
    pub(super) fn before_sending(
        &mut self,
        now: Timestamp,
    ) -> Result<Vec<Bytes>, PrefixEntryError> {
        let changed = self
            .assembly
            .as_ref()
            .and_then(|assembly| assembly.prefix().difference(&self.prefix));
        let reason = match &self.assembly {
            None => Some(PrefixReason::First),
            Some(assembly) if assembly.must_begin_anew() => Some(PrefixReason::Cleared),
            Some(_) => self.outdated.or(changed),
        };
        if let Some(what) = changed {
            let from = PrefixChangeTime::NextRequest;
            self.notify(Event::PrefixChanged { what, from });
        }
        if let Some(reason) = reason {
            self.begin_rendering(reason);
        }
        let uuid = self.ids.next_uuid();
        let parent = self.newest_uuid();
        let mut lines = match &self.assembly {
            Some(assembly) => assembly.entries_before_request(NewEntryStamp {
                session_id: &self.config.identity.session_id,
                uuid: &uuid,
                parent: parent.as_deref(),
                timestamp: now,
            })?,
            None => Vec::new(),
        };
        // A new rendering is not in any cache, so there is nothing to drop from it.
        if reason.is_some() && !self.live.cache_edits().is_empty() {
            let parent = last_uuid(&lines).or(parent);
            lines.extend(self.no_cache_edits(parent.as_deref(), now));
        }
        Ok(lines)
    }

    /// The record that requests no longer ask the provider to drop anything.
    fn no_cache_edits(&mut self, parent: Option<&str>, now: Timestamp) -> Option<Bytes> {
        let uuid = self.ids.next_uuid();
        let stamp = LineStamp {
            uuid: &uuid,
            timestamp: now,
        };
        self.cache_edits_line(stamp, parent, &[], 0).ok()
    }

    /// Renders the conversation again.
    pub(super) fn begin_rendering(&mut self, reason: PrefixReason) {
        let before = match &self.assembly {
            Some(assembly) => assembly.as_predecessor(),
            None => PriorRendering::None,
        };
        let beginning = RenderingStart {
            before,
            head: self.prefix.clone(),
            reason,
            binding: self.config.model.thinking.binding,
        };
        let assembly = RequestAssembly::begin(beginning, self.live.views());
        self.assembly = Some(assembly);
        self.outdated = None;
        self.generation += 1;
        self.watched_prefix = None;
        if let PrefixReason::Cleared | PrefixReason::Rewound | PrefixReason::Thinking = reason {
            // This break is planned: it is recorded in the transcript.
            self.watch.compacted(self.config.source.as_str());
        }
    }

    pub(super) fn send(&mut self, now: Timestamp) {
        let more = self.cache_edits();
        let Some(assembly) = &mut self.assembly else {
            return;
        };
        let assembled = match assembly.request(RequestKind::Main, more.as_deref()) {
            Ok(assembled) => assembled,
            Err(RequestNotReady::NothingAsked) => {
                let why = "there is nothing to answer: say something first";
                return self.turn_failed(EffectFailure::other(why));
            }
            Err(error) => return self.turn_failed(EffectFailure::other(error.to_string())),
        };
        let head = self
            .watched_prefix
            .get_or_insert_with(|| Arc::new(watched(assembly.prefix())));
        let ttl = assembly.prefix().latched.ttl.unwrap_or_default();
        let marks = assembled.breakpoints.blocks().iter();
        let rendering = assembly.rendering();
        let call = self.watch.before(RequestFingerprint {
            source: self.config.source.as_str().to_owned(),
            started: now,
            prefix: head.clone(),
            flags: self.modes.clone(),
            messages: FingerprintMessages::Rendered {
                generation: self.generation,
                buffer: rendering.buffer(),
                blocks: rendering.blocks(),
                messages: rendering.messages(),
            },
            breakpoints: marks
                .map(|at| (*at as usize, CacheBreakpoint { ttl, scope: None }))
                .collect(),
            prefix_replacement: None,
        });
        let betas = assembly.prefix().latched.betas.clone();
        let id = self.effect_id();
        self.outbox.push_back(Effect::Send {
            id,
            request: ModelRequest {
                source: self.config.source.clone(),
                body: assembled.slices,
                betas,
                urgency: Urgency::Awaited,
            },
        });
        self.state = EngineState::Sending(id, call);
    }

    /// Results that every request asks the provider to drop from its cache (U4).
    pub(super) fn cache_edits(&self) -> Option<Box<RawValue>> {
        if self.config.cache_edits == CacheEditSupport::Unsupported {
            return None;
        }
        self.cached.field()
    }

    /// Takes the outcome of a request to the model.
    pub(super) fn answered(&mut self, call: WatchedCallId, outcome: EffectOutcome, now: Timestamp) {
        let reply = match outcome {
            EffectOutcome::Replied(reply) => *reply,
            other => {
                self.watch.failed(call);
                let failed = match other {
                    EffectOutcome::Failed(failed) => failed,
                    _ => EffectFailure::of_another_kind(),
                };
                return self.not_answered(failed, now);
            }
        };
        let is_withheld = reply.ending == ReplyEnding::WindowExceeded
            && self.config.delivery == ReplyDelivery::Whole
            && self.may_recover()
            && !self.turn.recovered;
        if is_withheld {
            self.watch.failed(call);
            self.turn.recovered = true;
            self.turn.withheld = Some(Box::new(reply));
            self.compact_reactively(now);
        } else {
            self.keep_reply(reply, Some(call), now)
        }
    }

    /// Writes a reply; it is reported when it is on disk.
    pub(super) fn keep_reply(
        &mut self,
        reply: ModelReply,
        call: Option<WatchedCallId>,
        now: Timestamp,
    ) {
        let ModelReply {
            message,
            usage,
            request_id,
            applied,
            ending: _,
        } = reply;
        let uuid = self.ids.next_uuid();
        let stamp = LineStamp {
            uuid: &uuid,
            timestamp: now,
        };
        let parent = self.newest_uuid();
        let envelope = self.config.identity.envelope();
        let line = line::reply(
            envelope,
            stamp,
            parent.as_deref(),
            &message,
            request_id.as_deref(),
        );
        match line {
            Ok(line) => {
                let answer = PendingReply {
                    uuid,
                    usage,
                    call,
                    applied,
                };
                self.persist(vec![line], |lines| {
                    AfterPersist::Replied(lines, Box::new(answer))
                });
            }
            Err(error) => self.turn_failed(EffectFailure::other(error.to_string())),
        }
    }

    /// Reports a reply that is on disk, and judges the cache.
    pub(super) fn reply_persisted(&mut self, answer: PendingReply, now: Timestamp) {
        let spec = &self.config.model;
        let cost = spec.cost_of_reply(&answer.usage);
        let verdict = match answer.call {
            Some(call) => self.watch.after(call, &answer.usage, Some(spec)),
            None => CacheVerdict::Ignored,
        };
        let cleared = self.native_cleared(answer.applied);
        let mut less_read = false;
        if let CacheVerdict::Broke(finding) | CacheVerdict::Unread(finding) = verdict
            && !cleared
        {
            // Any finding says that less was read than could be.
            less_read = true;
            self.notify(Event::CacheBreak(finding));
        }
        let deleted = self.deletion.answered(&answer.usage);
        if let Some(freed) = deleted.freed {
            self.notify(freed);
        }
        let expired = match deleted.standing {
            deletion::DeletionState::Holds => false,
            deletion::DeletionState::Over => true,
            deletion::DeletionState::Untold => less_read,
        } && !self.live.cache_edits().is_empty();
        self.notify(Event::Replied {
            uuid: answer.uuid.clone(),
            usage: answer.usage,
            cost,
        });
        self.finish_call(CallResult::Replied { uuid: answer.uuid });
        self.growth.replied(self.used(), now);
        self.notes_after_reply(self.newest_calls(), now);
        self.prepare_if_due(now);
        if expired {
            // Results that were deleted by reference went with the cache: they count again (U4).
            let parent = self.newest_uuid();
            if let Some(line) = self.no_cache_edits(parent.as_deref(), now) {
                self.persist(vec![line], AfterPersist::Rest);
            }
        }
    }

    /// Reports the provider's own clearing if it differs from the previous one: then it is right that less can be read
    /// from the cache than before.
    fn native_cleared(&mut self, applied: ProviderClearing) -> bool {
        let before = std::mem::replace(&mut self.native, applied);
        let anew = applied != before && applied != ProviderClearing::default();
        if anew {
            self.notify(Event::NativeCleared {
                tool_uses: applied.tool_uses,
                thinking_turns: applied.thinking_turns,
                tokens: applied.input_tokens,
            });
        }
        anew
    }

    /// Handles a failed request. One that was too long is withheld, the conversation is compacted and the turn is tried
    /// again, once (O3).
    fn not_answered(&mut self, failed: EffectFailure, now: Timestamp) {
        match failed.kind {
            EffectFailureKind::TooLong { gap } if self.may_recover() && !self.turn.recovered => {
                self.turn.recovered = true;
                self.turn.counted = gap.map(|gap| self.config.window.size.saturating_add(gap));
                self.turn.too_long = Some(failed);
                self.compact_reactively(now);
            }
            EffectFailureKind::InvalidThinking if !self.turn.thinking_dropped => {
                self.turn.thinking_dropped = true;
                self.drop_thinking();
                self.step(now);
            }
            _ => self.turn_failed(failed),
        }
    }

    /// Sends no thinking of the conversation so far any more (N2). The next request prefix records it.
    fn drop_thinking(&mut self) {
        self.prefix.latched.thinking_stripped_through = self.live.newest().map(str::to_owned);
        self.outdated = Some(PrefixReason::Thinking);
    }

    pub(super) fn turn_failed(&mut self, failed: EffectFailure) {
        self.notify(Event::TurnFailed {
            message: failed.message.clone(),
        });
        self.fail_call(CallFailure::NotAnswered(failed));
    }

    /// Continues after a compaction, or after its failure.
    pub(super) fn after_compaction(&mut self, after: AfterCompaction, now: Timestamp) {
        match after {
            AfterCompaction::Rest => self.finish_compaction(),
            AfterCompaction::GoOn => self.step(now),
        }
    }
}
