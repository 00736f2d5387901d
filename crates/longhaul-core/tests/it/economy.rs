//! Decisions by price over whole sessions: against the best schedule in hindsight, on generated sessions and on the
//! recorded ones.

use jiff::{SignedDuration, Timestamp};
use longhaul_core::economy::{EconomyPolicy, ResultSubject, SubjectEffect};
use longhaul_core::message::{Id, Usage};
use longhaul_core::micro::ClearableTools;
use longhaul_core::models::ModelTable;
use longhaul_core::prompt::Ttl;
use longhaul_core::replay::{
    ActionReason, HindsightKind, ItemKind, PricedConversation, RecordedBill, RecordedConversation,
    RecordedItem, RecordedRequest, ReplayDriver, ReplayTerms, ReplayWindow, ReplayedHost,
    SessionFacts, SessionRecording, SessionRecordingReader, best_in_hindsight, replay, simulate,
};
use longhaul_testkit::corpora;
use proptest::prelude::*;

const MODEL: &str = "claude-sonnet-4-6";
/// What it costs to write a token of that model to the cache for five minutes, in dollars.
const SONNET_WRITE: f64 = 3.75e-6;

/// What one request of a generated session adds.
#[derive(Debug, Clone, Copy)]
struct Added {
    text: u64,
    results: [u64; 2],
    prompt: u64,
    gap: i64,
}

fn added() -> impl Strategy<Value = Added> {
    let result = prop_oneof![3 => 0_u64..3_000, 1 => 3_000_u64..40_000];
    let gap = prop_oneof![12 => 5_i64..120, 1 => 300_i64..9_000];
    // Now and then the conversation grows by much more than what could be cleared.
    let text = prop_oneof![8 => 20_u64..1_500, 1 => 5_000_u64..60_000];
    let prompt = prop_oneof![6 => Just(0_u64), 1 => 10_u64..2_000];
    (text, [result.clone(), result], prompt, gap).prop_map(|(text, results, prompt, gap)| Added {
        text,
        results,
        prompt,
        gap,
    })
}

fn session(requests: &[Added]) -> SessionRecording {
    let mut conversation = RecordedConversation {
        prefix: 25_000,
        hot_prefix: 20_000,
        ..RecordedConversation::default()
    };
    let mut start: Timestamp = "2026-11-01T08:00:00Z".parse().unwrap();
    let mut sent = conversation.prefix;
    for (line, added) in (1..).zip(requests) {
        let mut item = |kind, tokens| {
            if tokens > 0 {
                sent += tokens;
                conversation.items.push(RecordedItem {
                    kind,
                    tokens,
                    subject: None,
                });
            }
        };
        item(ItemKind::Prompt, added.prompt);
        item(ItemKind::Text, added.text);
        for tokens in added.results {
            item(ItemKind::Result, tokens);
        }
        start += SignedDuration::from_secs(added.gap);
        conversation.requests.push(RecordedRequest {
            line,
            message: None,
            model: 0,
            start: Some(start),
            usage: Usage {
                cache_write_5m: sent,
                ..Usage::default()
            },
            output: 300,
            items_end: conversation.items.len(),
            change: Default::default(),
        });
    }
    SessionRecording {
        conversations: vec![conversation],
        models: vec![MODEL.to_owned()],
        ttl: Ttl::FiveMinutes,
        facts: SessionFacts {
            entries: requests.len() as u64,
            ..SessionFacts::default()
        },
    }
}

fn priced(session: &SessionRecording, window: u64) -> PricedConversation {
    let terms = ReplayTerms::of(session, &ModelTable::builtin(), None, None);
    let terms = terms.in_window(ReplayWindow::Tokens(window));
    PricedConversation::new(&session.conversations[0], &terms).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn v3_a_generated_session_costs_at_most_twice_the_best_of_the_family_and_one_action(
        requests in proptest::collection::vec(added(), 2..70),
    ) {
        let priced = priced(&session(&requests), 100_000_000);
        let best = best_in_hindsight(&priced);
        for ((_, best), policy) in best.iter().zip([EconomyPolicy::Clear, EconomyPolicy::Full]) {
            let run = simulate(&priced, ReplayDriver::Policy(policy));
            let action = run.actions.iter().map(|action| action.price).max().unwrap_or_default();
            let bound = best.prompt_side + best.prompt_side + action;
            prop_assert!(run.prompt_side() <= bound, "{policy:?}: {} and {}", run.prompt_side(), best.prompt_side);
        }
    }

    #[test]
    fn v7_the_best_clearings_cost_what_the_search_says_and_no_policy_beats_them(
        requests in proptest::collection::vec(added(), 2..50),
    ) {
        let priced = priced(&session(&requests), 100_000_000);
        let append_only = simulate(&priced, ReplayDriver::AppendOnly).prompt_side();
        let clear = simulate(&priced, ReplayDriver::Policy(EconomyPolicy::Clear)).prompt_side();
        let [(kind, best), (_, full)] = best_in_hindsight(&priced);
        prop_assert_eq!(kind, HindsightKind::Clear);
        let scripted = simulate(&priced, ReplayDriver::Script(&best.actions)).prompt_side();
        // On a cold cache five active results stay, while the search counts those that were cleared before among the five.
        // So the script sends at most five results for each gap that the search does not, at most at the price of a write.
        let gaps = requests.iter().filter(|added| added.gap >= 300).count() as u64;
        let largest = requests.iter().flat_map(|added| added.results).max().unwrap_or_default();
        let stayed = (gaps * 5 * largest * requests.len() as u64) as f64 * SONNET_WRITE;
        let difference = scripted.to_f64() - best.prompt_side.to_f64();
        prop_assert!((0.0..=stayed).contains(&difference), "{difference} of {stayed}");
        prop_assert!(best.prompt_side <= append_only && best.prompt_side <= clear);
        prop_assert!(full.prompt_side <= best.prompt_side);
    }

    #[test]
    fn v7_a_small_window_is_never_overfull_after_a_request_that_could_shrink(
        requests in proptest::collection::vec(added(), 2..60),
    ) {
        let session = session(&requests);
        let priced = priced(&session, 200_000);
        for policy in [EconomyPolicy::Off, EconomyPolicy::Clear, EconomyPolicy::Full] {
            let run = simulate(&priced, ReplayDriver::Policy(policy));
            // One round may be larger than the room that is left; what was sent before it never is.
            let largest = requests.iter().map(|added| added.text + added.results[0] + added.results[1] + added.prompt).max();
            prop_assert!(run.peak() < 167_000 + largest.unwrap_or_default());
        }
    }
}

/// A conversation of so many requests that each add the same text, the first also this item.
fn steady(requests: usize, first: RecordedItem) -> SessionRecording {
    let text = Added {
        text: STEP,
        results: [0, 0],
        prompt: 0,
        gap: 30,
    };
    let mut recording = session(&vec![text; requests]);
    let conversation = &mut recording.conversations[0];
    conversation.items.insert(0, first);
    for request in &mut conversation.requests {
        request.items_end += 1;
    }
    recording
}

const STEP: u64 = 1_500;

#[test]
fn v7_x5_a_gateway_summarizes_ahead_holds_that_back_and_restores_files() {
    let subject = ResultSubject {
        target: Id::of("/a.rs"),
        part: None,
        effect: SubjectEffect::Reads,
    };
    let shrunk = |kind, subject| {
        let first = RecordedItem {
            kind,
            tokens: 4_000,
            subject,
        };
        let recording = steady(120, first);
        let terms = ReplayTerms::of(&recording, &ModelTable::builtin(), None, None);
        let terms = terms.decided_by(ReplayedHost::Gateway);
        let terms = terms.in_window(ReplayWindow::Tokens(200_000));
        let priced = PricedConversation::new(&recording.conversations[0], &terms).unwrap();
        let run = simulate(&priced, ReplayDriver::Policy(EconomyPolicy::Off));
        let [action] = run.actions[..] else {
            panic!("{:?}", run.actions);
        };
        assert_eq!(action.reason, ActionReason::Threshold);
        let view = |request: usize| run.steps[request].view;
        let threshold = 167_000;
        let (before, after) = (view(action.request - 1), view(action.request));
        assert!((threshold - STEP..threshold).contains(&before), "{before}");
        after
    };
    let after = shrunk(ItemKind::Text, None);
    // The prefix, the summary, and everything that was said while it was made and held back.
    let kept = after - 25_000 - 6_000;
    assert!((2 * STEP..=10 * STEP).contains(&kept), "{kept}");
    assert_eq!(shrunk(ItemKind::Result, Some(subject)), after + 4_000);
    let part = ResultSubject {
        part: Some(Id::of("1-50")),
        ..subject
    };
    assert_eq!(shrunk(ItemKind::Result, Some(part)), after);
}

#[test]
fn v7_clocks_that_go_back_and_missing_times_count_as_hot() {
    let steady = Added {
        text: 500,
        results: [2_000, 0],
        prompt: 0,
        gap: 20,
    };
    let mut odd = vec![steady; 30];
    odd[10].gap = -86_400;
    let mut recorded = session(&odd);
    recorded.conversations[0].requests[20].start = None;
    let bill = |session: &SessionRecording| {
        let priced = priced(session, 1_000_000);
        simulate(&priced, ReplayDriver::AppendOnly).prompt_side()
    };
    assert_eq!(bill(&recorded), bill(&session(&vec![steady; 30])));
}

#[test]
fn v7_another_model_and_lifetime_price_the_same_session_anew() {
    let requests = vec![
        Added {
            text: 400,
            results: [1_500, 0],
            prompt: 0,
            gap: 400,
        };
        40
    ];
    let session = session(&requests);
    let models = ModelTable::builtin();
    let bill = |model, ttl| {
        let terms = ReplayTerms::of(&session, &models, model, ttl);
        let report = replay(&session, &terms, &[ReplayWindow::Own]).unwrap();
        report.append_only.prompt_side.to_f64()
    };
    let (five, hour) = (bill(None, None), bill(None, Some(Ttl::OneHour)));
    assert!(
        hour < five / 2.0,
        "every gap outlasts five minutes: {five} and {hour}"
    );
    assert!(bill(Some("claude-haiku-4-5"), None) < five / 2.0);
}

#[test]
fn v7_the_computed_bill_of_recorded_sessions_is_within_two_percent_of_the_recorded_one() {
    let Some(files) = corpora::claude_code_transcripts() else {
        return;
    };
    let models = ModelTable::builtin();
    let mut deviations = Vec::new();
    for path in files {
        let mut reader = SessionRecordingReader::new();
        let bytes = std::fs::read(&path).unwrap();
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            reader.line(number, 0, line);
        }
        let session = reader.finish(&ClearableTools::default());
        let terms = ReplayTerms::of(&session, &models, None, None);
        let bill = RecordedBill::of(&session, &terms);
        if let Some(deviation) = bill.deviation() {
            println!(
                "{deviation:+.4} {}",
                path.file_name().unwrap().to_string_lossy()
            );
            deviations.push(deviation.abs());
        }
    }
    deviations.sort_by(f64::total_cmp);
    let median = deviations[deviations.len() / 2];
    assert!(median <= 0.02, "the median is {median:.4}");
}
