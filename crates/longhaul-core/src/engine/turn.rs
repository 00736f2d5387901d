//! The way of a turn (O1, O3, O5): clear what is stale, compact if it must be, write what must be on disk, ask the model,
//! write its reply.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::compact::After;
use super::effect::{Effect, Outgoing, Urgency};
use super::event::{Event, PrefixFrom};
use super::input::{Ending, Failed, FailedKind, ModelReply, Outcome};
use super::line::{self, NewEntry};
use super::result::{CallFailure, CallResult};
use super::{CacheEdits, Delivery, Engine, State, Then, deletion};
use crate::boundary::Stamp;
use crate::cache::{CallId, Conversation, Fingerprint, Mark, Verdict};
use crate::message::{Entry, HeadError, Usage};
use crate::micro::native::Applied;
use crate::plan::{self, Next, Situation};
use crate::prompt::{
    Assembly, Beginning, Birth, HeadReason, NotReady, Predecessor, RequestHead, RequestKind,
};
use crate::window::{Action, Verdict as Allowed};

/// Said where a call comes while another one is not over.
const UNDER_WAY: &str = "something is still under way";

/// What has happened in this turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Its id, for tracking.
    pub(super) id: String,
    /// Results were cleared or need not be.
    pub(super) cleared: bool,
    /// A compaction was tried and did not help.
    pub(super) tried: bool,
    /// A request was too long and the conversation was compacted for it: once a turn.
    pub(super) recovered: bool,
    /// What the provider said when it was.
    pub(super) too_long: Option<Failed>,
    /// How many tokens the provider counted in the request that it found too long, where it said so.
    pub(super) counted: Option<u64>,
    /// A reply that ran out of room, while the conversation is made smaller for another.
    pub(super) withheld: Option<Box<ModelReply>>,
}

/// A reply that is on its way to disk.
#[derive(Debug)]
pub(super) struct Answer {
    uuid: String,
    usage: Usage,
    /// The call that it answers; none if that is judged already.
    call: Option<CallId>,
    applied: Applied,
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

/// What the cache watch knows of a head.
fn watched(head: &RequestHead) -> crate::cache::Head {
    let part = |raw: &RawValue| Bytes::copy_from_slice(raw.get().as_bytes());
    let latched = &head.latched;
    let read = crate::cache::Head::of_parts(
        &part(&head.system),
        &part(&head.tools),
        &part(&latched.body),
        latched.betas.iter().map(String::as_str),
    );
    // Valid JSON can always be read.
    read.unwrap_or_default()
}

impl Engine {
    /// The host adds to the conversation. It counts once it is on disk.
    pub(super) fn add(&mut self, entries: &[NewEntry], now: Timestamp) {
        if !matches!(self.state, State::Idle) {
            // A reply that is awaited was asked for without it, and its thinking may be bound to what was sent.
            return self.queued.extend_from_slice(entries);
        }
        let (lines, lost) = self.lines_of(entries, now);
        self.persist(lines, |lines| Then::Added(lines, lost));
    }

    /// What the host adds as lines of the transcript, and why the last of what cannot be written is not among them.
    pub(super) fn lines_of(
        &mut self,
        entries: &[NewEntry],
        now: Timestamp,
    ) -> (Vec<Bytes>, Option<String>) {
        let mut parent = self.newest_uuid();
        let mut lost = None;
        let mut lines = Vec::with_capacity(entries.len());
        for new in entries {
            let uuid = self.ids.next_uuid();
            let stamp = Stamp {
                uuid: &uuid,
                timestamp: now,
            };
            let envelope = self.config.identity.envelope();
            match line::added(envelope, stamp, parent.as_deref(), new) {
                Ok(line) => lines.push(line),
                Err(error) => {
                    let message = error.to_string();
                    lost = Some(message.clone());
                    self.notify(Event::NotPersisted { message });
                    continue;
                }
            }
            parent = Some(uuid);
        }
        (lines, lost)
    }

    /// The parent of the next entry: the newest one, also if it is not on disk yet.
    fn newest_uuid(&self) -> Option<String> {
        last_uuid(&self.unwritten).or_else(|| self.live.newest().map(str::to_owned))
    }

    pub(super) fn begin_turn(&mut self, now: Timestamp) {
        if !matches!(self.state, State::Idle) {
            return self.fail_call(CallFailure::NotAnswered(Failed::other(UNDER_WAY)));
        }
        self.tracking.turn();
        self.turn = Turn {
            id: self.ids.next_uuid(),
            ..Turn::default()
        };
        self.step(now);
    }

    /// The next thing to do before the request can go out.
    pub(super) fn step(&mut self, now: Timestamp) {
        if self.is_cancelled() {
            return self.turn_cancelled();
        }
        if !self.unwritten.is_empty() {
            return self.persist(Vec::new(), Then::CaughtUp);
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
        let situation = Situation {
            status: &status,
            switches: &self.config.switches,
            source: &self.config.source,
            owner: self.config.owner,
            breaker: self.tracking.breaker(),
            tried: self.turn.tried || self.rests_from_thresholds(),
        };
        match plan::next(&situation) {
            Next::Compact(way) => self.compact_by_itself(way, now),
            Next::Refuse(refusal) => {
                let message = refusal.sentence(&status);
                self.notify(Event::Refused {
                    message: message.clone(),
                });
                self.fail_call(CallFailure::Refused(message));
            }
            Next::Send if self.must_shrink() => self.compact_reactively(now),
            Next::Send => match self.before_sending(now) {
                Ok(lines) if lines.is_empty() => self.send(now),
                Ok(lines) => self.persist(lines, Then::Send),
                Err(error) => self.turn_failed(Failed::other(error.to_string())),
            },
        }
    }

    /// Whether the last reply ran out of room and nothing was done about it yet (O3).
    fn must_shrink(&self) -> bool {
        self.live.window_exceeded() && !self.turn.tried && self.may_recover()
    }

    /// Whether the conversation may be compacted because the provider has no room for it.
    fn may_recover(&self) -> bool {
        self.config.switches.decide(Action::Reactive) == Allowed::Allowed
    }

    /// Makes sure that there is a rendering, and gives the lines that must be on disk before a request.
    pub(super) fn before_sending(&mut self, now: Timestamp) -> Result<Vec<Bytes>, HeadError> {
        let changed = self
            .assembly
            .as_ref()
            .and_then(|assembly| assembly.head().difference(&self.head));
        let reason = match &self.assembly {
            None => Some(HeadReason::First),
            Some(assembly) if assembly.must_begin_anew() => Some(HeadReason::Cleared),
            Some(_) => self.outdated.or(changed),
        };
        if let Some(what) = changed {
            let from = PrefixFrom::NextRequest;
            self.notify(Event::PrefixChanged { what, from });
        }
        if let Some(reason) = reason {
            self.begin_rendering(reason);
        }
        let uuid = self.ids.next_uuid();
        let parent = self.newest_uuid();
        let mut lines = match &self.assembly {
            Some(assembly) => assembly.before_sending(Birth {
                session_id: &self.config.identity.session_id,
                uuid: &uuid,
                parent: parent.as_deref(),
                timestamp: now,
            })?,
            None => Vec::new(),
        };
        // What a new rendering sends is in no cache: there is nothing to drop from it.
        if reason.is_some() && !self.live.cache_edits().is_empty() {
            let parent = last_uuid(&lines).or(parent);
            lines.extend(self.no_cache_edits(parent.as_deref(), now));
        }
        Ok(lines)
    }

    /// The record that requests no longer ask the provider to drop anything.
    fn no_cache_edits(&mut self, parent: Option<&str>, now: Timestamp) -> Option<Bytes> {
        let uuid = self.ids.next_uuid();
        let stamp = Stamp {
            uuid: &uuid,
            timestamp: now,
        };
        self.cache_edits_line(stamp, parent, &[], 0).ok()
    }

    /// Renders the conversation anew.
    pub(super) fn begin_rendering(&mut self, reason: HeadReason) {
        let before = match &self.assembly {
            Some(assembly) => assembly.as_predecessor(),
            None => Predecessor::None,
        };
        let beginning = Beginning {
            before,
            head: self.head.clone(),
            reason,
            binding: self.config.model.thinking.binding,
        };
        let assembly = Assembly::begin(beginning, self.live.views());
        self.assembly = Some(assembly);
        self.outdated = None;
        self.generation += 1;
        self.watched_head = None;
        if let HeadReason::Cleared | HeadReason::Rewound = reason {
            // A planned break: it is recorded in the transcript.
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
            Err(NotReady::NothingAsked) => {
                let why = "there is nothing to answer: say something first";
                return self.turn_failed(Failed::other(why));
            }
            Err(error) => return self.turn_failed(Failed::other(error.to_string())),
        };
        let head = self
            .watched_head
            .get_or_insert_with(|| Arc::new(watched(assembly.head())));
        let ttl = assembly.head().latched.ttl.unwrap_or_default();
        let marks = assembled.marks.blocks().iter();
        let rendering = assembly.rendering();
        let call = self.watch.before(Fingerprint {
            source: self.config.source.as_str().to_owned(),
            started: now,
            head: head.clone(),
            flags: self.modes.clone(),
            messages: Conversation::Rendered {
                generation: self.generation,
                buffer: rendering.buffer(),
                blocks: rendering.blocks(),
                messages: rendering.messages(),
            },
            marks: marks
                .map(|at| (*at as usize, Mark { ttl, scope: None }))
                .collect(),
            rewriting: None,
        });
        let betas = assembly.head().latched.betas.clone();
        let id = self.effect_id();
        self.outbox.push_back(Effect::Send {
            id,
            request: Outgoing {
                source: self.config.source.clone(),
                body: assembled.slices,
                betas,
                urgency: Urgency::Awaited,
            },
        });
        self.state = State::Sending(id, call);
    }

    /// Results that every request asks the provider to drop from its cache (U4).
    pub(super) fn cache_edits(&self) -> Option<Box<RawValue>> {
        if self.config.cache_edits == CacheEdits::Unsupported {
            return None;
        }
        self.cached.field()
    }

    /// The model answered, or did not.
    pub(super) fn answered(&mut self, call: CallId, outcome: Outcome, now: Timestamp) {
        let reply = match outcome {
            Outcome::Replied(reply) => *reply,
            other => {
                self.watch.failed(call);
                let failed = match other {
                    Outcome::Failed(failed) => failed,
                    _ => Failed::of_another_kind(),
                };
                return self.not_answered(failed, now);
            }
        };
        let is_withheld = reply.ending == Ending::WindowExceeded
            && self.config.delivery == Delivery::Whole
            && self.may_recover()
            && !self.turn.recovered;
        match is_withheld {
            true => {
                self.watch.failed(call);
                self.turn.recovered = true;
                self.turn.withheld = Some(Box::new(reply));
                self.compact_reactively(now);
            }
            false => self.keep_reply(reply, Some(call), now),
        }
    }

    /// Writes a reply down; it is told when it is on disk.
    pub(super) fn keep_reply(&mut self, reply: ModelReply, call: Option<CallId>, now: Timestamp) {
        let ModelReply {
            message,
            usage,
            request_id,
            applied,
            ending: _,
        } = reply;
        let uuid = self.ids.next_uuid();
        let stamp = Stamp {
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
                let answer = Answer {
                    uuid,
                    usage,
                    call,
                    applied,
                };
                self.persist(vec![line], |lines| Then::Replied(lines, Box::new(answer)));
            }
            Err(error) => self.turn_failed(Failed::other(error.to_string())),
        }
    }

    /// The reply is on disk: it is told, and the cache is judged.
    pub(super) fn told(&mut self, answer: Answer, now: Timestamp) {
        let spec = &self.config.model;
        let cost = spec.cost_of_reply(&answer.usage);
        let verdict = match answer.call {
            Some(call) => self.watch.after(call, &answer.usage, Some(spec)),
            None => Verdict::Ignored,
        };
        let cleared = self.native_cleared(answer.applied);
        let mut less_read = false;
        if let Verdict::Broke(finding) | Verdict::Unread(finding) = verdict
            && !cleared
        {
            less_read = finding.to < finding.from;
            self.notify(Event::CacheBreak(finding));
        }
        let deleted = self.deletion.answered(&answer.usage);
        if let Some(freed) = deleted.freed {
            self.notify(freed);
        }
        let expired = match deleted.standing {
            deletion::Standing::Holds => false,
            deletion::Standing::Over => true,
            deletion::Standing::Untold => less_read,
        } && !self.live.cache_edits().is_empty();
        self.notify(Event::Replied {
            uuid: answer.uuid.clone(),
            usage: answer.usage,
            cost,
        });
        self.finish_call(CallResult::Replied { uuid: answer.uuid });
        self.growth.replied(self.used(), now);
        self.notes_after_reply(self.newest_calls(), now);
        self.look_ahead(now);
        if expired {
            // What was deleted by reference went with the cache: it counts again (U4).
            let parent = self.newest_uuid();
            if let Some(line) = self.no_cache_edits(parent.as_deref(), now) {
                self.persist(vec![line], Then::Rest);
            }
        }
    }

    /// Tells what the provider cleared by itself, if that is not what it had cleared before: then less can be read from
    /// the cache than before, as it must be.
    fn native_cleared(&mut self, applied: Applied) -> bool {
        let before = std::mem::replace(&mut self.native, applied);
        let anew = applied != before && applied != Applied::default();
        if anew {
            self.notify(Event::NativeCleared {
                tool_uses: applied.tool_uses,
                thinking_turns: applied.thinking_turns,
                tokens: applied.input_tokens,
            });
        }
        anew
    }

    /// A request that was too long is withheld, the conversation compacted and the turn tried again, once (O3).
    fn not_answered(&mut self, failed: Failed, now: Timestamp) {
        match failed.kind {
            FailedKind::TooLong { gap } if self.may_recover() && !self.turn.recovered => {
                self.turn.recovered = true;
                self.turn.counted = gap.map(|gap| self.config.window.size.saturating_add(gap));
                self.turn.too_long = Some(failed);
                self.compact_reactively(now);
            }
            _ => self.turn_failed(failed),
        }
    }

    pub(super) fn turn_failed(&mut self, failed: Failed) {
        self.notify(Event::TurnFailed {
            message: failed.message.clone(),
        });
        self.fail_call(CallFailure::NotAnswered(failed));
    }

    /// What follows a compaction, or its failure.
    pub(super) fn after_compaction(&mut self, after: After, now: Timestamp) {
        match after {
            After::Rest => self.finish_compaction(),
            After::GoOn => self.step(now),
        }
    }
}
