//! Tests of prices, rents and the rule. Money is in round numbers: a token of input costs 100 picodollars, one that is
//! written 125, one that is read 10, one of output 500.

use proptest::prelude::*;

use super::action_price::{self, ClearingSizes, SummarySizes};
use super::*;
use crate::message::Id;
use crate::money::{TokenPrice, Usd};
use crate::prompt::Ttl;

mod clearing;

fn rates() -> TokenRates {
    TokenRates {
        input: TokenPrice::from_pico_per_token(100),
        write: TokenPrice::from_pico_per_token(125),
        read: TokenPrice::from_pico_per_token(10),
        output: TokenPrice::from_pico_per_token(500),
    }
}

fn pico(amount: i128) -> Usd {
    Usd::from_pico(amount)
}

fn situation<'a>(policy: EconomyPolicy, rates: &'a TokenRates) -> RuleSituation<'a> {
    RuleSituation {
        policy,
        rates: Some(rates),
        warmth: PrefixWarmth::Hot,
        removal: ResultRemoval::NewRendering,
        thinking: StrippedThinking::None,
        summary: None,
    }
}

fn result(key: u64, tokens: u64) -> ViewPart {
    ViewPart::Result {
        key,
        tokens,
        freed: tokens - 60,
    }
}

/// A view with a large old result and, after it, three small new ones that stay.
fn one_large_result(large: u64, text_after: u64) -> ConversationRent {
    let mut view = ConversationRent::new(20_000);
    view.push(ViewPart::Prompt(500));
    view.push(result(0, large));
    view.push(ViewPart::Text(text_after));
    for key in 1..4 {
        view.push(result(key, 100));
    }
    view.sent(PrefixWarmth::Hot, 0);
    view
}

#[test]
fn v1_clearing_is_priced_by_what_stays_while_hot_and_by_what_goes_when_cold() {
    let sizes = ClearingSizes {
        removed: 8_000,
        kept_after: 1_000,
        thinking_lost: 0,
    };
    let price = |warmth| action_price::clearing(&rates(), warmth, sizes);
    assert_eq!(price(PrefixWarmth::Hot), pico(115 * 1_000));
    assert_eq!(price(PrefixWarmth::Cold), pico(-125 * 8_000));
    assert_eq!(price(PrefixWarmth::Uncached), Usd::ZERO);
    assert_eq!(action_price::clearing_by_cache_edits(), Usd::ZERO);
}

#[test]
fn v1_a_summary_reads_the_view_writes_its_text_and_writes_what_follows_the_prefix() {
    let sizes = SummarySizes {
        view: 100_000,
        output: 4_000,
        written: 15_000,
        replaced: 80_000,
        thinking_lost: 0,
    };
    let hot = action_price::summary(&rates(), PrefixWarmth::Hot, sizes);
    assert_eq!(hot, pico(10 * 100_000 + 500 * 4_000 + 125 * 15_000));
    let cold = action_price::summary(&rates(), PrefixWarmth::Cold, sizes);
    let written = 125 * (15_000 - 80_000);
    assert_eq!(cold, pico(100 * 100_000 + 500 * 4_000 + written));
    let notes = action_price::notes_run(&rates(), PrefixWarmth::Hot, 100_000, 700);
    assert_eq!(notes, pico(10 * 100_000 + 500 * 700));
}

#[test]
fn v1_a_provider_without_a_write_price_bills_what_is_written_as_input() {
    let table = crate::models::ModelTable::builtin()
        .extended_with("[models.free-writes]\nprices = { input = 2, cache_write_5m = 0, cache_write_1h = 0, cache_read = 0.5, output = 8 }\n")
        .unwrap();
    let spec = table.resolve("free-writes").spec;
    let rates = TokenRates::of(spec.prices.as_ref().unwrap(), 1, Ttl::FiveMinutes);
    assert_eq!(rates.write, rates.input);
}

#[test]
fn v1_the_prices_of_a_tier_apply_from_its_size_on_and_of_the_lifetime_that_is_asked_for() {
    let spec = crate::models::ModelTable::builtin()
        .resolve("claude-haiku-5-5")
        .spec;
    let prices = spec.prices.as_ref().unwrap();
    let small = TokenRates::of(prices, 100_000, Ttl::FiveMinutes);
    let large = TokenRates::of(prices, 100_001, Ttl::FiveMinutes);
    assert_eq!(large.read.of(1).pico(), 5 * small.read.of(1).pico());
    let hour = TokenRates::of(prices, 100_000, Ttl::OneHour);
    assert_eq!(hour.write.of(1).pico(), 2 * hour.input.of(1).pico());
}

#[test]
fn v1_hot_until_the_lifetime_ends_and_a_clock_that_goes_back_does_no_harm() {
    let after = |idle| PrefixWarmth::after(idle, Ttl::FiveMinutes);
    assert_eq!(after(Some(299)), PrefixWarmth::Hot);
    assert_eq!(after(Some(300)), PrefixWarmth::Cold);
    assert_eq!(after(Some(-9_000)), PrefixWarmth::Hot);
    assert_eq!(after(None), PrefixWarmth::Hot, "unknown means hot");
    assert_eq!(
        PrefixWarmth::after(Some(3_599), Ttl::OneHour),
        PrefixWarmth::Hot
    );
}

#[test]
fn v1_n2_bound_thinking_since_the_last_prompt_is_priced_as_output_and_older_at_nothing() {
    let mut view = ConversationRent::new(1_000);
    view.push(ViewPart::Prompt(100));
    view.push(result(0, 5_060));
    view.push(ViewPart::Thinking(300));
    view.push(ViewPart::Prompt(100));
    view.push(ViewPart::Thinking(40));
    for key in 1..4 {
        view.push(result(key, 100));
    }
    view.sent(PrefixWarmth::Cold, 0);
    let rates = rates();
    let bound = RuleSituation {
        warmth: PrefixWarmth::Cold,
        thinking: StrippedThinking::After,
        ..situation(EconomyPolicy::Clear, &rates)
    };
    // On a cold cache five results stay, so two more are needed before the first may go.
    for key in 4..6 {
        view.push(result(key, 100));
        view.sent(PrefixWarmth::Hot, 0);
    }
    let decision = decide(&mut view, &bound).unwrap();
    assert_eq!(decision.freed, 5_000 + 340);
    assert_eq!(decision.price, pico(500 * 40 - 125 * 5_340));
    let before = view.view();
    view.clear(&[0], StrippedThinking::After);
    assert_eq!(view.view(), before - 5_340);
}

#[test]
fn v2_rent_is_what_sending_again_was_billed_since_it_could_first_have_been_removed() {
    let rates = rates();
    let mut view = one_large_result(10_060, 1_000);
    let rent = |view: &ConversationRent| {
        let first = view.results().next().copied().unwrap();
        view.rent(&first, &rates)
    };
    assert_eq!(
        decide(&mut view, &situation(EconomyPolicy::Clear, &rates)),
        None
    );
    assert_eq!(rent(&view), Usd::ZERO);
    view.sent(PrefixWarmth::Hot, 0);
    assert_eq!(rent(&view), pico(10 * 10_000));
    decide(&mut view, &situation(EconomyPolicy::Off, &rates));
    view.sent(PrefixWarmth::Cold, 0);
    assert_eq!(rent(&view), pico((10 + 125) * 10_000));
    view.sent(PrefixWarmth::Uncached, 0);
    assert_eq!(rent(&view), pico((10 + 125 + 100) * 10_000));
}

#[test]
fn v2_a_change_of_prices_prices_the_rent_anew_and_loses_none_of_it() {
    let mut view = one_large_result(10_060, 1_000);
    decide(&mut view, &situation(EconomyPolicy::Off, &rates()));
    for _ in 0..4 {
        view.sent(PrefixWarmth::Hot, 0);
    }
    let other = TokenRates {
        read: TokenPrice::from_pico_per_token(3),
        ..rates()
    };
    let first = *view.results().next().unwrap();
    assert_eq!(view.rent(&first, &rates()), pico(4 * 10 * 10_000));
    assert_eq!(view.rent(&first, &other), pico(4 * 3 * 10_000));
}

#[test]
fn v2_the_rent_of_a_summary_loses_what_was_cleared_and_ends_with_a_boundary() {
    let rates = rates();
    let mut view = ConversationRent::new(1_000);
    view.push(result(0, 4_060));
    for key in 1..5 {
        view.push(result(key, 160));
    }
    let after_summary = 1_500;
    for _ in 0..3 {
        view.sent(PrefixWarmth::Hot, after_summary);
    }
    let held = view.view() - after_summary;
    assert_eq!(view.summary_rent(&rates), pico(i128::from(3 * 10 * held)));
    view.clear(&[0], StrippedThinking::None);
    let left = 3 * 10 * (held - 4_000);
    assert_eq!(view.summary_rent(&rates), pico(i128::from(left)));
    view.summarize(view.sent_view() - 300, 400, StrippedThinking::None);
    assert_eq!(view.summary_rent(&rates), Usd::ZERO);
    assert_eq!(view.view(), 1_000 + 400 + 300);
}

#[test]
fn v2_the_state_survives_being_stored_and_being_rebuilt_from_the_history() {
    let rebuilt = || {
        let mut view = one_large_result(9_060, 700);
        decide(&mut view, &situation(EconomyPolicy::Clear, &rates()));
        view.push(ViewPart::Thinking(80));
        view.sent(PrefixWarmth::Cold, 2_000);
        view
    };
    let stored = serde_json::to_string(&rebuilt()).unwrap();
    let read: ConversationRent = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, rebuilt());
}

#[test]
fn v3_a_result_is_cleared_when_its_rent_reaches_its_price_and_not_before() {
    let rates = rates();
    // After the result 1,000 tokens of text and three results of 100 stay, and a marker of 60.
    let mut view = one_large_result(10_060, 1_000);
    let price = 115 * (1_000 + 300 + 60);
    let step = 10 * 10_000;
    let mut waited = 0;
    let decision = loop {
        match decide(&mut view, &situation(EconomyPolicy::Clear, &rates)) {
            Some(decision) => break decision,
            None => view.sent(PrefixWarmth::Hot, 0),
        }
        waited += 1;
    };
    assert_eq!(waited, (price + step - 1) / step);
    assert_eq!(decision.action, EconomyAction::Clear(0..1));
    assert_eq!(decision.price, pico(price));
    assert_eq!(decision.rent, pico(waited * step));
    assert_eq!(decision.freed, 10_000);
    assert_eq!(decision.pays_back_after, Some(2));
}

#[test]
fn v3_what_costs_nothing_is_done_at_once() {
    let rates = rates();
    let cold = RuleSituation {
        warmth: PrefixWarmth::Cold,
        ..situation(EconomyPolicy::Clear, &rates)
    };
    let mut view = one_large_result(10_060, 50_000);
    for key in 4..6 {
        view.push(result(key, 100));
    }
    view.sent(PrefixWarmth::Hot, 0);
    let decision = decide(&mut view, &cold).unwrap();
    assert_eq!(decision.action, EconomyAction::Clear(0..1));
    assert_eq!(decision.pays_back_after, Some(0));
    let edits = RuleSituation {
        removal: ResultRemoval::CacheEdits,
        ..situation(EconomyPolicy::Clear, &rates)
    };
    let mut view = one_large_result(10_060, 50_000);
    assert_eq!(decide(&mut view, &edits).unwrap().price, Usd::ZERO);
}

#[test]
fn v3_of_the_suffixes_that_are_due_the_one_that_leaves_the_most_is_cleared() {
    let rates = rates();
    let mut view = ConversationRent::new(20_000);
    // The oldest result is small and far from the end: clearing it would write a lot of text again.
    view.push(result(0, 1_060));
    view.push(ViewPart::Text(60_000));
    view.push(result(1, 20_060));
    for key in 2..5 {
        view.push(result(key, 100));
    }
    view.sent(PrefixWarmth::Hot, 0);
    let decision = loop {
        match decide(&mut view, &situation(EconomyPolicy::Clear, &rates)) {
            Some(decision) => break decision,
            None => view.sent(PrefixWarmth::Hot, 0),
        }
    };
    assert_eq!(decision.action, EconomyAction::Clear(1..2));
}

#[test]
fn v3_unknown_prices_and_the_policy_off_decide_nothing() {
    let rates = rates();
    let cold = |policy, known| RuleSituation {
        warmth: PrefixWarmth::Cold,
        rates: known,
        ..situation(policy, &rates)
    };
    let mut view = one_large_result(90_060, 100);
    for key in 4..9 {
        view.push(result(key, 100));
    }
    view.sent(PrefixWarmth::Hot, 0);
    assert_eq!(decide(&mut view, &cold(EconomyPolicy::Clear, None)), None);
    assert_eq!(
        decide(&mut view, &cold(EconomyPolicy::Off, Some(&rates))),
        None
    );
    assert!(decide(&mut view, &cold(EconomyPolicy::Clear, Some(&rates))).is_some());
}

#[test]
fn v3_only_the_full_policy_summarizes_and_only_when_the_price_is_earned() {
    let rates = rates();
    let forecast = SummaryForecast {
        output: 1_000,
        view_after: 25_000,
    };
    let full = RuleSituation {
        summary: Some(forecast),
        ..situation(EconomyPolicy::Full, &rates)
    };
    let mut view = ConversationRent::new(20_000);
    view.push(ViewPart::Text(55_000));
    let price = 10 * 75_000 + 500 * 1_000 + 125 * 5_000;
    let step = 10 * 50_000;
    let mut requests = 0;
    let decision = loop {
        view.sent(PrefixWarmth::Hot, forecast.view_after);
        requests += 1;
        assert_eq!(
            decide(&mut view, &situation(EconomyPolicy::Clear, &rates)),
            None
        );
        if let Some(decision) = decide(&mut view, &full) {
            break decision;
        }
    };
    assert_eq!(decision.action, EconomyAction::Summarize);
    assert_eq!(decision.price, pico(price));
    assert_eq!(requests, (price + step - 1) / step);
}

#[test]
fn v1_where_one_entry_lasts_the_cache_is_also_found_where_the_latest_requests_ended() {
    let rates = rates();
    let mut view = ConversationRent::new(20_000);
    view.push(ViewPart::Text(40_000));
    view.sent(PrefixWarmth::Hot, 0);
    view.push(result(0, 10_060));
    for key in 1..4 {
        view.push(result(key, 100));
    }
    view.sent(PrefixWarmth::Hot, 0);
    // The lasting entry ends before the text, which would be written again.
    view.cached_to(20_000);
    let full = situation(EconomyPolicy::Clear, &rates);
    let due = (0..3).find_map(|_| {
        view.push(ViewPart::Text(50));
        let decision = decide(&mut view, &full);
        view.sent(PrefixWarmth::Hot, 0);
        decision
    });
    let price = due.expect("it is cheap where the cache is found").price;
    assert!(price < rates.write.of(1_000), "{price:?}");
    assert!(view.is_found_before(0));
    for _ in 0..20 {
        view.push(ViewPart::Text(50));
        view.sent(PrefixWarmth::Hot, 0);
    }
    assert!(
        !view.is_found_before(0),
        "the entry has not been used for long"
    );
    let late = decide(&mut view, &full);
    assert!(late.is_none_or(|late| late.price > rates.write.of(30_000)));
}

#[test]
fn v4_the_newest_three_stay_five_on_a_cold_cache_and_nothing_of_the_last_round_goes() {
    let mut view = ConversationRent::new(1_000);
    for key in 0..8 {
        view.push(result(key, 500));
    }
    assert_eq!(view.removable(PrefixWarmth::Hot), 0, "nothing was sent yet");
    view.sent(PrefixWarmth::Hot, 0);
    assert_eq!(view.removable(PrefixWarmth::Hot), 5);
    assert_eq!(view.removable(PrefixWarmth::Cold), 3);
    for key in 8..12 {
        view.push(result(key, 500));
    }
    assert_eq!(
        view.removable(PrefixWarmth::Hot),
        8,
        "the last round has four"
    );
    assert_eq!(view.removable(PrefixWarmth::Cold), 7);
}

#[test]
fn v4_superseded_results_go_first_where_a_clearing_has_a_target() {
    let file = |name: &str, effect| ResultSubject {
        target: Id::of(name),
        part: None,
        effect,
    };
    let reads = |name| Some(file(name, SubjectEffect::Reads));
    let part = |name, part: &str| {
        Some(ResultSubject {
            part: Some(Id::of(part)),
            ..file(name, SubjectEffect::Reads)
        })
    };
    let subjects = [
        reads("a"),
        reads("b"),
        part("c", "1-50"),
        None,
        part("c", "50-90"),
        Some(file("b", SubjectEffect::Changes)),
        reads("a"),
    ];
    let replaced = superseded(&subjects);
    assert_eq!(replaced, [true, true, false, false, false, false, false]);
    let sizes = [10, 20, 40, 80, 160, 320, 640];
    assert_eq!(oldest_until(&sizes, &replaced, 4, 25), [0, 1]);
    assert_eq!(oldest_until(&sizes, &[], 4, 25), [0, 1]);
    let last = [false, false, true, false, false, false, false];
    assert_eq!(oldest_until(&sizes, &last, 4, 25), [2]);
    assert_eq!(oldest_until(&sizes, &replaced, 4, 9_999), [0, 1, 2, 3]);
}

#[test]
fn v4_a_clearing_leaves_every_place_in_the_view_where_it_belongs() {
    let mut view = ConversationRent::new(100);
    for key in 0..6 {
        view.push(ViewPart::Text(10));
        view.push(result(key, 160));
    }
    view.sent(PrefixWarmth::Hot, 0);
    view.clear(&[1, 3], StrippedThinking::None);
    let keys: Vec<u64> = view.results().map(|result| result.key).collect();
    assert_eq!(keys, [0, 2, 4, 5]);
    let offsets: Vec<u64> = (0..4).filter_map(|index| view.offset(index)).collect();
    // The texts and the results before each one, and a marker of 60 for each that is gone.
    assert_eq!(offsets, [110, 350, 590, 760]);
    assert_eq!(view.view(), 100 + 6 * 170 - 2 * 100);
}

proptest! {
    /// For a candidate whose price does not change, waiting until the rent has reached the price costs at most twice the
    /// best, plus one request's rent, whenever the session ends.
    #[test]
    fn v3_a_fixed_price_costs_at_most_twice_the_best_and_one_more_request(
        large in 1_000_u64..200_000,
        text_after in 0_u64..200_000,
        ends_after in 0_usize..400,
        cold in proptest::collection::vec(0_usize..400, 0..3),
    ) {
        let rates = rates();
        let mut view = one_large_result(large, text_after);
        let price = 115 * i128::from(view.sent_view() - view.offset(0).unwrap() - (large - 60));
        let (mut paid, mut kept) = (0_i128, 0_i128);
        let mut is_cleared = false;
        for request in 0..ends_after {
            let warmth = if cold.contains(&request) { PrefixWarmth::Cold } else { PrefixWarmth::Hot };
            // Only the hot price is fixed; a cold request is a free occasion for both.
            if warmth == PrefixWarmth::Cold { break; }
            if !is_cleared && decide(&mut view, &situation(EconomyPolicy::Clear, &rates)).is_some() {
                is_cleared = true;
                paid += price;
            }
            let step = 10 * i128::from(large - 60);
            if !is_cleared {
                paid += step;
                view.sent(warmth, 0);
            }
            kept += step;
        }
        let best = price.min(kept);
        prop_assert!(paid <= 2 * best + 10 * i128::from(large), "{paid} and the best is {best}");
    }

    /// Places and sizes stay consistent whatever is done in whatever order.
    #[test]
    fn v2_sizes_add_up_after_any_sequence_of_actions(
        steps in proptest::collection::vec((0_u8..7, 0_u64..5_000), 1..120),
    ) {
        let rates = rates();
        let mut view = ConversationRent::new(3_000);
        for (key, (kind, tokens)) in (0..).zip(steps) {
            match kind {
                0 => view.push(ViewPart::Text(tokens)),
                1 => view.push(ViewPart::Prompt(tokens)),
                2 => view.push(ViewPart::Thinking(tokens)),
                3 | 4 => view.push(result(key, tokens + 61)),
                5 => view.sent(PrefixWarmth::Hot, 10_000),
                _ => {
                    let warmth = if tokens % 2 == 0 { PrefixWarmth::Cold } else { PrefixWarmth::Hot };
                    let situation = RuleSituation {
                        warmth,
                        thinking: if tokens % 3 == 0 { StrippedThinking::After } else { StrippedThinking::None },
                        ..situation(EconomyPolicy::Clear, &rates)
                    };
                    let before = view.view();
                    if let Some(decision) = decide(&mut view, &situation)
                        && let EconomyAction::Clear(results) = decision.action
                    {
                        let results: Vec<usize> = results.collect();
                        view.clear(&results, situation.thinking);
                        prop_assert!(view.view() + decision.freed <= before);
                    }
                    view.sent(warmth, 10_000);
                }
            }
            let mut last = view.prefix();
            for index in 0..view.results().len() {
                let offset = view.offset(index).unwrap();
                prop_assert!(offset >= last);
                last = offset;
            }
            prop_assert!(last <= view.view() && view.sent_view() <= view.view());
        }
    }
}

#[test]
fn v5_the_newest_tokens_stay_whatever_they_cost() {
    let mut view = ConversationRent::new(1_000).leaving(10_000);
    for key in 0..10 {
        view.push(result(key, 4_000));
    }
    view.sent(PrefixWarmth::Hot, 0);
    // 40,000 tokens of results: the newest 10,000 hold two whole results and half of a third.
    assert_eq!(view.removable(PrefixWarmth::Hot), 7);
    let mut larger = ConversationRent::new(1_000).leaving(30_000);
    for key in 0..10 {
        larger.push(result(key, 4_000));
    }
    larger.sent(PrefixWarmth::Hot, 0);
    assert_eq!(larger.removable(PrefixWarmth::Hot), 2);
}

#[test]
fn v1_where_all_thinking_leaves_the_price_begins_at_the_first_of_it() {
    let rates = rates();
    let priced = |thinking| {
        let mut view = ConversationRent::new(1_000);
        view.push(ViewPart::Prompt(100));
        view.push(ViewPart::Thinking(50));
        view.push(ViewPart::Text(5_000));
        view.push(result(0, 9_060));
        for key in 1..4 {
            view.push(result(key, 100));
        }
        for _ in 0..1_000 {
            view.was_sent(PrefixWarmth::Hot, 0);
        }
        view.push(ViewPart::Prompt(10));
        view.was_sent(PrefixWarmth::Hot, 0);
        let situation = RuleSituation {
            thinking,
            ..situation(EconomyPolicy::Clear, &rates)
        };
        decide(&mut view, &situation).unwrap().price
    };
    // The marker, three small results and the prompt follow the large result.
    assert_eq!(priced(StrippedThinking::None), pico(115 * (60 + 300 + 10)));
    assert_eq!(priced(StrippedThinking::After), pico(115 * (60 + 300 + 10)));
    let from_thinking = 5_000 + 60 + 300 + 10;
    assert_eq!(priced(StrippedThinking::All), pico(115 * from_thinking));
}
