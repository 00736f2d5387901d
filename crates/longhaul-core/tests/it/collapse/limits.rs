//! Tests the limits of folding.

use longhaul_core::collapse::FoldLimits;
use longhaul_core::window::{WindowInput, WindowSettings, WindowStatus};
use proptest::prelude::*;

use super::{limits, status};

#[test]
fn o6_folds_are_committed_from_90_percent_and_waited_for_at_95() {
    let usual = limits(200_000);
    assert_eq!((usual.commit_at, usual.wait_at), (162_000, 171_000));
    assert_eq!((usual.target, usual.keep), (108_000, 54_000));
    assert_eq!((usual.span, usual.folds, usual.words), (8_000, 12_000, 400));
}

#[test]
fn o6_h7_spans_and_folds_shrink_with_a_small_window() {
    let half = limits(50_000);
    assert_eq!((half.commit_at, half.wait_at), (36_000, 38_000));
    assert_eq!((half.span, half.folds, half.words), (4_000, 6_000, 200));
    let least = limits(4_000);
    assert_eq!((least.commit_at, least.span, least.words), (2_880, 320, 40));
    assert!(least.fold_weight() < least.span);
}

#[test]
fn o6_a_blocking_limit_that_was_set_draws_the_others_down() {
    let settings = WindowSettings {
        blocking_limit: Some(100_000),
        ..WindowSettings::default()
    };
    let limits = FoldLimits::of(&status(200_000, settings));
    assert_eq!((limits.commit_at, limits.wait_at), (100_000, 100_000));
}

proptest! {
    #[test]
    fn o6_limits_are_positive_and_ordered_in_every_window(
        window in prop_oneof![4_000_u64..200_000, 4_000_u64..=u64::MAX],
        max_output in prop_oneof![1_u64..200_000, 1_u64..=u64::MAX],
        blocking_limit in proptest::option::of(0_u64..2_000_000),
    ) {
        let settings = WindowSettings { blocking_limit, ..WindowSettings::default() };
        let input = WindowInput { window, max_output, used: 0, settings };
        let status = WindowStatus::new(&input).unwrap();
        let limits = FoldLimits::of(&status);
        prop_assert!(1 <= limits.keep && limits.keep <= limits.target);
        prop_assert!(limits.target <= limits.commit_at && limits.commit_at <= limits.wait_at);
        prop_assert!(limits.wait_at <= status.blocking);
        if blocking_limit.is_none() {
            prop_assert!(limits.keep < limits.target && limits.target < limits.commit_at);
            prop_assert!(limits.commit_at < limits.wait_at);
        }
        prop_assert!(limits.fold_weight() * 2 < limits.span, "a fold is smaller than its span");
        prop_assert!(limits.span <= limits.folds);
    }
}
