//! Tests attempts to make a history smaller: they keep to their rules, whatever the outcome of their effects.

use longhaul_core::history::{
    AttemptEffect, AttemptOccasion, HistoryAuthor, HistoryChange, HistoryState, KeptDraft,
    NoSummaryReason, OverflowEvidence, SummarySource,
};
use longhaul_core::plan::{Breaker, CompactionWorth, worth};
use longhaul_core::window::Switches;
use proptest::prelude::*;

use super::{
    Performed, SEARCHED, SIZE, Script, TimeOut, answered, asks_model, perform, script, sources,
    state_of, window,
};

proptest! {
    #[test]
    fn o2_an_attempt_ends_asks_once_and_keeps_only_what_pays(script in script()) {
        let switches = Switches {
            micro: script.micro,
            automatic: script.automatic,
            ..Switches::default()
        };
        let before = state_of(&script);
        let breaker = before.breaker();
        let Performed { effects, summary, .. } = perform(&script, before.clone(), &switches);
        let is_last = |effect: &AttemptEffect| {
            matches!(effect, AttemptEffect::Keep(_) | AttemptEffect::GiveUp)
        };
        prop_assert_eq!(effects.iter().filter(|effect| is_last(effect)).count(), 1);
        prop_assert!(effects.last().is_some_and(is_last), "{:?}", effects);

        let asked = effects.iter().filter(|effect| asks_model(effect)).count();
        let is_again = matches!(script.occasion, AttemptOccasion::Full(it) if it.tries > 0);
        if breaker == Breaker::Open || is_again || script.occasion == AttemptOccasion::Idle {
            prop_assert_eq!(asked, 0, "{:?}", effects);
        }
        // The second time is the plain request, after the first one failed.
        prop_assert!(asked <= 2, "{:?}", effects);
        if script.answers.is_ok() {
            prop_assert!(asked <= 1, "{:?}", effects);
        }
        if script.occasion == AttemptOccasion::Idle {
            prop_assert!(!effects.contains(&AttemptEffect::UseNotes));
        }
        let is_refused = matches!(
            script.occasion, AttemptOccasion::Full(it) if it.refused == OverflowEvidence::ByProvider
        );
        if !script.automatic && !is_refused {
            prop_assert!(!effects.contains(&AttemptEffect::UseNotes), "{:?}", effects);
            prop_assert_eq!(asked, 0);
        }
        if !script.micro && script.occasion != AttemptOccasion::Idle {
            prop_assert!(!effects.iter().any(|it| matches!(it, AttemptEffect::Clear(_))));
        }

        let after = |kept: KeptDraft| match kept {
            KeptDraft::Cleared => script.cleared,
            KeptDraft::Notes => script.noted,
            KeptDraft::Summary => summary,
        };
        if let Some(AttemptEffect::Keep(kept)) = effects.last() {
            let after = after(*kept);
            prop_assert!(after.is_some(), "what is kept was drafted: {:?}", effects);
            if script.occasion == AttemptOccasion::Ahead {
                let gain = worth(&window(SIZE), script.used, after.unwrap_or(u64::MAX));
                prop_assert_eq!(gain, CompactionWorth::Enough, "{:?}", effects);
            }
        }
        // Where somebody waits, a draft that fits is never thrown away.
        let fits = |after: u64| after < window(SIZE).auto_compact && after < script.used;
        if let AttemptOccasion::Full(_) = script.occasion
            && summary.is_some_and(fits)
        {
            prop_assert_eq!(effects.last(), Some(&AttemptEffect::Keep(KeptDraft::Summary)));
        }
        if effects.last() == Some(&AttemptEffect::Keep(KeptDraft::Summary)) {
            prop_assert!(summary.is_some_and(fits), "{:?}", effects);
        }
    }

    #[test]
    fn x9_extracts_come_last_and_never_where_there_is_room(script in script()) {
        let Performed { effects, .. } = perform(&script, state_of(&script), &Switches::default());
        let sources = sources(&effects);
        let is_extracts = |it: &(SummarySource, u64)| it.0 == SummarySource::Extracts;
        let extracts = sources.iter().filter(|it| is_extracts(it)).count();
        let (before, last) = sources.split_at(sources.len() - extracts);
        prop_assert!(last.iter().all(is_extracts), "{:?}", effects);
        // If they are too large, the fullest of them that fit are searched for.
        prop_assert!(extracts <= SEARCHED, "{:?}", effects);
        if script.occasion == AttemptOccasion::Price {
            prop_assert_eq!(extracts, 0, "{:?}", effects);
        }
        // Where somebody waits, they are tried before the request goes on unchanged.
        if matches!(script.occasion, AttemptOccasion::Full(_)) && effects.last() == Some(&AttemptEffect::GiveUp) {
            let is_impossible = sources.last().is_some_and(|(source, most_left)| {
                script.drafted(*source, *most_left) == Err(NoSummaryReason::Impossible)
            });
            prop_assert!(extracts > 0 || is_impossible, "{:?}", effects);
        }
        // A summary that was paid for may leave as much as the threshold allows before it is discarded, and the fullest
        // draft of it that fits is searched for.
        let aims: Vec<u64> = before.iter().map(|it| it.1).collect();
        prop_assert!(aims.len() <= 1 + SEARCHED, "{:?}", effects);
        prop_assert!(aims.iter().all(|aim| *aim <= script.window.auto_compact), "{:?}", effects);
    }

    #[test]
    fn x9_after_its_time_is_over_no_model_is_asked(script in script(), timeout in prop_oneof![
        Just(TimeOut::AtTheStart), Just(TimeOut::WhileAskedBehind), Just(TimeOut::WhileAskedPlainly)
    ]) {
        let script = Script { times_out: Some(timeout), ..script };
        let Performed { effects, .. } = perform(&script, state_of(&script), &Switches::default());
        let asked = effects.iter().rposition(asks_model);
        let is_behind = |it: &AttemptEffect| matches!(it, AttemptEffect::AskBehind(_));
        match timeout {
            TimeOut::AtTheStart => prop_assert_eq!(asked, None, "{:?}", effects),
            TimeOut::WhileAskedBehind => {
                let first = effects.iter().position(is_behind);
                prop_assert!(first.is_none() || asked == first, "{:?}", effects);
            }
            TimeOut::WhileAskedPlainly => {}
        }
        // A model that did not answer in time has failed.
        let timed_out = effects.iter().position(|it| match timeout {
            TimeOut::AtTheStart => false,
            TimeOut::WhileAskedBehind => is_behind(it),
            TimeOut::WhileAskedPlainly => asks_model(it) && !is_behind(it),
        });
        if let Some(at) = timed_out {
            let failed = AttemptEffect::Change(HistoryChange::ModelFailed);
            prop_assert_eq!(effects.get(at + 1), Some(&failed), "{:?}", effects);
        }
    }

    #[test]
    fn o2_a_model_has_failed_once_if_it_was_asked_and_wrote_nothing(script in script()) {
        let Performed { effects, .. } = perform(&script, state_of(&script), &Switches::default());
        let failed = effects.iter()
            .filter(|it| **it == AttemptEffect::Change(HistoryChange::ModelFailed))
            .count();
        let asked = effects.iter().any(asks_model);
        let answered = sources(&effects).iter().any(|it| it.0 == SummarySource::Answer);
        prop_assert!(failed <= usize::from(asked && !answered), "{:?}", effects);
        let extracts = sources(&effects).iter().any(|it| it.0 == SummarySource::Extracts);
        let wrote = answered || sources(&effects).iter().any(|(source, most_left)| {
            let is_plain = matches!(source, SummarySource::PlainRequest(_))
                && script.times_out != Some(TimeOut::WhileAskedPlainly);
            is_plain && script.drafted(*source, *most_left) != Err(NoSummaryReason::NotWritten)
        });
        if asked && extracts {
            prop_assert_eq!(failed, usize::from(!wrote), "{:?}", effects);
        }
    }

    #[test]
    fn x5_after_an_attempt_in_vain_nothing_is_due_until_more_is_there(script in script()) {
        let window = window(SIZE);
        let script = Script { occasion: AttemptOccasion::Ahead, ..script };
        let Performed { effects, state, .. } = perform(&script, state_of(&script), &Switches::default());
        let gained_nothing = effects.iter().any(|it| {
            matches!(it, AttemptEffect::Change(HistoryChange::GainedTooLittle { .. }))
        });
        if gained_nothing {
            prop_assert!(!state.is_due(&window), "{:?}", effects);
            prop_assert!(!state.is_due_with_notes(&window), "{:?}", effects);
        }
    }
}

#[test]
fn o2_after_five_extracts_the_model_is_tried_once_more() {
    let window = window(SIZE);
    let mut state = answered(&[50_000]);
    for _ in 0..3 {
        state.apply(HistoryChange::ModelFailed, &window);
    }
    assert_eq!(state.breaker(), Breaker::Open);
    let extracts = HistoryChange::Shrunk {
        after: 10_000,
        by: Some(HistoryAuthor::Extracts),
        millis: 1,
    };
    for _ in 0..4 {
        state.apply(extracts, &window);
        assert_eq!(state.breaker(), Breaker::Open);
    }
    state.apply(extracts, &window);
    assert_eq!(state.breaker(), Breaker::Closed);
    state.apply(HistoryChange::ModelFailed, &window);
    assert_eq!(state.breaker(), Breaker::Open, "one failure is enough then");
}

#[test]
fn x5_a_summary_that_gained_too_little_takes_twice_as_much_the_next_time() {
    let window = window(SIZE);
    let mut state = answered(&[40_000, 50_000]);
    let in_vain = |used| HistoryChange::GainedTooLittle {
        used,
        after: Some(45_000),
    };
    let rests_for = |state: &HistoryState| {
        let due = |used: &u64| {
            let mut later = state.clone();
            later.measured.used = *used;
            later.is_due_with_notes(&window)
        };
        (50_000..).step_by(500).find(due).unwrap() - 50_000
    };
    state.apply(in_vain(50_000), &window);
    let first = rests_for(&state);
    state.apply(in_vain(50_000), &window);
    state.apply(in_vain(50_000), &window);
    assert!(rests_for(&state) > first, "{first}");
}
