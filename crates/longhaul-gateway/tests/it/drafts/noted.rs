//! Notes instead of the older part of a conversation: what they do not cover is kept, and the API accepts the result.

use longhaul_core::notes::{DEFAULT_TEMPLATE, NotesSkipReason, SessionNotes};
use longhaul_gateway::manage::{
    CompactableConversation, NotesUnusable, draft_from_notes, without_breakpoints,
};
use longhaul_gateway::store::CompactedPrefixKind;
use longhaul_provider::Dialect;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::summaries::{long, run};
use super::talks::{Turn, completions, messages, turns};
use super::{accepted, behind, sent, settings, talk, text};

/// Notes with this in every section.
fn notes(body: &str) -> String {
    let mut notes = SessionNotes::parse(DEFAULT_TEMPLATE);
    for section in 0..notes.sections().count() {
        notes = notes.with_body(section, body).unwrap();
    }
    notes.text().to_owned()
}

fn elements(dialect: Dialect, turns: &[Turn]) -> Vec<Value> {
    match dialect {
        Dialect::Anthropic => messages(turns, 0),
        Dialect::OpenAi => completions(turns, 0),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn s6_x8_what_notes_do_not_cover_is_kept_and_the_api_takes_it(
        turns in turns(12),
        window in 12_000u64..60_000,
        covered in any::<prop::sample::Index>(),
        chat in any::<bool>(),
    ) {
        let dialect = if chat { Dialect::OpenAi } else { Dialect::Anthropic };
        let elements = elements(dialect, &turns);
        let settings = settings(Some(window));
        let talk = talk(dialect, &elements);
        let covered = covered.index(elements.len());
        let Ok(draft) = run(draft_from_notes(&talk, &notes("- a thing"), covered, &settings)) else {
            return Ok(());
        };
        prop_assert_eq!(draft.kind, CompactedPrefixKind::Noted);
        let from = elements.len() - draft.conversation.elements.len();
        prop_assert!(from <= covered + 1, "the first {} are not all covered by {}", from, covered);
        prop_assert_eq!(from, draft.summarized);
        prop_assert_eq!(&draft.conversation.elements, &talk.elements[from..]);
        let user = json!({"role": "user", "content": "go on"});
        let mut unmarked = sent(&draft, &[user]);
        for message in &mut unmarked {
            let bytes = without_breakpoints(&message.to_string().into());
            *message = serde_json::from_slice(&bytes).unwrap();
        }
        prop_assert_eq!(accepted(dialect, &unmarked), Ok(()));
        // The user's words from the summarized part are there (X1).
        let sent = Value::from(sent(&draft, &[])).to_string();
        for turn in &turns {
            let wish = Value::from(turn.wish.as_str()).to_string();
            let wish = wish.trim_matches('"');
            prop_assert!(sent.contains(wish), "{} is not in {}", wish, sent);
        }
    }
}

/// What is sent for a draft as long as no message follows.
fn kept(talk: &CompactableConversation, from: usize) -> Vec<Value> {
    let rest = talk.elements[from..].iter();
    rest.map(|element| serde_json::from_slice(element).unwrap())
        .collect()
}

#[test]
fn s6_x8_notes_follow_on_notes() {
    let settings = settings(Some(60_000));
    let first = talk(Dialect::Anthropic, &long(0, 12));
    let last = first.elements.len() - 1;
    let one = run(draft_from_notes(&first, &notes("- first"), last, &settings)).unwrap();
    let mut more = kept(&first, one.summarized);
    more.extend(long(12, 12));
    let second = behind(&one, Dialect::Anthropic, &more);
    let last = second.elements.len() - 1;
    let two = run(draft_from_notes(
        &second,
        &notes("- second"),
        last,
        &settings,
    ))
    .unwrap();
    let text = text(&two);
    assert!(text.contains("- second") && !text.contains("- first"));
    for number in 0..24 {
        let wish = format!("Wish {number}: make part");
        assert!(text.contains(&wish), "{wish} is not in {text}");
    }
}

#[test]
fn s6_x8_notes_in_which_nothing_is_noted_are_not_used() {
    let talk = talk(Dialect::Anthropic, &long(0, 12));
    let last = talk.elements.len() - 1;
    let settings = settings(Some(60_000));
    let untouched = run(draft_from_notes(&talk, DEFAULT_TEMPLATE, last, &settings));
    assert!(matches!(
        untouched,
        Err(NotesUnusable::Reason(NotesSkipReason::UntouchedTemplate))
    ));
    let early = run(draft_from_notes(&talk, &notes("- a thing"), 0, &settings));
    assert!(early.is_err(), "they cover too little");
    let beyond = run(draft_from_notes(
        &talk,
        &notes("- a thing"),
        last + 1,
        &settings,
    ));
    assert!(matches!(
        beyond,
        Err(NotesUnusable::Reason(
            NotesSkipReason::UnknownLastSummarized
        ))
    ));
}

#[test]
fn s6_x8_a_section_that_is_too_long_is_cut_and_points_to_no_file() {
    let talk = talk(Dialect::Anthropic, &long(0, 60));
    let last = talk.elements.len() - 1;
    let mut notes = SessionNotes::parse(DEFAULT_TEMPLATE);
    notes = notes
        .with_body(1, &"- a line of what goes on\n".repeat(2_000))
        .unwrap();
    let draft = run(draft_from_notes(&talk, notes.text(), last, &settings(None))).unwrap();
    let text = text(&draft);
    assert!(text.contains("The rest of this section was left out here"));
    assert!(!text.contains(".md"));
    assert!(text.matches("- a line of what goes on").count() < 400);
}
