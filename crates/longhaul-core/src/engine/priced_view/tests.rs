//! Tests what a view is taken to weigh, what a summary of it is expected to leave, and how requests are taken to have
//! been billed, to the token.

use serde_json::{Value, json};

use super::*;
use crate::economy::{CLEARED_RESULT, TokenRates};
use crate::message::Entry;
use crate::models::ModelTable;
use crate::prompt::Ttl;

/// The request prefix until a reply has measured it.
const PREFIX: u64 = 20_000;
/// A view after a summary has the newest tokens word for word, beside the request prefix and the user's words.
const VERBATIM: u64 = 10_000;

fn terms(thinking: StrippedThinking, entries: CacheEntryPlaces) -> PricedViewTerms {
    PricedViewTerms {
        prefix: PREFIX,
        scale: WindowScale::of_window(200_000),
        tokenizer: Tokenizer::Old,
        thinking,
        entries,
    }
}

/// A view that is told entry by entry.
struct ToldView(PricedView);

impl ToldView {
    fn new() -> Self {
        Self::on(terms(
            StrippedThinking::None,
            CacheEntryPlaces::AtBreakpoints,
        ))
    }

    fn on(terms: PricedViewTerms) -> Self {
        Self(PricedView::new(terms, ClearableTools::default()))
    }

    fn push_as(&mut self, standing: EntryStanding, entry: &Value) -> u64 {
        let before = self.0.tokens();
        let entry = Entry::read(entry.to_string().into()).unwrap();
        self.0.push(entry.view(), standing);
        self.0.tokens().saturating_sub(before)
    }

    /// Adds an entry; returns by how many tokens the view has grown.
    fn push(&mut self, entry: &Value) -> u64 {
        self.push_as(EntryStanding::Live, entry)
    }

    fn keep(&mut self, entry: &Value) -> u64 {
        self.push_as(EntryStanding::Preserved, entry)
    }

    /// The model reads a file. Returns what clearing the result frees.
    fn reads(&mut self, id: &str, lines: usize) -> u64 {
        self.push(&calls(id, &format!("/p/{id}")));
        self.push(&result(id, &text(lines))) - CLEARED_RESULT
    }

    fn prefix(&self) -> u64 {
        self.0.rent.view().prefix()
    }

    fn messages(&self) -> u64 {
        self.0.tokens() - self.prefix()
    }

    fn after_summary(&self) -> u64 {
        self.0.forecast().view_after
    }

    fn cache_end(&self) -> Option<u64> {
        self.0.rent.view().cache_end()
    }

    /// The places of the results that may be cleared.
    fn offsets(&self) -> Vec<u64> {
        let view = self.0.rent.view();
        (0..view.results().len())
            .filter_map(|at| view.offset(at))
            .collect()
    }

    /// Whether a summary is expected to have saved anything yet.
    fn has_summary_rent(&self) -> bool {
        let spec = ModelTable::builtin().resolve("claude-sonnet-4-6").spec;
        let rates = TokenRates::of(&spec.prices.clone().unwrap(), 100_000, Ttl::FiveMinutes);
        self.0.rent.view().summary_rent(&rates) > crate::money::Usd::ZERO
    }
}

/// A text of about seven tokens a line.
fn text(lines: usize) -> String {
    "a line of words in a text\n".repeat(lines)
}

fn says(words: &str) -> Value {
    json!({"type": "user", "timestamp": "2026-01-01T10:00:00Z",
        "message": {"role": "user", "content": [{"type": "text", "text": words}]}})
}

/// A line of a reply of this message, which was billed like this.
fn reply(message: &str, content: Value, usage: &Usage) -> Value {
    let mut line = json!({"type": "assistant", "timestamp": "2026-01-01T10:00:30Z", "message":
        {"role": "assistant", "model": "m", "content": content, "usage": {
            "input_tokens": usage.input, "cache_read_input_tokens": usage.cache_read,
            "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write_5m,
                "ephemeral_1h_input_tokens": usage.cache_write_1h},
            "output_tokens": usage.output}}});
    if !message.is_empty() {
        line["message"]["id"] = json!(message);
    }
    line
}

fn words(words: &str) -> Value {
    json!([{"type": "text", "text": words}])
}

/// A reply to a prompt of this size, all of which was written to the cache.
fn answers(message: &str, prompt: u64) -> Value {
    let usage = Usage {
        cache_write_5m: prompt,
        output: 5,
        ..Usage::default()
    };
    reply(message, words("Yes."), &usage)
}

fn calls(id: &str, path: &str) -> Value {
    let call =
        json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}}]);
    let mut line = reply(&format!("m-{id}"), call, &Usage::default());
    line["message"]["usage"] = Value::Null;
    line
}

fn result(id: &str, content: &str) -> Value {
    json!({"type": "user", "timestamp": "2026-01-01T10:00:00Z", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": content}]}})
}

fn clears(ids: &[&str]) -> Value {
    json!({"type": "system", "subtype": "microcompact_boundary",
        "microcompactMetadata": {"compactedToolIds": ids}})
}

fn edits(ids: &[&str]) -> Value {
    json!({"type": "system", "subtype": "microcompact_boundary",
        "microcompactMetadata": {"compactedToolIds": [], "cacheEdits": ids}})
}

fn boundary(made: &Value) -> Value {
    json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"made": made}})
}

fn summary(lines: usize) -> Value {
    let mut summary = says(&text(lines));
    summary["isCompactSummary"] = json!(true);
    summary
}

#[test]
fn v2_the_first_reply_with_a_measurement_tells_the_size_of_the_request_prefix_and_no_later_one() {
    let mut view = ToldView::new();
    let messages = view.push(&says("Build a parser."));
    assert_eq!(view.prefix(), PREFIX);
    view.push(&answers("m1", 30_000));
    assert_eq!(view.prefix(), 30_000 - messages);
    view.push(&answers("m2", 60_000));
    assert_eq!(view.prefix(), 30_000 - messages);
}

#[test]
fn v2_a_reply_without_a_measurement_and_one_that_was_kept_tell_nothing_of_the_request_prefix() {
    let mut view = ToldView::new();
    view.keep(&answers("m0", 50_000));
    view.push(&says("Build a parser."));
    view.push(&answers("m1", 0));
    assert_eq!(view.prefix(), PREFIX);
    let messages = view.messages();
    view.push(&answers("m2", 30_000));
    assert_eq!(view.prefix(), 30_000 - messages);
}

#[test]
fn v2_the_next_summary_is_expected_to_leave_no_less_than_was_measured_after_the_last_one() {
    let after = |is_compacted: bool, prompts: &[u64]| {
        let mut view = ToldView::new();
        if is_compacted {
            view.push(&boundary(&json!({})));
        }
        assert!(view.push(&summary(4_000)) > 20_000);
        for (at, prompt) in prompts.iter().enumerate() {
            view.push(&answers(&format!("m{at}"), *prompt));
        }
        (view.after_summary(), view.prefix())
    };
    assert_eq!(after(true, &[40_000]).0, 40_000);
    assert_eq!(after(true, &[0, 40_000]).0, 40_000);
    assert_eq!(after(true, &[40_000, 50_000]).0, 40_000);
    let (left, prefix) = after(false, &[40_000]);
    assert_eq!(left, prefix + 4_000 + 2_000 + VERBATIM);
    assert!(left < 40_000, "so the measurement decided");
}

#[test]
fn v2_a_summary_is_expected_to_be_as_long_as_the_sessions_summaries_were() {
    let output = |made: &Value| {
        let mut view = ToldView::new();
        view.push(&boundary(made));
        view.0.forecast().output
    };
    let summaries =
        |count, tokens| json!({"sessionSummaries": {"count": count, "outputTokens": tokens}});
    assert_eq!(output(&summaries(2, 6_000)), 3_000);
    assert_eq!(output(&summaries(0, 6_000)), 4_000);
    assert_eq!(output(&json!({})), 4_000);
    let mut view = ToldView::new();
    view.push(&boundary(&summaries(2, 6_000)));
    view.reads("a", 300);
    view.push(&edits(&["a"]));
    view.push(&edits(&[]));
    assert_eq!(view.0.forecast().output, 3_000, "also after cache edits");
}

#[test]
fn v2_the_sizes_of_a_sessions_summaries_are_counted_with_each_that_wrote_anything() {
    let none = SummaryOutputs::default();
    assert_eq!(none.to_boundary(), None);
    let wrote = |output| Usage {
        output,
        ..Usage::default()
    };
    assert_eq!(none.with(None), none);
    assert_eq!(none.with(Some(&wrote(0))), none);
    let once = none.with(Some(&wrote(500)));
    let expected = json!({"count": 1, "outputTokens": 500});
    assert_eq!(once.to_boundary(), Some(expected));
    let twice = once.with(Some(&wrote(700)));
    let expected = json!({"count": 2, "outputTokens": 1_200});
    assert_eq!(twice.to_boundary(), Some(expected));
}

#[test]
fn v2_a_summary_is_expected_to_repeat_what_the_user_wrote_and_nothing_else() {
    let left_by = |entry: &Value| {
        let mut view = ToldView::new();
        let before = view.after_summary();
        let tokens = view.push(entry);
        assert!(tokens > 1_000, "{tokens}");
        (view.after_summary() - before, tokens)
    };
    let long = text(300);
    let (more, tokens) = left_by(&says(&long));
    assert_eq!(more, tokens);
    let mut meta = says(&long);
    meta["isMeta"] = json!(true);
    let attached = json!({"type": "attachment", "attachment":
        {"type": "file", "filename": "/p/a", "content": {"type": "text", "file": {"content": long}}}});
    let answer = reply("m", words(&long), &Usage::default());
    for other in [meta, summary(300), attached, answer, result("none", &long)] {
        assert_eq!(left_by(&other).0, 0, "{}", other["type"]);
    }
}

#[test]
fn n2_where_thinking_is_bound_it_leaves_with_a_cleared_result() {
    let thought = text(400);
    let leaves = |thinking| {
        let mut view = ToldView::on(terms(thinking, CacheEntryPlaces::AtBreakpoints));
        view.push(&says("Go on."));
        let thinks = json!([{"type": "thinking", "thinking": thought, "signature": ""}]);
        let thinking = view.push(&reply("m1", thinks, &Usage::default()));
        view.push(&reply("m2", words(&text(100)), &Usage::default()));
        let freed = view.reads("a", 300);
        let before = view.0.tokens();
        view.push(&clears(&["a"]));
        assert!(thinking > 2_000 && freed > 1_000);
        (before - view.0.tokens(), freed, thinking)
    };
    let (gone, freed, thinking) = leaves(StrippedThinking::All);
    assert_eq!(gone, freed + thinking);
    let (gone, freed, _) = leaves(StrippedThinking::None);
    assert_eq!(gone, freed);
}

#[test]
fn v2_the_rent_of_a_summary_starts_again_after_the_entries_that_were_kept() {
    let paid = |kept: bool| {
        let mut view = ToldView::new();
        for at in 0..3 {
            let standing = match kept {
                true => EntryStanding::Preserved,
                false => EntryStanding::Live,
            };
            view.push_as(standing, &says(&text(10)));
            let answer = reply(&format!("k{at}"), words(&text(4_000)), &Usage::default());
            view.push_as(standing, &answer);
        }
        let kept = view.has_summary_rent();
        view.push(&says("And?"));
        (kept, view.has_summary_rent())
    };
    assert_eq!(paid(true), (true, false));
    assert_eq!(paid(false), (true, true));
}

#[test]
fn v2_after_the_kept_entries_each_request_is_paid_for() {
    let mut view = ToldView::new();
    view.keep(&reply("k", words(&text(8_000)), &Usage::default()));
    for at in 0..2 {
        view.push(&says("And?"));
        view.push(&reply(&format!("m{at}"), words("Yes."), &Usage::default()));
    }
    assert!(view.has_summary_rent());
}

#[test]
fn v2_entries_that_were_kept_say_nothing_about_the_newest_request() {
    let mut view = ToldView::new();
    let uncached = Usage {
        input: 9_000,
        ..Usage::default()
    };
    let live = reply("m1", words("Yes."), &uncached);
    for at in 0..9 {
        view.keep(&says("And?"));
        view.keep(&reply(&format!("k{at}"), words(&text(50)), &uncached));
    }
    assert_eq!(
        (view.0.billed(), view.0.started()),
        (PrefixWarmth::Hot, None)
    );
    assert_eq!(view.0.growth(), 0);
    let asked = says("And?");
    view.push(&asked);
    view.push(&live);
    assert_eq!(view.0.billed(), PrefixWarmth::Uncached);
    let started = asked["timestamp"].as_str().unwrap().parse().unwrap();
    assert_eq!(view.0.started(), Some(started), "with its question");
}

#[test]
fn v2_a_clearing_is_noted_until_the_next_request_that_counts() {
    let mut view = ToldView::new();
    view.reads("a", 300);
    assert!(!view.0.is_changed());
    view.push(&edits(&["a"]));
    assert!(!view.0.is_changed(), "the conversation is not sent anew");
    view.push(&clears(&["a"]));
    assert!(view.0.is_changed());
    view.push(&says("And?"));
    assert!(view.0.is_changed());
    view.push(&answers("m", 0));
    assert!(!view.0.is_changed());
}

#[test]
fn m6_the_lines_of_one_reply_belong_to_one_request() {
    let growth = |messages: &[&str]| {
        let mut view = ToldView::new();
        view.push(&says("Build a parser."));
        for message in messages {
            view.push(&reply(message, words(&text(50)), &Usage::default()));
        }
        view.0.growth()
    };
    assert!(
        growth(&["a", "b", "c", "d"]) > 0,
        "known after four requests"
    );
    assert_eq!(growth(&["a", "a", "b", "b", "c", "c"]), 0);
    assert!(
        growth(&["", "", "", ""]) > 0,
        "each without an id is its own"
    );
}

/// How a second request is billed that read this much, after one of 30,000 tokens and perhaps a clearing.
fn billed(usage: &Usage) -> PrefixWarmth {
    let mut view = ToldView::new();
    view.push(&says("Build a parser."));
    view.push(&answers("m1", 30_000));
    assert_eq!(view.0.reusable, 30_000);
    view.push(&says("And?"));
    view.push(&reply("m2", words("Yes."), usage));
    view.0.billed()
}

#[test]
fn v2_a_request_that_read_half_of_what_it_could_was_hot() {
    let usage = |cache_read, cache_write_5m, cache_write_1h| Usage {
        input: 10,
        cache_read,
        cache_write_5m,
        cache_write_1h,
        ..Usage::default()
    };
    assert_eq!(billed(&usage(15_000, 15_000, 0)), PrefixWarmth::Hot);
    assert_eq!(billed(&usage(14_999, 15_000, 0)), PrefixWarmth::Cold);
    assert_eq!(billed(&usage(0, 30_000, 0)), PrefixWarmth::Cold);
    assert_eq!(billed(&usage(0, 0, 30_000)), PrefixWarmth::Cold);
    assert_eq!(billed(&usage(0, 500, 500)), PrefixWarmth::Cold);
    assert_eq!(billed(&usage(20_000, 0, 0)), PrefixWarmth::Hot);
    assert_eq!(billed(&usage(0, 0, 0)), PrefixWarmth::Uncached);
    assert_eq!(billed(&Usage::default()), PrefixWarmth::Hot, "unknown");
}

#[test]
fn v2_after_a_clearing_a_request_can_read_what_is_before_the_first_cleared_result() {
    let billed = |cleared: &[&str], cache_read| {
        let mut view = ToldView::new();
        view.push(&says("Read them."));
        view.reads("a", 1_500);
        view.reads("b", 1_500);
        view.reads("c", 300);
        view.push(&answers("m1", 0));
        for call in cleared {
            view.push(&clears(&[call]));
        }
        let first = view.offsets().first().copied();
        view.push(&says("And?"));
        let usage = Usage {
            cache_read,
            cache_write_5m: 1_000,
            ..Usage::default()
        };
        view.push(&reply("m2", words("Yes."), &usage));
        (view.0.billed(), first)
    };
    // 20,000 tokens are before the first result, and twice 10,000 after it.
    assert_eq!(billed(&[], 12_000).0, PrefixWarmth::Cold);
    assert_eq!(billed(&["a"], 12_000).0, PrefixWarmth::Hot);
    assert_eq!(billed(&["a"], 9_000).0, PrefixWarmth::Cold);
    assert_eq!(billed(&["b"], 12_000).0, PrefixWarmth::Cold);
    // A second clearing before the request does not make more of it readable.
    assert_eq!(billed(&["a", "b"], 12_000).0, PrefixWarmth::Hot);
    assert_eq!(billed(&["unknown"], 12_000).0, PrefixWarmth::Cold);
}

#[test]
fn v1_the_cache_is_found_before_what_may_be_removed_next() {
    let mut view = ToldView::new();
    view.push(&says("Read them."));
    view.push(&calls("a", "/p/a"));
    assert_eq!(view.cache_end(), None);
    view.push(&result("a", &text(300)));
    for id in ["b", "c", "d", "e"] {
        view.reads(id, 300);
    }
    view.push(&says("And?"));
    let places = view.offsets();
    assert_eq!(view.cache_end(), Some(places[0]), "before the first result");
    view.push(&edits(&["a"]));
    assert_eq!(view.cache_end(), Some(places[0]), "nothing is sent anew");
    view.push(&edits(&[]));
    view.push(&clears(&["c"]));
    let left = view.offsets();
    assert_eq!(view.cache_end(), Some(left[2]), "before d");
    view.push(&clears(&["a"]));
    assert_eq!(view.cache_end(), Some(view.offsets()[0]), "before b");
    view.push(&clears(&["unknown"]));
    assert_eq!(view.cache_end(), Some(view.offsets()[0]));
    view.push(&clears(&["b", "d", "e"]));
    assert_eq!(view.cache_end(), Some(view.0.tokens()));
}

#[test]
fn v1_the_cache_is_found_before_thinking_and_everywhere_without_breakpoints() {
    let end = |entries| {
        let mut view = ToldView::on(terms(StrippedThinking::All, entries));
        let asked = view.push(&says("Think."));
        let thinks = json!([{"type": "thinking", "thinking": text(100), "signature": ""}]);
        view.push(&reply("m1", thinks, &Usage::default()));
        let thought = view.cache_end();
        view.reads("a", 300);
        assert_eq!(view.cache_end(), thought);
        view.push(&clears(&["a"]));
        (
            thought.map(|end| end - PREFIX - asked),
            view.cache_end().is_some(),
        )
    };
    assert_eq!(end(CacheEntryPlaces::AtBreakpoints), (Some(0), true));
    assert_eq!(end(CacheEntryPlaces::Everywhere), (None, false));
}

/// A view with three results, and what clearing each of them frees.
fn three_results() -> (ToldView, [u64; 3]) {
    let mut view = ToldView::new();
    view.push(&says("Read them."));
    let freed = [("a", 300), ("b", 400), ("c", 500)].map(|(id, lines)| view.reads(id, lines));
    view.push(&answers("m", 0));
    (view, freed)
}

#[test]
fn u4_results_that_are_dropped_from_the_cache_are_freed_once_and_come_back_when_that_ends() {
    let (mut view, [a, b, c]) = three_results();
    let full = view.0.tokens();
    view.push(&edits(&["a"]));
    assert_eq!(view.0.tokens(), full - a);
    view.push(&edits(&["a", "b"]));
    assert_eq!(view.0.tokens(), full - a - b);
    view.push(&edits(&["b"]));
    assert_eq!(view.0.tokens(), full - b, "a came back");
    view.push(&edits(&["a"]));
    assert_eq!(view.0.tokens(), full - a, "and b, for a");
    view.push(&edits(&[]));
    assert_eq!(view.0.tokens(), full);
    view.push(&edits(&["b"]));
    view.push(&clears(&["c"]));
    assert_eq!(view.0.tokens(), full - c, "a clearing ends the edits");
    view.push(&edits(&["a"]));
    view.push(&edits(&[]));
    assert_eq!(view.0.tokens(), full - c, "and lasts longer than they do");
}

#[test]
fn u4_thinking_stays_where_results_are_dropped_from_the_cache() {
    let mut view = ToldView::on(terms(
        StrippedThinking::All,
        CacheEntryPlaces::AtBreakpoints,
    ));
    view.push(&says("Think."));
    let thinks = json!([{"type": "thinking", "thinking": text(100), "signature": ""}]);
    view.push(&reply("m1", thinks, &Usage::default()));
    let freed = view.reads("a", 300);
    let full = view.0.tokens();
    view.push(&edits(&["a"]));
    assert_eq!(view.0.tokens(), full - freed);
}

#[test]
fn u4_of_what_was_cleared_before_a_compaction_only_cache_edits_are_over() {
    let (mut view, [a, ..]) = three_results();
    let full = view.0.tokens();
    view.keep(&edits(&["a"]));
    assert_eq!(view.0.tokens(), full);
    view.keep(&clears(&["a"]));
    assert_eq!(view.0.tokens(), full - a);
    assert!(!view.0.is_changed(), "no rendering that goes on is changed");
}

#[test]
fn v4_a_result_that_a_later_one_replaced_is_found_by_its_call() {
    let mut view = ToldView::new();
    for (id, path) in [("a", "/p/1"), ("b", "/p/2"), ("c", "/p/1")] {
        view.push(&calls(id, path));
        view.push(&result(id, &text(300)));
    }
    let of = |ids: &[&str]| ids.iter().map(|id| Id::of(id)).collect::<Set<Id>>();
    assert_eq!(view.0.superseded(), of(&["a"]));
    assert_eq!(view.0.calls_of(1..3), of(&["b", "c"]));
    view.push(&clears(&["a"]));
    assert_eq!(view.0.calls_of(0..1), of(&["b"]));
}

#[test]
fn v4_a_small_result_is_not_cleared_but_counts_among_the_newest() {
    let mut view = ToldView::new();
    for (id, lines) in [("a", 300), ("b", 1), ("c", 300)] {
        view.push(&calls(id, id));
        view.push(&result(id, &text(lines)));
    }
    assert_eq!(view.offsets().len(), 3);
    let freed = view.0.calls_of(0..3);
    assert_eq!(freed, ["a", "c"].into_iter().map(Id::of).collect());
}

#[test]
fn v4_only_the_first_result_of_a_call_to_a_tool_that_can_be_called_again_may_go() {
    let mut view = ToldView::new();
    view.reads("a", 300);
    view.push(&result("a", &text(300)));
    let mut asks = calls("b", "/p/b");
    asks["message"]["content"][0]["name"] = json!("AskUserQuestion");
    view.push(&asks);
    view.push(&result("b", &text(300)));
    let results = view.0.rent.view().results();
    assert_eq!(results.filter(|result| result.freed > 0).count(), 1);
}
