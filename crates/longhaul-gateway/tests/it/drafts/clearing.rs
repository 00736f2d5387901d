//! Old results are cleared in the client's own bytes, and nothing else changes.

use longhaul_core::history::ClearingReason;
use longhaul_gateway::manage::{CompactableConversation, clear};
use longhaul_gateway::store::CompactedPrefixKind;
use longhaul_provider::Dialect;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::talks::{Turn, completions, messages, turns};
use super::{accepted, sent, settings, talk};

/// Rounds of one tool call each, with a result of this many tokens.
fn rounds(tool: usize, count: usize, tokens: usize) -> Vec<Turn> {
    vec![Turn {
        wish: "Wish 0: look at everything".to_owned(),
        picture: false,
        reminded: false,
        system: false,
        thinks: false,
        rounds: vec![vec![(tool, tokens * 4)]; count],
        said: "Done.".to_owned(),
    }]
}

fn markers(draft: &[Value]) -> usize {
    let text = Value::from(draft.to_vec()).to_string();
    text.matches("This result was cleared to save room").count()
}

#[test]
fn u5_keeps_the_newest_three_and_forty_thousand_tokens() {
    let settings = settings(Some(200_000));
    let before = talk(Dialect::Anthropic, &messages(&rounds(1, 20, 5_000), 0));
    let draft = clear(&before, ClearingReason::Pressure, &settings).unwrap();
    assert_eq!(draft.kind, CompactedPrefixKind::Cleared);
    // 100,000 tokens of results: twelve and a bit must go.
    assert_eq!(draft.conversation.cleared.len(), 13);
    assert_eq!(markers(&sent(&draft, &[])), 13);
    assert!(
        draft.before - draft.after >= 60_000,
        "{} {}",
        draft.before,
        draft.after
    );
    let report: Value = serde_json::to_value(&draft.report).unwrap();
    assert_eq!(report["results"]["cleared"], 13);
    // Large results: three stay whatever their size.
    let large = talk(Dialect::Anthropic, &messages(&rounds(1, 5, 30_000), 0));
    let draft = clear(&large, ClearingReason::Pressure, &settings).unwrap();
    assert_eq!(draft.conversation.cleared, ["toolu_0", "toolu_1"]);
}

#[test]
fn u2_the_marker_is_short_and_names_no_tool_that_the_client_lacks() {
    let before = talk(Dialect::Anthropic, &messages(&rounds(1, 6, 100), 0));
    let draft = clear(&before, ClearingReason::Idle, &settings(None)).unwrap();
    let marker = "[This result was cleared to save room. Run the tool again to see it.]";
    assert_eq!(sent(&draft, &[])[2]["content"][0]["content"], marker);
}

#[test]
fn u5_what_saves_too_little_is_left() {
    let settings = settings(Some(200_000));
    let little = talk(Dialect::Anthropic, &messages(&rounds(1, 10, 4_500), 0));
    assert!(clear(&little, ClearingReason::Pressure, &settings).is_none());
}

#[test]
fn u3_after_a_rest_the_newest_five_stay() {
    let settings = settings(Some(200_000));
    let before = talk(Dialect::OpenAi, &completions(&rounds(1, 9, 100), 0));
    let draft = clear(&before, ClearingReason::Idle, &settings).unwrap();
    assert_eq!(
        draft.conversation.cleared,
        ["call_0", "call_1", "call_2", "call_3"]
    );
    assert_eq!(markers(&sent(&draft, &[])), 4);
    let few = talk(Dialect::OpenAi, &completions(&rounds(1, 5, 100), 0));
    assert!(clear(&few, ClearingReason::Idle, &settings).is_none());
}

#[test]
fn u1_what_cannot_be_had_again_stays() {
    let settings = settings(Some(200_000));
    for kept in [3, 4] {
        let before = talk(Dialect::Anthropic, &messages(&rounds(kept, 20, 5_000), 0));
        assert!(clear(&before, ClearingReason::Pressure, &settings).is_none());
        assert!(clear(&before, ClearingReason::Idle, &settings).is_none());
    }
}

#[test]
fn u2_what_was_cleared_is_cleared_again_and_not_counted_again() {
    let settings = settings(Some(200_000));
    let first = talk(Dialect::Anthropic, &messages(&rounds(1, 20, 5_000), 0));
    let draft = clear(&first, ClearingReason::Pressure, &settings).unwrap();
    let same = CompactableConversation {
        cleared: draft.conversation.cleared.clone(),
        ..first.clone()
    };
    assert!(clear(&same, ClearingReason::Pressure, &settings).is_none());
    let mut more = messages(&rounds(1, 20, 5_000), 0);
    more.extend(messages(&rounds(1, 8, 5_000), 100));
    let later = CompactableConversation {
        cleared: draft.conversation.cleared.clone(),
        ..talk(Dialect::Anthropic, &more)
    };
    let again = clear(&later, ClearingReason::Pressure, &settings).unwrap();
    assert!(
        again
            .conversation
            .cleared
            .starts_with(&draft.conversation.cleared)
    );
    assert_eq!(again.conversation.cleared.len(), 13 + 8);
    assert_eq!(markers(&sent(&again, &[])), 13 + 8);
}

#[test]
fn h7_small_windows_clear_earlier() {
    let before = talk(Dialect::Anthropic, &messages(&rounds(1, 20, 500), 0));
    assert!(clear(&before, ClearingReason::Pressure, &settings(Some(200_000))).is_none());
    let draft = clear(&before, ClearingReason::Pressure, &settings(Some(10_000))).unwrap();
    assert_eq!(draft.conversation.cleared.len(), 13);
}

/// The element without everything that may be cleared, for comparing both forms.
fn but_results(element: &Value, cleared: &[String]) -> Value {
    let mut element = element.clone();
    let is_cleared = |id: &Value| cleared.iter().any(|one| id == one.as_str());
    if is_cleared(&element["tool_call_id"]) {
        element["content"] = Value::Null;
    }
    if let Some(blocks) = element["content"].as_array_mut() {
        for block in blocks
            .iter_mut()
            .filter(|block| is_cleared(&block["tool_use_id"]))
        {
            block["content"] = Value::Null;
        }
    }
    element
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn u2_clearing_changes_nothing_but_results(turns in turns(8), chat: bool, pretty: bool) {
        let (dialect, elements) = if chat { (Dialect::OpenAi, completions(&turns, 0)) } else { (Dialect::Anthropic, messages(&turns, 0)) };
        let mut before = talk(dialect, &elements);
        if pretty {
            let laid_out = |value: &Value| serde_json::to_string_pretty(value).unwrap().into();
            before.elements = elements.iter().map(laid_out).collect();
        }
        let Some(draft) = clear(&before, ClearingReason::Idle, &settings(Some(100_000))) else {
            return Ok(());
        };
        let after = sent(&draft, &[]);
        prop_assert_eq!(after.len(), elements.len());
        prop_assert_eq!(markers(&after), draft.conversation.cleared.len());
        for (index, (old, new)) in elements.iter().zip(&after).enumerate() {
            prop_assert_eq!(but_results(old, &draft.conversation.cleared), but_results(new, &draft.conversation.cleared));
            if old == new {
                prop_assert_eq!(&before.elements[index], &draft.conversation.elements[index]);
            }
        }
        let end = json!({"role": "user", "content": "end"});
        prop_assert_eq!(accepted(dialect, &sent(&draft, &[end])), Ok(()));
    }
}
