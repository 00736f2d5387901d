//! Tests how a summarizer's reply is read.

use longhaul_core::summary::{Summary, SummaryFailure, SummaryReplyText, SummaryStop, read};
use proptest::prelude::*;

fn finished(text: &str) -> Result<Summary, SummaryFailure> {
    read(SummaryReplyText {
        text,
        calls: 0,
        stop: SummaryStop::Finished,
    })
}

fn body(text: &str) -> String {
    finished(text).unwrap().body().to_owned()
}

#[test]
fn f6_the_draft_goes_the_tags_become_a_heading_and_blank_runs_collapse() {
    let reply = "<analysis>\nfirst this\n</analysis>\n\n<summary>\n1. Request:  \n\n\n\n   go\n \n\t\n2. Files\n</summary>\nBye.";
    let summary = finished(reply).unwrap();
    assert_eq!(
        summary.text(),
        "## Summary\n\n1. Request:\n\n   go\n\n2. Files"
    );
}

#[test]
fn f6_drafts_go_however_they_are_written() {
    for reply in [
        "<analysis>draft</analysis><summary>kept</summary>",
        "<ANALYSIS>\ndraft\n</Analysis>\n<SUMMARY>kept</SUMMARY>",
        "< analysis >draft</ analysis ><summary >kept</summary>",
        "<analysis>draft\n<summary>\nkept\n</summary>",
        "<analysis>draft <analysis>draft</analysis> draft</analysis><summary>kept</summary>",
        "<analysis>draft</analysis>\n<analysis>draft</analysis>\n<summary>kept</summary>",
        "<analysis>draft: I will write an <analysis> now</analysis>\n<summary>kept</summary>",
        "<analysis>draft: the <summary> comes next</analysis>\n<summary>kept</summary>",
        "<analysis>draft, unclosed, names <summary> and\n<summary>\nkept</summary>",
        "<summary><analysis>draft</analysis>kept</summary>",
        "<summary>\n<analysis>\ndraft\n</analysis>\nkept\n</summary>",
        "<summary><summary>kept</summary></summary>",
        "draft</analysis>\n<summary>kept</summary>",
        "Sure, a draft first.\n<summary>kept",
    ] {
        assert_eq!(body(reply), "kept", "{reply}");
    }
}

#[test]
fn f6_a_summary_that_is_repeated_loses_neither_part() {
    let reply = "<analysis>a</analysis>\n<summary>\none\n</summary>\n<analysis>b</analysis>\n<summary>\ntwo\n</summary>";
    assert_eq!(body(reply), "one\n\ntwo");
}

#[test]
fn f6_tags_that_a_summary_merely_mentions_stay() {
    let reply = "<summary>\nThe prompt asks for `<analysis>` and `<summary>` tags, see `</summary>`.\nDone.\n</summary>";
    assert_eq!(
        body(reply),
        "The prompt asks for `<analysis>` and `<summary>` tags, see `</summary>`.\nDone."
    );
}

#[test]
fn f6_a_summary_whose_tags_were_forgotten_is_known_by_its_sections() {
    let sections: String = (1..=9)
        .map(|number| format!("{number}. Heading\n- text\n"))
        .collect();
    assert!(body(&sections).starts_with("1. Heading"));
    let drafted = format!("<analysis>x</analysis>\n{sections}");
    assert!(body(&drafted).starts_with("1. Heading"));
}

#[test]
fn f6_every_failure_is_typed() {
    for text in [
        "",
        "  \n",
        "I cannot do that.",
        "<analysis>only a draft</analysis>",
        "<analysis>never closed",
        "1. one\n2. two",
    ] {
        assert_eq!(finished(text), Err(SummaryFailure::NoSummary), "{text}");
    }
    for text in [
        "<summary></summary>",
        "<analysis>x</analysis><summary>\n \n</summary>",
        "<summary>\n---\n</summary>",
        "<summary>",
    ] {
        assert_eq!(finished(text), Err(SummaryFailure::Empty), "{text}");
    }
    for text in [
        "API Error: 529 {\"type\":\"error\"}",
        "Prompt is too long",
        "{\"type\":\"error\",\"error\":{}}",
        "Credit balance is too low",
    ] {
        let failure = finished(text).unwrap_err();
        assert_eq!(failure.code(), "api_error", "{text}");
        assert!(failure.to_string().contains(text));
    }
    let good = "<summary>good</summary>";
    let with = |calls, stop| {
        read(SummaryReplyText {
            text: good,
            calls,
            stop,
        })
    };
    assert_eq!(
        with(1, SummaryStop::Finished),
        Err(SummaryFailure::ToolCall)
    );
    assert_eq!(with(0, SummaryStop::ToolUse), Err(SummaryFailure::ToolCall));
    assert_eq!(with(0, SummaryStop::Refusal), Err(SummaryFailure::Refusal));
    assert_eq!(with(2, SummaryStop::Refusal), Err(SummaryFailure::Refusal));
}

#[test]
fn f6_an_error_that_a_summary_tells_of_is_no_error() {
    assert_eq!(
        body("<summary>API Error: 529 was met.</summary>"),
        "API Error: 529 was met."
    );
}

#[test]
fn f6_a_summary_that_was_cut_off_is_not_used() {
    let cut = |text| {
        read(SummaryReplyText {
            text,
            calls: 0,
            stop: SummaryStop::CutOff,
        })
    };
    let open = "<analysis>x</analysis><summary>\n1. Request\n2. Concepts\n3. Fil";
    assert_eq!(cut(open), Err(SummaryFailure::Truncated { sections: 3 }));
    assert_eq!(
        cut("<analysis>x"),
        Err(SummaryFailure::Truncated { sections: 0 })
    );
    assert_eq!(cut(""), Err(SummaryFailure::Truncated { sections: 0 }));
    assert!(
        cut("<summary>whole</summary> and then").is_ok(),
        "what was cut came after it"
    );
}

#[test]
fn y6_an_edited_summary_is_one_too() {
    let edited = Summary::new("mine\n\n\n\nown").unwrap();
    assert_eq!(edited.text(), "## Summary\n\nmine\n\nown");
    assert_eq!(Summary::new(edited.body()), Some(edited));
    assert_eq!(Summary::new(" \n"), None);
}

proptest! {
    #[test]
    fn f6_no_reply_lets_a_draft_through_or_panics(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "<analysis>", "</analysis>", "<summary>", "</summary>", "<ANALYSIS>", "</ Summary>", "text", "\n", " ", "<", "ä",
            ]),
            0..24,
        ),
    ) {
        let text = pieces.concat();
        if let Ok(summary) = finished(&text) {
            prop_assert!(summary.body().chars().any(char::is_alphanumeric));
            prop_assert!(!summary.text().contains("\n\n\n"));
        }
        // Whatever else the model writes, a well-formed summary after a closed draft is found.
        let whole = format!("<analysis>{}</analysis>\n<summary>\nkept\n</summary>", "secret ".repeat(pieces.len()));
        prop_assert_eq!(body(&whole), "kept");
    }
}
