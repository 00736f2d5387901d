//! Tests what is decided about a request before it is sent and after it was answered, case by case; `machine` tests
//! what holds in any order.

use jiff::{SignedDuration, Timestamp};
use longhaul_core::economy::{EconomyPolicy, PrefixWarmth, SummaryForecast};
use longhaul_core::engine::SummaryTiming;
use longhaul_core::history::{
    AnsweredRequest, AttemptOccasion, BeginningChoice, BeginningOrigin, BeginningUse,
    BreakpointSetter, CachingFacts, FormerBeginning, FoundBeginning, HistoryPart, HistoryState,
    MeasuredContinuation, MeasuredReply, MessagesAtHand, NotesAtHand, OverflowEvidence,
    OversizedRequest, PreparedPrefix, ReplyFollowUp, RequestPlace, RequestStep, RoomNeed,
    SentElsewhere, SummaryPrice, UnansweredRequest, conversation_cache, room_limit, room_need,
    threshold_distance, worked_on,
};
use longhaul_core::micro::MicroLimits;
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::prompt::Ttl;
use longhaul_core::window::Switches;

use super::{SIZE, answered, window};

fn sonnet() -> ModelSpec {
    (*ModelTable::builtin().resolve("claude-sonnet-4-6").spec).clone()
}

#[test]
fn v5_a_conversation_is_cached_from_the_request_on_that_has_breakpoints() {
    let model = sonnet();
    let warmth = |setter, place, view, idle_seconds| {
        let cache = conversation_cache(&CachingFacts {
            setter,
            place,
            model: &model,
            view,
            ttl: Ttl::FiveMinutes,
            idle_seconds,
        });
        (cache.billed, cache.next)
    };
    let (first, later) = (RequestPlace::First, RequestPlace::Later);
    let uncached = (PrefixWarmth::Uncached, PrefixWarmth::Uncached);
    let hot = (PrefixWarmth::Hot, PrefixWarmth::Hot);
    let late = BreakpointSetter::GatewayFromSecond;
    assert_eq!(warmth(late, first, 50_000, None), uncached);
    assert_eq!(warmth(late, later, 50_000, None), hot);
    for setter in [
        BreakpointSetter::Nobody,
        BreakpointSetter::Client,
        BreakpointSetter::Gateway,
    ] {
        assert_eq!(warmth(setter, first, 50_000, None), hot, "{setter:?}");
        let small = model.cache_minimum - 1;
        assert_eq!(warmth(setter, later, small, None), uncached);
        assert_eq!(warmth(setter, later, small + 1, None), hot);
    }
    let client = BreakpointSetter::Client;
    let cold = (PrefixWarmth::Hot, PrefixWarmth::Cold);
    assert_eq!(warmth(client, later, 50_000, Some(299)), hot);
    assert_eq!(warmth(client, later, 50_000, Some(300)), cold);
    // A clock that went back says nothing.
    assert_eq!(warmth(client, later, 50_000, Some(-9_000)), hot);
}

#[test]
fn x5_a_replacement_made_ahead_waits_while_the_former_one_fits() {
    let mut state = answered(&[50_000]);
    state.measured.beginning = Some(7);
    let found = FoundBeginning {
        beginning: 9,
        origin: BeginningOrigin::Ahead,
        used: BeginningUse::Prepared,
        sent_elsewhere: SentElsewhere::No,
    };
    let choose = |found: FoundBeginning| state.choose_beginning(Some(7), &found);
    assert_eq!(choose(found), BeginningChoice::FormerWhileItFits);
    for other in [
        FoundBeginning {
            beginning: 7,
            ..found
        },
        FoundBeginning {
            origin: BeginningOrigin::Price,
            ..found
        },
        FoundBeginning {
            origin: BeginningOrigin::Waited,
            ..found
        },
        // What was thought since may be bound to it (N2).
        FoundBeginning {
            used: BeginningUse::Sent,
            ..found
        },
        FoundBeginning {
            sent_elsewhere: SentElsewhere::Possibly,
            ..found
        },
    ] {
        assert_eq!(choose(other), BeginningChoice::Found, "{other:?}");
    }
    let unknown = HistoryState::default();
    let choice = unknown.choose_beginning(Some(7), &found);
    assert_eq!(choice, BeginningChoice::Found, "nothing was measured");

    let window = window(SIZE);
    let keeps = |former: FormerBeginning| state.keeps_former(&former, &window);
    let fits = FormerBeginning {
        beginning: Some(7),
        continuation: MeasuredContinuation::Continues,
        expected: window.auto_compact - 1,
    };
    assert_eq!(keeps(fits), PreparedPrefix::HeldBack);
    for other in [
        FormerBeginning {
            expected: window.auto_compact,
            ..fits
        },
        FormerBeginning {
            beginning: None,
            ..fits
        },
        FormerBeginning {
            continuation: MeasuredContinuation::Differs,
            ..fits
        },
    ] {
        assert_eq!(keeps(other), PreparedPrefix::None, "{other:?}");
    }
}

#[test]
fn u3_results_are_cleared_after_a_rest_only_where_nothing_is_decided_by_price() {
    let mut state = answered(&[50_000]);
    let now = Timestamp::constant(1_800_000_000, 0);
    state.measured.answered = Some(now - SignedDuration::from_hours(2));
    let limits = MicroLimits::default();
    let step = |policy, prepared, switches: Switches, now| {
        state.before_request(policy, prepared, (&switches, &limits), now)
    };
    let (off, clear) = (EconomyPolicy::Off, EconomyPolicy::Clear);
    let (held_back, none) = (PreparedPrefix::HeldBack, PreparedPrefix::None);
    let on = Switches::default();
    assert_eq!(step(off, none, on, now), RequestStep::ClearAfterRest);
    assert_eq!(step(off, held_back, on, now), RequestStep::ClearAfterRest);
    let without = Switches { micro: false, ..on };
    assert_eq!(step(off, none, without, now), RequestStep::Nothing);
    let earlier = now - SignedDuration::from_hours(9);
    assert_eq!(step(off, none, on, earlier), RequestStep::Nothing);
    let by_price = RequestStep::DecideByPrice(clear);
    assert_eq!(step(clear, none, on, now), by_price);
    assert_eq!(step(clear, held_back, on, now), RequestStep::Nothing);
}

#[test]
fn x8_room_is_made_at_the_limit_or_at_the_threshold_where_nothing_is_made_ahead() {
    let window = window(SIZE);
    let on = Switches::default();
    let cases = [
        (SummaryTiming::Ahead, window.blocking),
        (SummaryTiming::WhenFull, window.auto_compact),
    ];
    for (timing, limit) in cases {
        assert_eq!(room_limit(&window, timing), limit);
        let need = |expected, switches| room_need(expected, &window, timing, &switches);
        assert_eq!(need(limit, on), RoomNeed::MakeRoom);
        assert_eq!(need(limit - 1, on), RoomNeed::None);
        let one = Switches {
            automatic: false,
            ..on
        };
        assert_eq!(need(limit, one), RoomNeed::MakeRoom, "results are cleared");
        let neither = Switches {
            micro: false,
            ..one
        };
        assert_eq!(need(limit, neither), RoomNeed::None);
    }
}

#[test]
fn v4_v5_the_newest_messages_stay_where_that_is_possible() {
    let window = window(SIZE);
    let full = AttemptOccasion::Full(OversizedRequest {
        refused: OverflowEvidence::Expected,
        tries: 0,
        limit: None,
    });
    let parts = [HistoryPart::BeforeNewest, HistoryPart::Whole];
    assert_eq!(worked_on(&full, &window), parts);
    let priced = worked_on(&AttemptOccasion::Price, &window);
    let least = window
        .scale()
        .apply(longhaul_core::economy::VERBATIM_TOKENS);
    assert_eq!(priced, [HistoryPart::BeforeTokens(least)]);
    for occasion in [AttemptOccasion::Ahead, AttemptOccasion::Idle] {
        assert_eq!(worked_on(&occasion, &window), [HistoryPart::Whole]);
    }
}

#[test]
fn v3_the_threshold_is_as_far_as_there_is_room_and_has_the_price_of_its_summary() {
    let window = window(SIZE);
    let forecast = SummaryForecast {
        output: 4_000,
        view_after: 20_000,
    };
    let near = threshold_distance(&window, window.auto_compact - 5, 700, forecast);
    assert_eq!(
        (near.room, near.growth, near.summary),
        (5, 700, Some(forecast))
    );
    let beyond = threshold_distance(&window, window.auto_compact + 5, 700, forecast);
    assert_eq!(beyond.room, 0);
}

/// What follows the answers of a history whose window holds so many tokens.
fn follow_up(used: u64, change: impl FnOnce(&mut AnsweredRequest<'_>)) -> ReplyFollowUp {
    let (window, switches) = (window(SIZE), Switches::default());
    let mut request = AnsweredRequest {
        window: Some(&window),
        switches: &switches,
        timing: SummaryTiming::Ahead,
        messages: MessagesAtHand::Kept,
        notes: NotesAtHand::Off,
        price: SummaryPrice::NotEarned,
    };
    change(&mut request);
    answered(&[used - 1_000, used]).after_reply(&request)
}

#[test]
fn x5_a_history_is_made_smaller_ahead_by_price_or_not_at_all() {
    let full = window(SIZE).auto_compact;
    assert_eq!(follow_up(full, |_| {}), ReplyFollowUp::CompactAhead);
    assert_eq!(follow_up(10_000, |_| {}), ReplyFollowUp::Nothing);
    let pays = |request: &mut AnsweredRequest<'_>| request.price = SummaryPrice::Pays;
    assert_eq!(follow_up(10_000, pays), ReplyFollowUp::SummarizeByPrice);
    assert_eq!(follow_up(full, pays), ReplyFollowUp::CompactAhead);
    let when_full = |request: &mut AnsweredRequest<'_>| request.timing = SummaryTiming::WhenFull;
    assert_eq!(follow_up(full, when_full), ReplyFollowUp::Nothing);
    let unmanaged = |request: &mut AnsweredRequest<'_>| request.window = None;
    assert_eq!(follow_up(full, unmanaged), ReplyFollowUp::Nothing);
    let dropped = |request: &mut AnsweredRequest<'_>| {
        request.messages = MessagesAtHand::Dropped;
        request.price = SummaryPrice::Pays;
    };
    assert_eq!(follow_up(full, dropped), ReplyFollowUp::Nothing);
    let noted = |request: &mut AnsweredRequest<'_>| request.notes = NotesAtHand::None;
    assert_eq!(follow_up(10_000, noted), ReplyFollowUp::TakeNotes);
    // Fresh notes take no time, so they are used later.
    let fresh = |request: &mut AnsweredRequest<'_>| request.notes = NotesAtHand::Fresh;
    let early = full - full / 8 - 1;
    assert_eq!(follow_up(early, fresh), ReplyFollowUp::TakeNotes);
    assert_eq!(follow_up(early + 1, fresh), ReplyFollowUp::CompactAhead);
    let off = Switches {
        notes: false,
        automatic: false,
        ..Switches::default()
    };
    let (window, state) = (window(SIZE), answered(&[10_000]));
    let request = AnsweredRequest {
        window: Some(&window),
        switches: &off,
        timing: SummaryTiming::Ahead,
        messages: MessagesAtHand::Kept,
        notes: NotesAtHand::None,
        price: SummaryPrice::Pays,
    };
    assert_eq!(state.after_reply(&request), ReplyFollowUp::Nothing);
}

#[test]
fn x8_messages_are_kept_until_the_answer_where_something_may_be_made_of_them() {
    let window = window(SIZE);
    let half = window.auto_compact / 2;
    let sent = UnansweredRequest {
        window: Some(&window),
        bytes: half - 1,
        notes: NotesAtHand::Off,
        price: SummaryPrice::NotEarned,
    };
    let needed = |used: u64, sent: UnansweredRequest<'_>| {
        let mut state = HistoryState::default();
        state.measured = MeasuredReply {
            used,
            ..MeasuredReply::default()
        };
        state.may_need_messages(&sent)
    };
    assert_eq!(needed(half - 1, sent), MessagesAtHand::Dropped);
    assert_eq!(needed(half, sent), MessagesAtHand::Kept);
    for kept in [
        UnansweredRequest {
            bytes: half,
            ..sent
        },
        UnansweredRequest {
            price: SummaryPrice::Pays,
            ..sent
        },
        UnansweredRequest {
            notes: NotesAtHand::None,
            ..sent
        },
    ] {
        assert_eq!(needed(0, kept), MessagesAtHand::Kept, "{kept:?}");
    }
    let unmanaged = UnansweredRequest {
        window: None,
        bytes: u64::MAX,
        ..sent
    };
    assert_eq!(needed(half, unmanaged), MessagesAtHand::Dropped);
}
