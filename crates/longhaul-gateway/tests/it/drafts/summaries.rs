//! Whole conversations become summaries that the API accepts, with the user's words verbatim, and smaller than before.

use std::sync::Arc;

use longhaul_core::engine::SummaryReply;
use longhaul_core::history::DiscardReason;
use longhaul_core::summary::SummaryStop;
use longhaul_gateway::manage::{DraftError, fork_message};
use longhaul_gateway::store::CompactedPrefixKind;
use longhaul_provider::{Client, ClientConfig, Dialect};
use longhaul_sim::model::SimModel;
use longhaul_sim::server::{self, SimServer};
use longhaul_sim::world::{self, World};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::attempt::{NoSummary, summarize};
use super::talks::{Turn, messages, turns};
use super::{accepted, behind, sent, settings, talk, text};

pub(super) fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(work)
}

pub(super) fn reply(text: &str, calls: usize, stop: SummaryStop) -> SummaryReply {
    SummaryReply {
        text: text.to_owned(),
        calls,
        stop,
        usage: None,
        message: None,
    }
}

/// A conversation that is worth a summary.
pub(super) fn long(first: usize, wishes: usize) -> Vec<Value> {
    let turns: Vec<Turn> = (0..wishes)
        .map(|number| Turn {
            wish: format!(
                "Wish {}: make part {number} of it work, and say why",
                first + number
            ),
            picture: false,
            reminded: number % 2 == 0,
            system: number % 3 == 1,
            thinks: true,
            rounds: vec![vec![(0, 6_000), (1, 3_000)], vec![(2, 900)]],
            said: format!("Part {number} works now."),
        })
        .collect();
    messages(&turns, first * 100)
}

pub(super) const SUMMARY: &str = "<analysis>draft</analysis>\n<summary>\n1. Request: all parts.\n2. Concepts: none.\n\
    3. Files: none.\n4. Errors: none.\n5. Solving: none.\n6. Messages: some.\n7. Pending: none.\n8. Current: parts.\n\
    9. Next: go on.\n</summary>";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn x8_y1_drafted_views_are_taken_by_the_api_and_smaller(turns in turns(8), window in 8_000u64..60_000) {
        let elements = messages(&turns, 0);
        prop_assert_eq!(accepted(Dialect::Anthropic, &with_end(&elements)), Ok(()));
        let settings = settings(Some(window));
        let talk = talk(Dialect::Anthropic, &elements);
        match run(summarize(&talk, None, None, &settings)) {
            Ok(draft) => {
                prop_assert!(draft.after < draft.before);
                prop_assert!(draft.after < settings.window(&talk.model).unwrap().auto_compact);
                prop_assert!(draft.conversation.elements.is_empty() && draft.kind == CompactedPrefixKind::Extracted);
                for element in sent(&draft, &[]) {
                    prop_assert_eq!(&element["role"], "user");
                    prop_assert!(!element.to_string().contains("cache_control"));
                }
                let user = json!({"role": "user", "content": "go on"});
                let assistant = json!({"role": "assistant", "content": "well"});
                for more in [vec![user.clone()], vec![assistant, user]] {
                    prop_assert_eq!(accepted(Dialect::Anthropic, &sent(&draft, &more)), Ok(()));
                }
                // The same conversation gives the same summary.
                let again = run(summarize(&talk, None, None, &settings)).unwrap();
                prop_assert_eq!(again.conversation.summary, draft.conversation.summary);
                prop_assert_eq!(again.conversation.lines, draft.conversation.lines);
            }
            Err(NoSummary { reason: DiscardReason::WouldNotShrink | DiscardReason::TooLarge { .. }, .. }) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn x1_chained_summaries_keep_every_word_of_the_user(one in turns(6), two in turns(6), three in turns(6)) {
        let settings = settings(None);
        let mut draft = None;
        let mut wishes: Vec<String> = Vec::new();
        for (number, turns) in [one, two, three].into_iter().enumerate() {
            // After enough work that a summary is smaller.
            let mut elements = long(number * 50 + 100, 12);
            elements.extend(messages(&turns, number * 10_000));
            wishes.extend(spoken(&elements));
            let talk = match &draft {
                None => talk(Dialect::Anthropic, &elements),
                Some(draft) => behind(draft, Dialect::Anthropic, &elements),
            };
            let given = (number == 1).then(|| reply(SUMMARY, 0, SummaryStop::Finished));
            let made = run(summarize(&talk, given, None, &settings)).unwrap();
            let text = text(&made);
            for wish in &wishes {
                prop_assert!(text.contains(wish), "{wish} is not in {text}");
            }
            prop_assert_eq!(text.matches("This session continues").count(), 1);
            prop_assert_eq!(text.matches("\n## Summary\n").count(), 1);
            prop_assert!(text.matches("## Kept word for word").count() <= 1);
            draft = Some(made);
        }
    }
}

fn with_end(elements: &[Value]) -> Vec<Value> {
    let mut all = elements.to_vec();
    all.push(json!({"role": "user", "content": "end"}));
    all
}

/// The user's messages.
fn spoken(elements: &[Value]) -> Vec<String> {
    let blocks = elements.iter().filter(|one| one["role"] == "user");
    let blocks = blocks.flat_map(|one| one["content"].as_array().unwrap().clone());
    let texts = blocks.filter_map(|block| Some(block["text"].as_str()?.to_owned()));
    texts.filter(|text| !text.starts_with('<')).collect()
}

#[test]
fn x1_words_of_the_host_are_not_kept_as_the_users() {
    let draft = run(summarize(
        &talk(Dialect::Anthropic, &long(1, 12)),
        Some(reply(SUMMARY, 0, SummaryStop::Finished)),
        None,
        &settings(None),
    ));
    let text = text(&draft.unwrap());
    assert!(!text.contains("Never mind the weather"), "{text}");
    let (words, system) = text.split_once("The system said this").unwrap();
    assert!(!words.contains("be brief"), "{text}");
    assert_eq!(
        system.matches("be brief").count(),
        1,
        "once, and as the system's: {text}"
    );
    assert!(!text.contains("recall"), "{text}");
    assert!(!text.contains("ranscript"), "{text}");
}

#[test]
fn n7_what_the_system_said_outlives_extracts_and_chains() {
    let settings = settings(None);
    let first = run(summarize(
        &talk(Dialect::Anthropic, &long(1, 12)),
        None,
        None,
        &settings,
    ));
    let second = behind(&first.unwrap(), Dialect::Anthropic, &long(20, 12)[..1]);
    let mut said = vec![json!({"role": "assistant", "content": "well ".repeat(9_000)})];
    said.push(json!({"role": "user", "content": "and?"}));
    said.push(json!({"role": "system", "content": [{"type": "text", "text": "Speak Welsh."}]}));
    let second = longhaul_gateway::manage::CompactableConversation {
        elements: said.iter().map(super::raw).collect(),
        ..second
    };
    let second = run(summarize(&second, None, None, &settings)).unwrap();
    let text = text(&second);
    let (_, system) = text.split_once("The system said this").unwrap();
    assert!(
        system.contains("The host says: be brief.\n\nSpeak Welsh."),
        "{text}"
    );
    assert_eq!(text.matches("The system said this").count(), 1);
    let end = [json!({"role": "user", "content": "end"})];
    assert_eq!(accepted(Dialect::Anthropic, &sent(&second, &end)), Ok(()));
}

#[test]
fn z2_a_conversation_that_ends_with_open_calls_is_left() {
    let mut elements = long(1, 12);
    elements.truncate(elements.len() - 2);
    let open = talk(Dialect::Anthropic, &elements);
    let refused = run(summarize(&open, None, None, &settings(None))).unwrap_err();
    assert!(
        matches!(refused.error, Some(DraftError::Unanswered)),
        "{refused}"
    );
}

#[test]
fn f6_a_given_summary_is_used_and_what_is_none_is_not() {
    let talk = talk(Dialect::Anthropic, &long(1, 12));
    let settings = settings(None);
    let given = |given| run(summarize(&talk, Some(given), None, &settings)).unwrap();
    let draft = given(reply(SUMMARY, 0, SummaryStop::Finished));
    assert_eq!(draft.kind, CompactedPrefixKind::Summarized);
    assert!(text(&draft).contains("7. Pending: none."));
    assert!(!text(&draft).contains("draft</analysis>"));
    for unusable in [
        reply(SUMMARY, 1, SummaryStop::ToolUse),
        reply("", 0, SummaryStop::Finished),
        reply("I will not", 0, SummaryStop::Refusal),
        reply("Hello there.", 0, SummaryStop::Finished),
    ] {
        assert_eq!(given(unusable).kind, CompactedPrefixKind::Extracted);
    }
}

#[test]
fn f7_the_message_of_a_fork_forbids_tools_and_asks_for_the_whole() {
    let said = |dialect| -> Value {
        serde_json::from_slice(&fork_message(dialect, Some("Name every file."))).unwrap()
    };
    let anthropic = said(Dialect::Anthropic);
    let text = anthropic["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Name every file.") && text.contains("tool"));
    let chat = said(Dialect::OpenAi);
    assert_eq!(chat["content"].as_str().unwrap(), text);
    let mut all = long(1, 3);
    all.push(anthropic);
    assert_eq!(accepted(Dialect::Anthropic, &all), Ok(()));
}

#[test]
fn t1_what_the_provider_counted_scales_what_is_expected() {
    let mut talk = talk(Dialect::Anthropic, &long(1, 12));
    let rough = run(summarize(&talk, None, None, &settings(None))).unwrap();
    talk.measured = Some(rough.before * 3);
    let counted = run(summarize(&talk, None, None, &settings(None))).unwrap();
    assert!(counted.before >= rough.before * 3);
    assert!(
        counted.after >= rough.after * 2,
        "{} {}",
        counted.after,
        rough.after
    );
    let headed = settings(None).for_conversation(9_000, settings(None).now);
    let headed = run(summarize(&talk, None, None, &headed)).unwrap();
    assert!(headed.after >= 9_000 + rough.after);
}

#[test]
fn y1_what_would_not_shrink_or_fit_is_refused_with_the_reason() {
    let short = talk(
        Dialect::Anthropic,
        &[json!({"role": "user", "content": "hello"})],
    );
    let refused = run(summarize(&short, None, None, &settings(None))).unwrap_err();
    assert!(refused.reason == DiscardReason::WouldNotShrink, "{refused}");
    let long = talk(Dialect::Anthropic, &long(1, 12));
    let full = settings(None).for_conversation(999_000_000, settings(None).now);
    let refused = run(summarize(&long, None, None, &full)).unwrap_err();
    assert!(
        matches!(refused.reason, DiscardReason::TooLarge { .. }),
        "{refused}"
    );
    let nothing = talk(Dialect::Anthropic, &[]);
    let refused = run(summarize(&nothing, None, None, &settings(None))).unwrap_err();
    assert!(
        matches!(refused.error, Some(DraftError::Nothing(_))),
        "{refused}"
    );
}

#[test]
fn x9_a_model_is_asked_by_a_request_that_the_api_takes_else_extracts_do() {
    run(async {
        let model = Box::new(SimModel::new(Default::default()));
        let world = World::new(world::WorldOptions::new(1, model));
        let address = "127.0.0.1:0".parse().unwrap();
        let server = SimServer::start(address, world, server::SimServerOptions::default())
            .await
            .unwrap();
        let client = |url: String| {
            let config = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
                "ANTHROPIC_BASE_URL" => Some(url.clone()),
                "ANTHROPIC_API_KEY" => Some("any".into()),
                _ => None,
            });
            let mut config = config.unwrap();
            config.retry.attempts = 1;
            Arc::new(Client::new(config).unwrap())
        };
        let talk = talk(Dialect::Anthropic, &long(1, 12));
        let asked = client(server.url());
        let draft = summarize(&talk, None, Some(asked), &settings(None))
            .await
            .unwrap();
        assert_eq!(draft.kind, CompactedPrefixKind::Summarized);
        assert!(draft.usage.unwrap().output > 0);
        let nobody = client("http://127.0.0.1:9".to_owned());
        let draft = summarize(&talk, None, Some(nobody), &settings(None))
            .await
            .unwrap();
        assert_eq!(draft.kind, CompactedPrefixKind::Extracted);
        assert!(draft.usage.is_none());
    });
}
