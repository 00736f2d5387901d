//! Clearings that are not worth it: shortly before a threshold, which removes the same, and from a result that frees nothing.

use super::super::{
    ConversationRent, EconomyAction, EconomyPolicy, PrefixWarmth, SummaryForecast,
    ThresholdDistance, ViewPart, decide, decide_before,
};
use super::{one_large_result, rates, result, situation};

#[test]
fn v3_a_clearing_must_be_earned_before_a_threshold_removes_it_too() {
    let rates = rates();
    let decided = |room, output: Option<u64>| {
        let mut view = one_large_result(9_060, 4_000);
        for _ in 0..100 {
            view.was_sent(PrefixWarmth::Hot, 0);
        }
        let distance = ThresholdDistance {
            room,
            growth: 3_000,
            summary: output.map(|output| SummaryForecast {
                output,
                view_after: 20_000,
            }),
        };
        let situation = situation(EconomyPolicy::Clear, &rates);
        decide_before(&mut view, &situation, Some(distance)).is_some()
    };
    // The price is 115 × 4,360 = 501,400, and each request saves 10 × 9,000. The clearing leaves three requests where no room
    // is left, and postpones a summary that reads 33,860 tokens by 9,000 of the 13,860 that fit between two: 270,000 + 219,870.
    assert!(!decided(0, Some(0)));
    // With one request more: 360,000 + 196,762.
    assert!(decided(3_000, Some(0)));
    // The dearer the summary, the more is earned by postponing it.
    assert!(decided(0, Some(1_000)));
    // Where the threshold may not need a summary, six requests earn the clearing, and seventeen have to be left.
    assert!(!decided(41_000, None));
    assert!(decided(42_000, None));
}

#[test]
fn v3_no_clearing_begins_with_a_result_that_frees_nothing() {
    let rates = rates();
    let mut view = ConversationRent::new(20_000);
    view.push(ViewPart::Prompt(500));
    view.push(ViewPart::Result {
        key: 0,
        tokens: 50,
        freed: 0,
    });
    view.push(ViewPart::Text(4_000));
    for key in 1..5 {
        view.push(result(key, 5_060));
    }
    for _ in 0..100 {
        view.was_sent(PrefixWarmth::Hot, 0);
    }
    let decision = decide(&mut view, &situation(EconomyPolicy::Clear, &rates)).unwrap();
    assert_eq!(decision.action, EconomyAction::Clear(1..2));
}
