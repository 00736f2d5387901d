//! Tests what counts as a break (D2) and what is expected (D4).

use longhaul_core::cache::{
    CacheBreakDetector, CacheFindingKind, CacheMeasurement, CacheMissCause, CacheVerdict, is_drop,
};
use longhaul_core::message::{Iteration, IterationKind, Usage};
use longhaul_core::prompt::Ttl;

use super::request::*;

#[test]
fn d2_a_drop_must_be_over_five_percent_and_over_two_thousand_tokens() {
    assert!(!is_drop(100_000, 95_000), "exactly 5%");
    assert!(is_drop(100_000, 94_999));
    assert!(!is_drop(10_000, 8_000), "exactly 2,000");
    assert!(is_drop(10_000, 7_999));
    assert!(!is_drop(0, 0) && !is_drop(5, 10));
}

#[test]
fn d2_nothing_changed_and_in_time_is_the_servers_side_later_it_is_expiry() {
    for (idle, cause) in [
        (299, CacheMissCause::ServerSide),
        (300, CacheMissCause::Expired(Ttl::FiveMinutes)),
        (90_000, CacheMissCause::Expired(Ttl::FiveMinutes)),
    ] {
        let verdict = call(&mut warm(), 10 + idle, &request(3), &usage(0, 51_000));
        let CacheVerdict::Broke(finding) = verdict else {
            panic!("{verdict:?}");
        };
        assert_eq!(finding.cause, cause, "{idle}");
        assert_eq!(
            (finding.from, finding.to, finding.missed),
            (48_210, 0, 50_000)
        );
    }
}

#[test]
fn d2_what_was_written_and_not_read_is_told_apart_from_a_break() {
    let mut watch = CacheBreakDetector::default();
    call(&mut watch, 0, &request(1), &usage(20_000, 10_000));
    let verdict = call(&mut watch, 10, &request(2), &usage(20_000, 11_000));
    let CacheVerdict::Unread(finding) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(finding.kind, CacheFindingKind::Unread);
    assert_eq!(
        (finding.from, finding.to, finding.missed),
        (30_000, 20_000, 10_000)
    );
    assert!(
        finding
            .sentence(None)
            .starts_with("cache not used: 30,000 tokens were in it, 20,000 read")
    );
}

#[test]
fn d2_calls_that_failed_or_measured_nothing_are_no_baseline() {
    let mut watch = warm();
    let id = watch.before(print("main", at(20), &request(3)));
    watch.failed(id);
    let zero = call(&mut watch, 30, &request(3), &Usage::default());
    assert_eq!(zero, CacheVerdict::Ignored);
    let aborted = watch.before(print("main", at(40), &request(3)));
    assert_eq!(
        watch.after(
            aborted,
            &Usage {
                output: 9,
                ..Usage::default()
            },
            None
        ),
        CacheVerdict::Ignored
    );
    assert_eq!(
        watch.after(aborted, &usage(0, 9), None),
        CacheVerdict::Ignored,
        "known no more"
    );
    let verdict = call(&mut watch, 50, &request(3), &usage(0, 51_000));
    assert!(matches!(verdict, CacheVerdict::Broke(finding) if finding.from == 48_210));
}

#[test]
fn d2_a_reply_of_several_steps_counts_what_each_step_read_once() {
    let steps = |reads: &[(u64, u64)]| Usage {
        iterations: (reads.iter())
            .map(|(read, written)| Iteration {
                kind: IterationKind::Message,
                usage: usage(*read, *written),
            })
            .collect(),
        ..usage(
            reads.iter().map(|step| step.0).sum(),
            reads.iter().map(|step| step.1).sum(),
        )
    };
    let several = steps(&[(10_000, 2_000), (12_000, 500), (12_500, 100)]);
    let measure = CacheMeasurement::of(&several).unwrap();
    assert_eq!((measure.read, measure.cached), (10_000, 12_600));
    let mut watch = CacheBreakDetector::default();
    call(&mut watch, 0, &request(1), &several);
    assert_eq!(
        call(&mut watch, 10, &request(2), &usage(12_600, 900)),
        CacheVerdict::Steady
    );
}

#[test]
fn d3_sources_are_apart_and_small_models_can_be_left_out() {
    let mut watch = warm();
    let id = watch.before(print("notes", at(20), &request(2)));
    assert_eq!(
        watch.after(id, &usage(0, 50_000), Some(&spec())),
        CacheVerdict::First
    );
    assert_eq!(
        call(&mut watch, 30, &request(3), &usage(50_000, 900)),
        CacheVerdict::Steady
    );
    let mut watch = CacheBreakDetector::new(|model| model.contains("haiku"));
    let mut small = request(1);
    small["model"] = "claude-haiku-4-5".into();
    call(&mut watch, 0, &small, &usage(50_000, 100));
    assert_eq!(
        call(&mut watch, 10, &small, &usage(0, 50_000)),
        CacheVerdict::Ignored
    );
}

#[test]
fn d4_a_compaction_resets_the_baseline_of_its_source_only() {
    let mut watch = warm();
    let other = watch.before(print("sdk", at(11), &request(2)));
    watch.after(other, &usage(40_000, 100), None);
    let open = watch.before(print("main", at(12), &request(2)));
    watch.compacted("main");
    // A call that began before the compaction says nothing about later calls.
    assert_eq!(
        watch.after(open, &usage(50_000, 10), None),
        CacheVerdict::First
    );
    assert_eq!(
        call(&mut watch, 20, &request(2), &usage(9_000, 3_000)),
        CacheVerdict::First
    );
    let other = watch.before(print("sdk", at(30), &request(3)));
    assert!(matches!(
        watch.after(other, &usage(0, 40_000), None),
        CacheVerdict::Broke(_)
    ));
}

#[test]
fn d4_a_deletion_makes_the_next_drop_expected_up_to_its_size() {
    let mut watch = warm();
    watch.cache_deleted("main", 20_000);
    assert_eq!(
        call(&mut watch, 20, &request(3), &usage(29_000, 900)),
        CacheVerdict::Expected { lost: 19_210 }
    );
    let again = call(&mut watch, 30, &request(4), &usage(5_000, 20_000));
    assert!(
        matches!(again, CacheVerdict::Broke(_)),
        "the next only: {again:?}"
    );
    let mut watch = warm();
    watch.cache_deleted("main", 5_000);
    let verdict = call(&mut watch, 20, &request(3), &usage(10_000, 40_000));
    assert!(
        matches!(&verdict, CacheVerdict::Broke(finding) if finding.missed == 35_000),
        "{verdict:?}"
    );
}

#[test]
fn d4_a_deletion_is_not_seen_by_calls_that_began_before_it_nor_used_up_by_failed_ones() {
    let mut watch = warm();
    let open = watch.before(print("main", at(15), &request(3)));
    watch.cache_deleted("main", 20_000);
    assert_eq!(
        watch.after(open, &usage(50_000, 100), None),
        CacheVerdict::Steady
    );
    let failed = watch.before(print("main", at(20), &request(4)));
    watch.failed(failed);
    let verdict = call(&mut watch, 30, &request(4), &usage(31_000, 900));
    assert!(
        matches!(verdict, CacheVerdict::Expected { .. }),
        "{verdict:?}"
    );
}
