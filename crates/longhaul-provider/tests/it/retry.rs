//! Retry as data: the same arguments give the same decision.

use std::time::Duration;

use longhaul_provider::error::{AwaitedStep, Error, ErrorClass, PromptOverflow, RetryAdvice};
use longhaul_provider::retry::{GiveUpReason, RetryDecision, RetryPatience, RetryPolicy};
use proptest::prelude::*;

fn decide(attempt: u32, class: ErrorClass) -> RetryDecision {
    RetryPolicy::default().decide(attempt, &Error::new(class, ""), 1)
}

const OVERLOADED: ErrorClass = ErrorClass::Overloaded { after: None };

#[test]
fn n5_only_what_may_pass_is_tried_again() {
    let after = None;
    for class in [
        ErrorClass::Retry { after },
        OVERLOADED,
        ErrorClass::RateLimited { after },
        ErrorClass::Server { after },
        ErrorClass::Timeout(AwaitedStep::FirstByte),
        ErrorClass::Cut,
        ErrorClass::Damaged,
    ] {
        assert!(
            matches!(decide(1, class), RetryDecision::Wait(_)),
            "{class:?}"
        );
    }
    for class in [
        ErrorClass::TooLong(PromptOverflow::default()),
        ErrorClass::Auth,
        ErrorClass::Billing,
        ErrorClass::NotFound,
        ErrorClass::TooLarge,
        ErrorClass::Invalid,
        ErrorClass::Cancelled,
        ErrorClass::Malformed,
    ] {
        assert_eq!(
            decide(1, class),
            RetryDecision::Stop(GiveUpReason::Final),
            "{class:?}"
        );
    }
}

#[test]
fn waits_double_up_to_the_longest() {
    let waits: Vec<f64> = (1..5)
        .map(|attempt| match decide(attempt, OVERLOADED) {
            RetryDecision::Wait(wait) => wait.as_secs_f64(),
            RetryDecision::Stop(reason) => panic!("{reason:?}"),
        })
        .collect();
    for (wait, full) in waits.iter().zip([0.5, 1.0, 2.0, 4.0]) {
        assert!((full * 0.75..=full).contains(wait), "{waits:?}");
    }
    assert_eq!(
        decide(5, OVERLOADED),
        RetryDecision::Stop(GiveUpReason::Exhausted)
    );
    let mut patient = RetryPolicy::default();
    patient.attempts = 1_000;
    let RetryDecision::Wait(wait) = patient.decide(900, &Error::new(OVERLOADED, ""), 1) else {
        panic!("it should wait")
    };
    assert!(wait <= patient.longest);
}

#[test]
fn n5_retry_after_is_honoured_up_to_a_limit() {
    let limited = |seconds| ErrorClass::RateLimited {
        after: Some(Duration::from_secs(seconds)),
    };
    let RetryDecision::Wait(wait) = decide(1, limited(60)) else {
        panic!("it should wait")
    };
    assert!((60.0..61.0).contains(&wait.as_secs_f64()));
    let hour = Duration::from_secs(3_600);
    assert_eq!(
        decide(1, limited(3_600)),
        RetryDecision::Stop(GiveUpReason::TooLongAWait(hour))
    );
}

#[test]
fn n5_a_spending_cap_is_not_tried_for_ever() {
    let cap = ErrorClass::RateLimited { after: None };
    assert!(matches!(decide(1, cap), RetryDecision::Wait(_)));
    assert_eq!(decide(2, cap), RetryDecision::Stop(GiveUpReason::Exhausted));
}

#[test]
fn a_server_that_lets_the_time_pass_gets_one_more_chance() {
    let late = ErrorClass::Timeout(AwaitedStep::FirstByte);
    assert!(matches!(decide(1, late), RetryDecision::Wait(_)));
    assert_eq!(
        decide(2, late),
        RetryDecision::Stop(GiveUpReason::Exhausted)
    );
}

#[test]
fn the_servers_word_overrides() {
    let advised = |class, advice| {
        let error = Error {
            advice: Some(advice),
            ..Error::new(class, "")
        };
        RetryPolicy::default().decide(1, &error, 1)
    };
    assert_eq!(
        advised(OVERLOADED, RetryAdvice::Stop),
        RetryDecision::Stop(GiveUpReason::Final)
    );
    assert!(matches!(
        advised(ErrorClass::Invalid, RetryAdvice::Retry),
        RetryDecision::Wait(_)
    ));
    assert_eq!(
        advised(ErrorClass::Cancelled, RetryAdvice::Retry),
        RetryDecision::Stop(GiveUpReason::Final)
    );
}

#[test]
fn never_means_once() {
    let error = Error::new(OVERLOADED, "");
    assert_eq!(
        RetryPolicy::never().decide(1, &error, 1),
        RetryDecision::Stop(GiveUpReason::Exhausted)
    );
}

#[test]
fn n5_patience_counts_time_and_grows_its_waits() {
    let patience = RetryPatience::lasting(Duration::from_secs(600));
    let after = |attempt: u32, seconds: u64, class: ErrorClass| {
        let error = Error::new(class, "");
        patience.decide(attempt, Duration::from_secs(seconds), &error, 7)
    };
    let waits: Vec<f64> = (1..8)
        .map(|attempt| match after(attempt, 0, OVERLOADED) {
            RetryDecision::Wait(wait) => wait.as_secs_f64(),
            RetryDecision::Stop(reason) => panic!("{reason:?}"),
        })
        .collect();
    for (wait, full) in waits.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]) {
        assert!((full * 0.75..=full).contains(wait), "{waits:?}");
    }
    // The last attempt is made when the time is up; a wait that is asked for must fit.
    assert!(
        matches!(after(30, 590, OVERLOADED), RetryDecision::Wait(wait) if wait <= Duration::from_secs(10))
    );
    assert_eq!(
        after(30, 600, OVERLOADED),
        RetryDecision::Stop(GiveUpReason::Exhausted)
    );
    let asked = |seconds| ErrorClass::RateLimited {
        after: Some(Duration::from_secs(seconds)),
    };
    assert!(matches!(after(1, 0, asked(300)), RetryDecision::Wait(wait) if wait.as_secs() >= 300));
    assert_eq!(
        after(1, 400, asked(300)),
        RetryDecision::Stop(GiveUpReason::TooLongAWait(Duration::from_secs(300)))
    );
    // A rate limit without a named wait is not given up early, a refusal at once.
    assert!(matches!(
        after(9, 100, ErrorClass::RateLimited { after: None }),
        RetryDecision::Wait(_)
    ));
    for class in [ErrorClass::Auth, ErrorClass::Billing, ErrorClass::Invalid] {
        assert_eq!(
            after(1, 0, class),
            RetryDecision::Stop(GiveUpReason::Final),
            "{class:?}"
        );
    }
}

proptest! {
    #[test]
    fn any_seed_keeps_the_bounds_and_repeats(seed: u64, attempt in 1u32..5, after in proptest::option::of(0u64..100_000)) {
        let after = after.map(Duration::from_millis);
        let error = Error::new(ErrorClass::Server { after }, "");
        let policy = RetryPolicy::default();
        let decision = policy.decide(attempt, &error, seed);
        prop_assert_eq!(decision, policy.decide(attempt, &error, seed));
        let RetryDecision::Wait(wait) = decision else { panic!("it should wait") };
        prop_assert!(wait >= after.unwrap_or_default());
        prop_assert!(wait <= after.unwrap_or(policy.longest) + policy.base);
    }
}
