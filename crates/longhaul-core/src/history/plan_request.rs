//! Decides what happens to a request before it is sent: which beginning it is sent with, whether old results are cleared
//! or all is decided by price, whether room must be made first, and which part of the history is worked on for that.
//!
//! These are the steps of one request, in their order; between them a host looks things up and performs. `after_reply`
//! decides what follows the answer, `attempt` how a history is made smaller.

use jiff::Timestamp;

use super::occasion::AttemptOccasion;
use super::state::HistoryState;
use crate::economy::{
    EconomyPolicy, PrefixWarmth, SummaryForecast, ThresholdDistance, VERBATIM_TOKENS,
};
use crate::engine::SummaryTiming;
use crate::micro::{MicroLimits, is_rested};
use crate::models::ModelSpec;
use crate::plan::prefix_warmth;
use crate::prompt::Ttl;
use crate::window::{SwitchVerdict, SwitchableAction, Switches, WindowStatus};

/// A replacement of the beginning of a history that was found for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundBeginning {
    /// The hash of the history that it replaces.
    pub beginning: u128,
    /// Why it was made.
    pub origin: BeginningOrigin,
    /// Whether it was sent before.
    pub used: BeginningUse,
    /// Whether another gateway may have sent it.
    pub sent_elsewhere: SentElsewhere,
}

/// Why a replacement was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeginningOrigin {
    /// The window was going to be full, and nobody waited.
    Ahead,
    /// It paid (V3).
    Price,
    /// A request waited for it.
    Waited,
}

/// Whether a replacement was sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeginningUse {
    /// It was only made.
    Prepared,
    /// It was sent, and what the model has thought since may be bound to it (N2).
    Sent,
}

/// Whether a replacement may have been sent by somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentElsewhere {
    /// All that was made is known here.
    No,
    /// Another gateway may have sent it.
    Possibly,
}

/// Which beginning a request is sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeginningChoice {
    /// The one that was found.
    Found,
    /// The one that was sent last, as long as the request fits with it: [`HistoryState::keeps_former`] judges that.
    FormerWhileItFits,
}

/// The beginning that was sent last, and a request with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormerBeginning {
    /// The hash of the history that is replaced by it; `None` if the history was sent whole.
    pub beginning: Option<u128>,
    /// Whether the request goes on after the point that was measured.
    pub continuation: MeasuredContinuation,
    /// The tokens that the request is expected to have with it.
    pub expected: u64,
}

/// Whether a request goes on after the point that was measured last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredContinuation {
    /// The measured request is the beginning of this one.
    Continues,
    /// The history is another one.
    Differs,
}

/// Whether a prefix that was made ahead is held back until the threshold is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreparedPrefix {
    /// It was paid for and comes into use soon.
    HeldBack,
    /// There is none.
    None,
}

/// What is done to a request, while it has room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestStep {
    /// Old results are cleared: the conversation was idle for so long that the provider's cache is cold (U3).
    ClearAfterRest,
    /// What pays is decided by this policy (V3).
    DecideByPrice(EconomyPolicy),
    /// Nothing is done.
    Nothing,
}

/// Whether room is made for a request before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomNeed {
    /// The request would not fit.
    MakeRoom,
    /// It fits, or nothing may be done about it.
    None,
}

/// Who sets the cache breakpoints of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakpointSetter {
    /// Nobody: the provider caches without.
    Nobody,
    /// The client.
    Client,
    /// The gateway, in each request.
    Gateway,
    /// The gateway, because the client sets none: from the second request on, because most first ones are not continued.
    GatewayFromSecond,
}

/// Which request of a conversation it is, as its own messages show: another gateway may have sent earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPlace {
    /// The model has not answered yet.
    First,
    /// The model has answered before.
    Later,
}

/// What the provider's cache does for a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationCache {
    /// What it has done for the requests up to now: they followed each other.
    pub billed: PrefixWarmth,
    /// What it does for the next one.
    pub next: PrefixWarmth,
}

/// What is known about the caching of a request.
#[derive(Debug, Clone, Copy)]
pub struct CachingFacts<'a> {
    /// Who sets the breakpoints.
    pub setter: BreakpointSetter,
    /// Which request it is.
    pub place: RequestPlace,
    /// The model.
    pub model: &'a ModelSpec,
    /// The tokens of what is sent.
    pub view: u64,
    /// The lifetime of cache entries.
    pub ttl: Ttl,
    /// The seconds since the start of the conversation's last request, if that is known.
    pub idle_seconds: Option<i64>,
}

impl HistoryState {
    /// Decides which beginning a request is sent with. `former` is the one of the conversation's last request, `None` if
    /// that was sent whole.
    ///
    /// A replacement that was made ahead waits until the threshold is reached: until then the beginning stays as it was
    /// sent last, and so does the cache. One that was sent before does not wait: a client that has gone back goes on where
    /// it was. Nor does one that another gateway may have sent, one that pays, or one that a request waited for.
    pub fn choose_beginning(
        &self,
        former: Option<u128>,
        found: &FoundBeginning,
    ) -> BeginningChoice {
        let may_wait = found.origin == BeginningOrigin::Ahead
            && found.used == BeginningUse::Prepared
            && found.sent_elsewhere == SentElsewhere::No
            && former != Some(found.beginning)
            && self.measured.used > 0;
        if may_wait {
            BeginningChoice::FormerWhileItFits
        } else {
            BeginningChoice::Found
        }
    }

    /// Whether a request is sent with the beginning that was sent last, although a newer one was made ahead: what it
    /// will have is known from a measurement, and has room.
    pub fn keeps_former(&self, former: &FormerBeginning, window: &WindowStatus) -> PreparedPrefix {
        let was_measured = self.measured.beginning == former.beginning
            && former.continuation == MeasuredContinuation::Continues;
        if was_measured && former.expected < window.auto_compact {
            PreparedPrefix::HeldBack
        } else {
            PreparedPrefix::None
        }
    }

    /// Decides what is done to a request while it has room.
    pub fn before_request(
        &self,
        policy: EconomyPolicy,
        prepared: PreparedPrefix,
        (switches, limits): (&Switches, &MicroLimits),
        now: Timestamp,
    ) -> RequestStep {
        match (policy, prepared) {
            (EconomyPolicy::Off, _) => {
                let may = switches.decide(SwitchableAction::Micro) == SwitchVerdict::Allowed;
                if may && is_rested(limits, self.measured.answered, now) {
                    RequestStep::ClearAfterRest
                } else {
                    RequestStep::Nothing
                }
            }
            // It was paid for: what is cleared before it comes into use is not earned any more.
            (_, PreparedPrefix::HeldBack) => RequestStep::Nothing,
            (policy, PreparedPrefix::None) => RequestStep::DecideByPrice(policy),
        }
    }
}

/// The number of tokens from which on a request does not fit. Where nothing is made ahead, compaction happens when the
/// threshold is reached; else the room up to the limit is left for the time that it takes.
pub fn room_limit(window: &WindowStatus, timing: SummaryTiming) -> u64 {
    match timing {
        SummaryTiming::Ahead => window.blocking,
        SummaryTiming::WhenFull => window.auto_compact,
    }
}

/// Decides whether room is made before a request that is expected to have so many tokens.
pub fn room_need(
    expected: u64,
    window: &WindowStatus,
    timing: SummaryTiming,
    switches: &Switches,
) -> RoomNeed {
    let may = [SwitchableAction::Automatic, SwitchableAction::Micro]
        .iter()
        .any(|action| switches.decide(*action) == SwitchVerdict::Allowed);
    if may && expected >= room_limit(window, timing) {
        RoomNeed::MakeRoom
    } else {
        RoomNeed::None
    }
}

/// How far the threshold is at which a summary is made.
///
/// The rule leaves the price of that summary out where notes or a summary made ahead may be used instead. Here a summary
/// made ahead is the threshold's own: it costs the forecast, whether it is made before the threshold or at it. Notes that
/// happen to be fresh would be cheaper; the forecast is given then, too, because what is known of the notes here is not
/// known to other gateways, and because the policies were tuned by recorded sessions with it (docs/economics.md).
pub fn threshold_distance(
    window: &WindowStatus,
    view: u64,
    growth: u64,
    forecast: SummaryForecast,
) -> ThresholdDistance {
    ThresholdDistance {
        room: window.auto_compact.saturating_sub(view),
        growth,
        summary: Some(forecast),
    }
}

/// What the provider's cache does for a conversation.
pub fn conversation_cache(facts: &CachingFacts<'_>) -> ConversationCache {
    let is_left_alone =
        facts.setter == BreakpointSetter::GatewayFromSecond && facts.place == RequestPlace::First;
    let next = match is_left_alone {
        true => PrefixWarmth::Uncached,
        false => prefix_warmth(facts.view, facts.model, facts.ttl, facts.idle_seconds),
    };
    let billed = match next {
        PrefixWarmth::Uncached => PrefixWarmth::Uncached,
        PrefixWarmth::Hot | PrefixWarmth::Cold => PrefixWarmth::Hot,
    };
    ConversationCache { billed, next }
}

/// A part of a history that an attempt works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryPart {
    /// Everything but the model's newest reply and the answers to it, which the model has not seen yet.
    BeforeNewest,
    /// Everything but the newest messages with this many tokens, which stay word for word.
    BeforeTokens(u64),
    /// Everything that was said.
    Whole,
}

/// Returns the parts that an attempt works on, in this order: the first one that exists and gives a replacement is used.
pub fn worked_on(occasion: &AttemptOccasion, window: &WindowStatus) -> Vec<HistoryPart> {
    match occasion {
        // However little room the newest messages leave: nobody has read them, and no summary could stand for them. What
        // is too long of them was shortened before (`newest`).
        AttemptOccasion::Full(_) => vec![HistoryPart::BeforeNewest, HistoryPart::Whole],
        // What is decided by price leaves the newest messages word for word (V5).
        AttemptOccasion::Price => {
            let least = window.scale().apply(VERBATIM_TOKENS);
            vec![HistoryPart::BeforeTokens(least)]
        }
        AttemptOccasion::Ahead | AttemptOccasion::Idle => vec![HistoryPart::Whole],
    }
}
