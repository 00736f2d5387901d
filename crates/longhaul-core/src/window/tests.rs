//! Tests the figures of the contract (H), and that they stay ordered whatever is requested.

use proptest::prelude::*;

use super::guards::guard;
use super::*;

fn status(window: u64, max_output: u64, used: u64, settings: WindowSettings) -> WindowStatus {
    let input = WindowInput {
        window,
        max_output,
        used,
        settings,
    };
    WindowStatus::new(&input).expect("large enough")
}

fn usual(used: u64) -> WindowStatus {
    status(200_000, 64_000, used, WindowSettings::default())
}

fn auto_off() -> WindowSettings {
    WindowSettings {
        auto_compact: AutoCompact::Off,
        ..WindowSettings::default()
    }
}

fn with_percent(percent: f64) -> WindowSettings {
    WindowSettings {
        auto_compact_percent: Percent::new(percent),
        ..WindowSettings::default()
    }
}

#[test]
fn h1_h2_a_200k_window_has_the_figures_of_the_contract() {
    let status = usual(0);
    assert_eq!(status.size, 200_000);
    assert_eq!(status.effective, 180_000);
    assert_eq!(status.auto_compact, 167_000);
    assert_eq!(status.limit, 167_000);
    assert_eq!((status.warning, status.error), (147_000, 147_000));
    assert_eq!(status.blocking, 177_000);
    assert!(status.auto_compact_enabled);
}

#[test]
fn h1_a_model_that_writes_little_leaves_more_of_its_window() {
    let status = status(200_000, 4_096, 0, WindowSettings::default());
    assert_eq!(status.effective, 195_904);
    assert_eq!(status.auto_compact, 182_904);
}

#[test]
fn h2_without_auto_compact_the_limit_is_the_effective_window() {
    let status = status(200_000, 64_000, 0, auto_off());
    assert_eq!(status.limit, 180_000);
    assert_eq!((status.warning, status.error), (160_000, 160_000));
    assert_eq!(status.blocking, 177_000);
    assert!(!status.auto_compact_enabled);
}

#[test]
fn h2_ruling_5_a_threshold_is_reached_at_its_own_number() {
    for (used, level) in [
        (0, WindowLevel::Ok),
        (146_999, WindowLevel::Ok),
        (147_000, WindowLevel::Warning),
        (166_999, WindowLevel::Warning),
        (167_000, WindowLevel::AutoCompact),
        (176_999, WindowLevel::AutoCompact),
        (177_000, WindowLevel::Blocking),
        (u64::MAX, WindowLevel::Blocking),
    ] {
        assert_eq!(usual(used).level, level, "{used}");
    }
}

#[test]
fn h2_without_auto_compact_the_level_goes_from_warning_to_blocking() {
    let off = status(200_000, 64_000, 0, auto_off());
    assert_eq!(off.at(159_999).level, WindowLevel::Ok);
    assert_eq!(off.at(176_999).level, WindowLevel::Warning);
    assert_eq!(off.at(177_000).level, WindowLevel::Blocking);
}

#[test]
fn h3_percent_left_counts_towards_the_limit_and_rounds_half_up() {
    assert_eq!(usual(0).percent_left, 100);
    assert_eq!(usual(83_500).percent_left, 50);
    // 0.5% of 167,000 is 835: half a percent used leaves 99.5, which rounds to 100.
    assert_eq!(usual(835).percent_left, 100);
    assert_eq!(usual(836).percent_left, 99);
    assert_eq!(usual(166_999).percent_left, 0);
    assert_eq!(usual(167_000).percent_left, 0);
    assert_eq!(usual(u64::MAX).percent_left, 0);
    let off = status(200_000, 64_000, 90_000, auto_off());
    assert_eq!(off.percent_left, 50);
}

#[test]
fn h4_a_cap_shrinks_the_window_and_never_widens_it() {
    let capped = |cap| WindowSettings {
        window_cap: Some(cap),
        ..WindowSettings::default()
    };
    let shrunk = status(1_000_000, 128_000, 0, capped(200_000));
    assert_eq!((shrunk.size, shrunk.effective), (200_000, 180_000));
    assert_eq!(status(200_000, 64_000, 0, capped(1_000_000)), usual(0));
}

#[test]
fn h4_a_percentage_lowers_the_threshold_floored_and_never_raises_it() {
    let at = |percent| status(200_000, 64_000, 0, with_percent(percent)).auto_compact;
    assert_eq!(at(50.0), 90_000);
    assert_eq!(at(70.0), 126_000);
    assert_eq!(at(33.3333), 59_999);
    assert_eq!(at(99.0), 167_000);
    assert_eq!(at(100.0), 167_000);
    assert_eq!(at(1e-9), 1);
    let half = status(200_000, 64_000, 0, with_percent(50.0));
    assert_eq!((half.limit, half.warning), (90_000, 70_000));
}

#[test]
fn h4_a_percentage_changes_nothing_while_auto_compact_is_off() {
    let settings = WindowSettings {
        auto_compact: AutoCompact::Off,
        ..with_percent(10.0)
    };
    let off = status(200_000, 64_000, 0, settings);
    assert_eq!((off.auto_compact, off.warning), (167_000, 160_000));
}

#[test]
fn h4_percentages_lie_above_nothing_and_up_to_all() {
    for bad in [0.0, -5.0, 100.000_1, f64::NAN, f64::INFINITY] {
        assert_eq!(Percent::new(bad), None, "{bad}");
    }
    assert_eq!(
        Percent::new(70.5).map(|p| p.to_string()),
        Some("70.5".into())
    );
}

#[test]
fn h4_a_blocking_override_is_honoured_and_what_lies_above_it_comes_down() {
    let at = |limit| {
        let settings = WindowSettings {
            blocking_limit: Some(limit),
            ..WindowSettings::default()
        };
        status(200_000, 64_000, 0, settings)
    };
    assert_eq!(
        (at(170_000).blocking, at(170_000).auto_compact),
        (170_000, 167_000)
    );
    assert_eq!((at(1_000).blocking, at(1_000).auto_compact), (1_000, 1_000));
    assert_eq!(at(999_999).blocking, 180_000);
}

#[test]
fn h4_a_smaller_reply_leaves_more_of_the_window_and_a_larger_one_is_the_models() {
    let at = |most| {
        let settings = WindowSettings {
            max_output: Some(most),
            ..WindowSettings::default()
        };
        status(200_000, 64_000, 0, settings)
    };
    assert_eq!(
        (at(8_000).max_output, at(8_000).effective),
        (8_000, 192_000)
    );
    assert_eq!(at(900_000), usual(0));
}

#[test]
fn h7_below_100k_every_reserve_shrinks_with_the_window() {
    let full = status(100_000, 64_000, 0, WindowSettings::default());
    assert_eq!(
        (
            full.effective,
            full.auto_compact,
            full.warning,
            full.blocking
        ),
        (80_000, 67_000, 47_000, 77_000)
    );
    let half = status(50_000, 64_000, 0, WindowSettings::default());
    assert_eq!(
        (
            half.effective,
            half.auto_compact,
            half.warning,
            half.blocking
        ),
        (40_000, 33_500, 23_500, 38_500)
    );
    let least = status(4_000, 64_000, 0, WindowSettings::default());
    assert_eq!(
        (
            least.effective,
            least.auto_compact,
            least.warning,
            least.blocking
        ),
        (3_200, 2_680, 1_880, 3_080)
    );
}

#[test]
fn h7_budgets_elsewhere_scale_alike() {
    let scale = |window| status(window, 64_000, 0, WindowSettings::default()).scale();
    assert_eq!(scale(200_000).apply(40_000), 40_000);
    assert_eq!(scale(32_768).apply(40_000), 13_107);
    assert_eq!(WindowScale::of_window(0).apply(5), 0);
}

#[test]
fn h7_under_4k_is_refused_with_a_sentence() {
    let refused = |window, window_cap| {
        let settings = WindowSettings {
            window_cap,
            ..WindowSettings::default()
        };
        let input = WindowInput {
            window,
            max_output: 1,
            used: 0,
            settings,
        };
        WindowStatus::new(&input).expect_err("too small")
    };
    assert_eq!(
        refused(3_999, None).to_string(),
        "a context window of 3,999 tokens is too small to work in: at least 4,000 are needed"
    );
    assert_eq!(
        refused(200_000, Some(3_999)),
        WindowError::CappedTooSmall { cap: 3_999 }
    );
}

#[test]
fn ruling_5_levels_are_written_in_snake_case() {
    let json = serde_json::to_value(usual(170_000)).expect("serialises");
    assert_eq!(json["level"], "auto_compact");
    assert_eq!(json["percent_left"], 0);
    assert_eq!(json["auto_compact"], 167_000);
}

prop_compose! {
    fn any_settings()(
        window_cap in proptest::option::of(4_000_u64..2_000_000),
        max_output in proptest::option::of(1_u64..200_000),
        percent in proptest::option::of(1e-9_f64..=100.0),
        blocking_limit in proptest::option::of(0_u64..2_000_000),
        on in any::<bool>(),
    ) -> WindowSettings {
        WindowSettings {
            window_cap,
            max_output,
            auto_compact_percent: percent.and_then(Percent::new),
            blocking_limit,
            auto_compact: if on { AutoCompact::On } else { AutoCompact::Off },
        }
    }
}

proptest! {
    #[test]
    fn h7_thresholds_stay_positive_and_ordered(
        window in prop_oneof![4_000_u64..200_000, 4_000_u64..=u64::MAX],
        max_output in prop_oneof![1_u64..200_000, 1_u64..=u64::MAX],
        used in prop_oneof![0_u64..300_000, any::<u64>()],
        settings in any_settings(),
    ) {
        let status = status(window, max_output, used, settings);
        prop_assert!(1 <= status.warning);
        prop_assert_eq!(status.warning, status.error);
        prop_assert!(status.warning <= status.auto_compact);
        prop_assert!(status.auto_compact <= status.blocking);
        prop_assert!(status.blocking <= status.effective);
        prop_assert!(status.effective < status.size && status.size <= window);
        prop_assert!(status.limit <= status.effective);
        prop_assert!(status.percent_left <= 100);
        prop_assert!(status.auto_compact_enabled || status.level != WindowLevel::AutoCompact);
        prop_assert!(status.at(used.saturating_add(1)).level >= status.level);
    }
}

#[test]
fn h5_by_default_all_may_run_but_collapse() {
    let switches = Switches::default();
    for action in [
        SwitchableAction::Manual,
        SwitchableAction::Automatic,
        SwitchableAction::Micro,
        SwitchableAction::Notes,
        SwitchableAction::Reactive,
    ] {
        assert_eq!(
            switches.decide(action),
            SwitchVerdict::Allowed,
            "{action:?}"
        );
    }
    assert_eq!(
        switches.decide(SwitchableAction::Collapse),
        SwitchVerdict::Off(Switch::Collapse)
    );
}

#[test]
fn h5_all_off_stops_manual_and_micro_too_and_decides_first() {
    let switches = Switches {
        compaction: false,
        automatic: false,
        auto_compact_enabled: false,
        micro: false,
        ..Switches::default()
    };
    for action in [
        SwitchableAction::Manual,
        SwitchableAction::Automatic,
        SwitchableAction::Micro,
        SwitchableAction::Notes,
        SwitchableAction::Reactive,
        SwitchableAction::Collapse,
    ] {
        assert_eq!(
            switches.decide(action),
            SwitchVerdict::Off(Switch::AllCompaction),
            "{action:?}"
        );
    }
}

#[test]
fn h5_automatic_off_leaves_manual_and_micro() {
    let switches = Switches {
        automatic: false,
        auto_compact_enabled: false,
        ..Switches::default()
    };
    assert_eq!(
        switches.decide(SwitchableAction::Manual),
        SwitchVerdict::Allowed
    );
    assert_eq!(
        switches.decide(SwitchableAction::Micro),
        SwitchVerdict::Allowed
    );
    assert_eq!(
        switches.decide(SwitchableAction::Automatic),
        SwitchVerdict::Off(Switch::Automatic)
    );
    assert_eq!(
        switches.decide(SwitchableAction::Reactive),
        SwitchVerdict::Off(Switch::Automatic)
    );
}

#[test]
fn h5_the_users_setting_comes_last() {
    let switches = Switches {
        auto_compact_enabled: false,
        ..Switches::default()
    };
    assert_eq!(
        switches.decide(SwitchableAction::Manual),
        SwitchVerdict::Allowed
    );
    assert_eq!(
        switches.decide(SwitchableAction::Automatic),
        SwitchVerdict::Off(Switch::UserSetting)
    );
}

#[test]
fn h5_each_kind_has_a_switch_of_its_own() {
    let off = Switches {
        micro: false,
        notes: false,
        reactive: false,
        ..Switches::default()
    };
    assert_eq!(
        off.decide(SwitchableAction::Micro),
        SwitchVerdict::Off(Switch::Micro)
    );
    assert_eq!(
        off.decide(SwitchableAction::Notes),
        SwitchVerdict::Off(Switch::Notes)
    );
    assert_eq!(
        off.decide(SwitchableAction::Reactive),
        SwitchVerdict::Off(Switch::Reactive)
    );
    assert_eq!(
        off.decide(SwitchableAction::Automatic),
        SwitchVerdict::Allowed
    );
}

#[test]
fn h6_no_compaction_begins_inside_one_or_in_notes_or_collapse() {
    for (source, expected) in [
        (QuerySource::COMPACT, ProactiveGuard::InsideCompaction),
        (QuerySource::NOTES, ProactiveGuard::InsideNotes),
        (QuerySource::COLLAPSE, ProactiveGuard::InsideCollapse),
        (QuerySource::MAIN, ProactiveGuard::Clear),
        (QuerySource::SDK, ProactiveGuard::Clear),
        (QuerySource::agent("explore"), ProactiveGuard::Clear),
        (QuerySource::new("compactor"), ProactiveGuard::Clear),
    ] {
        assert_eq!(guard(&source, WindowOwner::Proactive), expected, "{source}");
    }
}

#[test]
fn h6_another_owner_of_the_window_is_not_disturbed() {
    assert_eq!(
        guard(&QuerySource::MAIN, WindowOwner::Reactive),
        ProactiveGuard::ReactiveOwns
    );
    assert_eq!(
        guard(&QuerySource::MAIN, WindowOwner::Collapse),
        ProactiveGuard::CollapseOwns
    );
    assert_eq!(
        guard(&QuerySource::COMPACT, WindowOwner::Collapse),
        ProactiveGuard::InsideCompaction
    );
}

#[test]
fn c2_the_main_thread_is_known_by_how_its_name_begins() {
    assert!(QuerySource::new("repl_main_thread:outputStyle").is_main());
    assert!(QuerySource::SDK.is_main());
    assert!(!QuerySource::agent("sdk").is_main());
    assert!(!QuerySource::COMPACT.is_main());
}
