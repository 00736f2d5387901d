//! Tests the contents of the model table (N1, N2), the changes that a user's file makes to it, and the cost of a reply.

use super::*;
use crate::message::{Iteration, IterationKind, Usage};
use crate::money::Usd;

/// Looks up a model name in the built-in table.
fn builtin(name: &str) -> ResolvedModel {
    ModelTable::builtin().resolve(name)
}

/// Returns the built-in table with the changes of a valid models file.
fn extended(text: &str) -> ModelTable {
    ModelTable::builtin()
        .extended_with(text)
        .expect("a valid file")
}

/// Returns the error message for an invalid models file.
fn refused(text: &str) -> String {
    let table = ModelTable::builtin().extended_with(text);
    table.expect_err("an invalid file").to_string()
}

/// Returns an amount given in millionths of a dollar.
fn usd(micro: i128) -> Option<Usd> {
    Some(Usd::from_pico(micro * 1_000_000))
}

/// Returns the usage of one step, with tokens of each class that has a price of its own.
fn mixed() -> Usage {
    Usage {
        input: 1_000,
        cache_read: 50_000,
        cache_write_5m: 2_000,
        cache_write_1h: 4_000,
        output: 500,
        ..Usage::default()
    }
}

#[test]
fn n1_the_built_in_table_is_complete() {
    let table = ModelTable::builtin();
    assert_eq!(table.models().count(), 28);
    for model in table.models() {
        assert!(model.prices.is_some(), "{} has prices", model.id);
        assert!(model.tokenizer != Tokenizer::Unknown, "{}", model.id);
        let invented = |sentence: &String| sentence.contains("is not known");
        assert!(!model.assumptions.iter().any(invented), "{}", model.id);
        assert!(model.retired == model.assumptions.iter().any(|a| a.starts_with("Retired")));
    }
}

#[test]
fn n1_cache_prices_follow_the_published_multiples_of_input() {
    for model in ModelTable::builtin().models() {
        let prices = model.prices.as_ref().expect("priced").clone();
        let all = std::iter::once(prices.base).chain(prices.tiers.iter().map(|tier| tier.prices));
        for set in all {
            let input = set.input.of(1).pico();
            assert_eq!(set.cache_write_1h.of(1).pico(), input * 2, "{}", model.id);
            // The published price for cache writes of Claude 3 Haiku, 0.30, is the only one that is rounded.
            if model.id != "claude-3-haiku" {
                assert_eq!(
                    set.cache_write_5m.of(1).pico() * 4,
                    input * 5,
                    "{}",
                    model.id
                );
            }
            assert!(set.cache_read.of(1).pico() * 8 <= input, "{}", model.id);
            assert!(set.output > set.input, "{}", model.id);
        }
    }
}

#[test]
fn n1_the_table_has_the_facts_in_which_models_differ() {
    let spec = |id| builtin(id).spec;
    assert_eq!(spec("claude-opus-4-5").window, 200_000);
    assert_eq!(spec("claude-opus-4-5").max_output, 64_000);
    assert_eq!(spec("claude-opus-4-6").window, 1_000_000);
    assert_eq!(spec("claude-opus-4-6").cache_minimum, 4_096);
    assert_eq!(spec("claude-opus-4-6").tokenizer, Tokenizer::Old);
    assert_eq!(spec("claude-opus-4-7").tokenizer, Tokenizer::New);
    assert_eq!(spec("claude-opus-4-8").cache_minimum, 1_024);
    assert_eq!(spec("claude-sonnet-5-5").cache_minimum, 512);
    assert_eq!(spec("claude-3-5-haiku").cache_minimum, 2_048);
    let overhead = ToolOverhead {
        auto: 675,
        forced: 804,
    };
    assert_eq!(spec("claude-opus-4-7").tool_overhead, Some(overhead));
    assert!(spec("claude-3-opus").retired);
    assert!(!spec("claude-opus-4-5").us_surcharge);
}

#[test]
fn n2_thinking_rules_list_the_settings_that_each_generation_accepts() {
    let rules = |id| builtin(id).spec.thinking.clone();
    use ThinkingType::{Adaptive, BetweenTools, Disabled, Enabled};
    assert_eq!(rules("claude-haiku-4-5").accepts, [Enabled, Disabled]);
    assert_eq!(
        rules("claude-opus-4-6").accepts,
        [Enabled, Adaptive, Disabled]
    );
    assert_eq!(rules("claude-opus-4-7").accepts, [Adaptive, Disabled]);
    assert_eq!(rules("claude-opus-5-5").accepts, [Adaptive]);
    assert_eq!(
        rules("claude-opus-5").disabled_up_to,
        Some(EffortLevel::High)
    );
    assert!(rules("claude-sonnet-5-5").takes(BetweenTools));
    assert_eq!(rules("claude-sonnet-4-5").prior, PriorThinking::Strip);
    assert_eq!(rules("claude-opus-4-5").prior, PriorThinking::Keep);
    assert_eq!(rules("claude-fable-5-2").binding, ThinkingBinding::Always);
    assert_eq!(
        rules("claude-fable-5-1").binding,
        ThinkingBinding::NewAccounts
    );
    assert_eq!(rules("claude-mythos-5-1").binding, ThinkingBinding::None);
    assert!(!rules("claude-opus-4-8").binding.may_bind());
}

#[test]
fn n1_a_model_is_found_under_every_name_providers_give_it() {
    for (name, id) in [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
        ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet"),
        ("anthropic/claude-opus-4.6", "claude-opus-4-6"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-sonnet-4-5",
        ),
        (
            "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
            "claude-haiku-4-5",
        ),
        (
            "global.anthropic.claude-opus-4-5-20251101-v1:0",
            "claude-opus-4-5",
        ),
        (
            "openrouter/anthropic/claude-3.7-sonnet:thinking",
            "claude-3-7-sonnet",
        ),
        (
            "bedrock/us-east-1/anthropic.claude-3-haiku-20240307-v1:0",
            "claude-3-haiku",
        ),
        ("vertex_ai/claude-opus-4@20250514", "claude-opus-4"),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0",
            "claude-opus-4-1",
        ),
        ("claude-sonnet-4-0", "claude-sonnet-4"),
        ("Claude-Opus-4.6", "claude-opus-4-6"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
    ] {
        let resolved = builtin(name);
        assert_eq!(resolved.spec.id, id, "{name}");
        assert_eq!(resolved.requested, name);
    }
}

#[test]
fn n1_a_dated_name_needs_no_assumption_but_the_name_of_a_reseller_does() {
    assert!(builtin("claude-opus-4-5-20251101").assumptions.is_empty());
    assert!(builtin("anthropic/claude-opus-4-5").assumptions.is_empty());
    let resold = builtin("bedrock/anthropic.claude-opus-4-5-20251101-v1:0");
    assert_eq!(
        resold.assumptions,
        [
            "`bedrock/anthropic.claude-opus-4-5-20251101-v1:0` is taken as claude-opus-4-5, at the prices of its maker's own API."
        ]
    );
}

#[test]
fn n1_the_suffix_1m_in_brackets_sets_the_window_to_a_million() {
    let wide = builtin("claude-sonnet-4-5-20250929[1m]");
    assert_eq!(wide.spec.window, 1_000_000);
    assert_eq!(wide.assumptions.len(), 1);
    assert_eq!(builtin("claude-sonnet-4-5").spec.window, 200_000);
    assert!(builtin("claude-opus-4-6[1m]").assumptions.is_empty());
    let unknown = builtin("house-model[1m]");
    assert_eq!(unknown.spec.window, 1_000_000);
    assert!(!unknown.assumptions.iter().any(|a| a.contains("200,000")));
}

#[test]
fn n1_an_unknown_model_works_and_lists_its_assumptions() {
    let unknown = builtin("house-model-7b");
    assert_eq!(unknown.spec.id, "house-model-7b");
    assert_eq!(unknown.spec.window, 200_000);
    assert_eq!(unknown.spec.max_output, 32_000);
    assert_eq!(unknown.spec.cost(&mixed()), None);
    assert_eq!(unknown.spec.cost_of_reply(&mixed()), None);
    assert!(unknown.spec.thinking.binding.may_bind());
    let text = unknown.assumptions.join(" ");
    for part in ["200,000", "32,000", "1,024", "prices", "thinking"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(builtin("").spec.window, 200_000);
}

#[test]
fn n1_the_note_of_a_model_is_among_its_assumptions() {
    let assumptions = builtin("claude-sonnet-5-5").assumptions;
    assert!(assumptions[0].contains("0.20"), "{assumptions:?}");
}

#[test]
fn n1_the_cost_of_a_step_is_the_sum_over_its_token_classes() {
    // Opus 4.5 costs 5, 0.50, 6.25, 10 and 25 dollars per million tokens.
    let cost = builtin("claude-opus-4-5").spec.cost(&mixed());
    assert_eq!(cost, usd(5_000 + 25_000 + 12_500 + 40_000 + 12_500));
}

#[test]
fn n1_a_price_tier_begins_above_its_size_and_applies_to_the_whole_step() {
    let haiku = builtin("claude-haiku-5-5").spec;
    let prompt = |cache_read| Usage {
        input: 1_000,
        cache_read,
        output: 1_000,
        ..Usage::default()
    };
    assert_eq!(haiku.cost(&prompt(99_000)), usd(100 + 990 + 500));
    // Above 100,000 tokens, the prices are 0.50, 0.05 and 2.50 dollars per million, exact to the picodollar.
    let over = haiku.cost(&prompt(99_001)).expect("priced");
    assert_eq!(over.pico(), 500_000_000 + 99_001 * 50_000 + 2_500_000_000);
}

#[test]
fn n1_batch_halves_and_the_us_surcharge_applies_from_4_6_on() {
    let step = |batch, us_only| Usage {
        input: 1_000_000,
        batch,
        us_only,
        ..Usage::default()
    };
    let new = builtin("claude-opus-4-6").spec;
    assert_eq!(new.cost(&step(true, false)), usd(2_500_000));
    assert_eq!(new.cost(&step(false, true)), usd(5_500_000));
    assert_eq!(new.cost(&step(true, true)), usd(2_750_000));
    let old = builtin("claude-opus-4-5").spec;
    assert_eq!(old.cost(&step(false, true)), usd(5_000_000));
}

#[test]
fn n1_a_reply_costs_the_sum_of_its_steps_each_in_its_own_tier_under_the_replys_terms() {
    let step = |kind, cache_read| Iteration {
        kind,
        usage: Usage {
            cache_read,
            ..Usage::default()
        },
    };
    let reply = Usage {
        // The totals do not include the first step, a compaction by the provider, so they differ from the bill.
        cache_read: 50_000,
        batch: true,
        iterations: vec![
            step(IterationKind::Other, 200_000),
            step(IterationKind::Message, 50_000),
        ],
        ..Usage::default()
    };
    let haiku = builtin("claude-haiku-5-5").spec;
    assert_eq!(haiku.cost_of_reply(&reply), usd((10_000 + 500) / 2));
}

#[test]
fn n1_a_users_file_overrides_field_by_field() {
    let table = extended(
        "[models.claude-opus-4-6]\nwindow = 200_000\nprices.output = 20\nthinking.binding = \"always\"\n",
    );
    let changed = table.resolve("anthropic/claude-opus-4.6").spec;
    let original = builtin("claude-opus-4-6").spec;
    assert_eq!(changed.window, 200_000);
    assert_eq!(changed.max_output, original.max_output);
    assert_eq!(changed.thinking.accepts, original.thinking.accepts);
    assert_eq!(changed.thinking.binding, ThinkingBinding::Always);
    let step = Usage {
        input: 1_000_000,
        output: 1_000_000,
        ..Usage::default()
    };
    assert_eq!(changed.cost(&step), usd(25_000_000));
}

#[test]
fn n1_a_users_file_adds_models_and_missing_fields_are_assumed() {
    let table = extended(
        "[models.\"qwen2.5:14b\"]\nwindow = 32_768\nmax_output = 8_192\nprices = { input = 0.000001, output = 2 }\naliases = [\"house\"]\n",
    );
    let model = table.resolve("qwen2.5:14b");
    assert_eq!(model.spec.window, 32_768);
    let step = Usage {
        cache_read: 1,
        ..Usage::default()
    };
    assert_eq!(model.spec.cost(&step), Some(Usd::from_pico(1)));
    assert!(model.assumptions.iter().any(|a| a.contains("cache price")));
    assert!(!model.assumptions.iter().any(|a| a.contains("window")));
    assert_eq!(table.resolve("house").spec.id, "qwen2.5:14b");
    assert_eq!(table.resolve("ollama/qwen2.5:14b").spec.id, "qwen2.5:14b");
    assert!(table.resolve("qwen2.5:7b").spec.prices.is_none());
}

#[test]
fn n1_a_dated_id_in_a_users_file_starts_from_the_model_without_the_date() {
    let table = extended("[models.claude-opus-4-5-20251101]\nwindow = 500_000\n");
    let dated = table.resolve("claude-opus-4-5-20251101").spec;
    assert_eq!((dated.window, dated.max_output), (500_000, 64_000));
    assert_eq!(table.resolve("claude-opus-4-5").spec.window, 200_000);
    assert_eq!(
        table.resolve("anthropic/claude-opus-4.5").spec.window,
        200_000
    );
}

#[test]
fn n1_a_second_file_removes_an_assumption() {
    let first = extended("[models.house]\nwindow = 50_000\n");
    assert!(first.resolve("house").assumptions[0].contains("maximum output"));
    let second = first
        .extended_with("[models.house]\nmax_output = 4_000\n")
        .expect("a valid file");
    let house = second.resolve("house");
    assert_eq!((house.spec.window, house.spec.max_output), (50_000, 4_000));
    assert!(!house.assumptions[0].contains("maximum output"));
}

#[test]
fn n1_a_typo_in_a_models_file_is_named_with_its_line() {
    let error = refused("# mine\n[models.house]\nwindow = 50_000\nmax_outptu = 5\n");
    assert!(error.starts_with("line 4: "), "{error}");
    assert!(error.contains("max_outptu"), "{error}");
    let error = refused("[models.house.prices]\ninput = 1\noutput = 1\ncashe_read = 1\n");
    assert!(
        error.starts_with("line 4: ") && error.contains("cashe_read"),
        "{error}"
    );
    let error = refused("\n[model.house]\nwindow = 1\n");
    assert!(
        error.starts_with("line 2: ") && error.contains("model"),
        "{error}"
    );
}

#[test]
fn n1_a_wrong_value_in_a_models_file_is_named_with_its_line() {
    for (text, line, part) in [
        ("[models.a]\nwindow = \"big\"\n", 2, "big"),
        ("[models.a]\nwindow = 0\n", 2, "nonzero"),
        ("[models.a]\n\nmax_output = -5\n", 3, "-5"),
        (
            "[models.a]\nprices = { input = -1, output = 2 }\n",
            2,
            "dollars",
        ),
        (
            "[models.a]\nprices.input = 0.0000001\nprices.output = 1\n",
            2,
            "six decimals",
        ),
        (
            "[models.a]\nprices.input = nan\nprices.output = 1\n",
            2,
            "dollars",
        ),
        (
            "[models.a]\nthinking.accepts = [\"sometimes\"]\n",
            2,
            "sometimes",
        ),
        ("[models.a]\nwindow = \n", 2, ""),
    ] {
        let error = refused(text);
        assert!(
            error.starts_with(&format!("line {line}: ")),
            "{text}: {error}"
        );
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn n1_prices_of_a_new_model_need_both_input_and_output() {
    let text = "[models.other]\nwindow = 9_000\n\n[models.house]\nprices = { input = 1 }\n";
    let error = ModelTable::builtin()
        .extended_with(text)
        .expect_err("an invalid file");
    let expected = ModelFileError::IncompletePrices {
        line: 4,
        model: "house".into(),
        missing: "output",
    };
    assert_eq!(error, expected);
}

#[test]
fn n1_a_search_of_the_web_has_a_price_besides_the_tokens() {
    let table = ModelTable::builtin();
    let json = br#"{"input_tokens": 100, "output_tokens": 5, "server_tool_use": {"web_search_requests": 3}}"#;
    let usage = Usage::read(json).unwrap();
    assert_eq!(usage.web_searches, 3);
    let without = Usage {
        web_searches: 0,
        ..usage.clone()
    };
    let spec = table.resolve("claude-sonnet-4-6").spec;
    let searches = spec.cost_of_reply(&usage).unwrap() - spec.cost_of_reply(&without).unwrap();
    assert_eq!(searches.to_f64(), 0.03);
    assert_eq!(spec.web_search_price().unwrap().to_f64(), 0.01);
    // Steps have no searches of their own, so a reply with steps is not billed for less.
    let stepped = Usage {
        iterations: vec![Iteration {
            kind: IterationKind::Message,
            usage: without.clone(),
        }],
        ..usage.clone()
    };
    assert_eq!(spec.cost_of_reply(&stepped), spec.cost_of_reply(&usage));
    let mut sum = Usage::default();
    sum.add_billed(&stepped);
    assert_eq!((sum.input, sum.web_searches), (100, 3));
}

#[test]
fn n1_who_resells_a_model_does_not_search_for_it() {
    let price = |name: &str| ModelTable::builtin().resolve(name).spec.web_search_price();
    assert!(price("claude-sonnet-4-6").is_some());
    for without in [
        "us.anthropic.claude-sonnet-4-6-20250929-v1:0",
        "claude-3-haiku",
        "gpt-5",
    ] {
        assert_eq!(price(without), None, "{without}");
    }
    let mine = ModelTable::builtin()
        .extended_with("[models.mine]\nprices = { input = 1, output = 2, web_search = 5 }\n")
        .unwrap();
    let price = mine.resolve("mine").spec.web_search_price().unwrap();
    assert_eq!(price.to_f64(), 0.005);
}
