//! Tests how the model's answer to a request for folds is read.

use longhaul_core::collapse::{EarlierFolds, FoldReply, RequestedFolds, read};
use longhaul_core::summary::{SummaryFailure, SummaryReplyText, SummaryStop};
use proptest::prelude::*;

const TWO: RequestedFolds = RequestedFolds {
    spans: 2,
    earlier: EarlierFolds::Stay,
};

fn reply(text: &str, stop: SummaryStop) -> SummaryReplyText<'_> {
    SummaryReplyText {
        text,
        calls: 0,
        stop,
    }
}

fn folds(text: &str) -> Result<Vec<String>, SummaryFailure> {
    read(reply(text, SummaryStop::Finished), TWO).map(|answer| answer.spans)
}

#[test]
fn o6_folds_are_read_in_the_order_of_their_numbers() {
    let text =
        "<fold n=\"2\">\nsecond\n</fold>\n\n<fold n=\"1\">\nfirst,\n\n\n\nwith more\n</fold>";
    assert_eq!(folds(text).unwrap(), ["first,\n\nwith more", "second"]);
}

#[test]
fn o6_carelessly_written_tags_are_understood() {
    for text in [
        "<fold n=1>one</fold><fold n=2>two</fold>",
        "Here they are:\n<FOLD N='1'>one</FOLD>\n  <fold  n = \"2\" >two</ fold >\nThat is all.",
        "<fold n=\"1\">one\n<fold n=\"2\">two",
        "<fold n=\"1\">one</fold>\n<fold n=\"2\">two</fold>\n<fold n=\"3\">unasked</fold>\n<fold n=\"1\">again</fold>",
    ] {
        assert_eq!(folds(text).unwrap(), ["one", "two"], "{text}");
    }
}

#[test]
fn o6_a_fold_may_mention_the_tags() {
    let text = "<fold n=\"1\">\nThe answer holds `<fold n=\"9\">` and ends in `</fold>`, it says.\n</fold>\n<fold n=\"2\">two</fold>";
    let folds = folds(text).unwrap();
    assert_eq!(
        folds[0],
        "The answer holds `<fold n=\"9\">` and ends in `</fold>`, it says."
    );
    assert_eq!(folds[1], "two");
}

#[test]
fn o6_a_missing_or_empty_fold_is_a_failure() {
    let missing = |number| Err(SummaryFailure::MissingFold { number });
    assert_eq!(folds("<fold n=\"1\">one</fold>"), missing(2));
    assert_eq!(folds("<fold n=\"2\">two</fold>"), missing(1));
    assert_eq!(
        folds("<fold n=\"1\"> \n - \n</fold><fold n=\"2\">two</fold>"),
        Err(SummaryFailure::Empty)
    );
    assert_eq!(folds("I would rather not."), Err(SummaryFailure::NoSummary));
    assert_eq!(folds(""), Err(SummaryFailure::NoSummary));
    let condense = RequestedFolds {
        spans: 1,
        earlier: EarlierFolds::Condense,
    };
    let without = read(
        reply("<fold n=\"1\">one</fold>", SummaryStop::Finished),
        condense,
    );
    assert_eq!(
        without.unwrap_err(),
        SummaryFailure::MissingFold { number: 0 }
    );
    let with = "<fold n=\"0\">all before</fold><fold n=\"1\">one</fold>";
    assert_eq!(
        read(reply(with, SummaryStop::Finished), condense).unwrap(),
        FoldReply {
            condensed: Some("all before".to_owned()),
            spans: vec!["one".to_owned()],
        }
    );
}

#[test]
fn o6_calls_refusals_errors_and_cut_off_answers_are_failures() {
    let whole = "<fold n=\"1\">one</fold><fold n=\"2\">two</fold>";
    let failure = |reply| read(reply, TWO).unwrap_err();
    let calls = SummaryReplyText {
        calls: 1,
        ..reply(whole, SummaryStop::Finished)
    };
    assert_eq!(failure(calls), SummaryFailure::ToolCall);
    assert_eq!(
        failure(reply(whole, SummaryStop::ToolUse)),
        SummaryFailure::ToolCall
    );
    assert_eq!(
        failure(reply(whole, SummaryStop::Refusal)),
        SummaryFailure::Refusal
    );
    for stop in [SummaryStop::CutOff, SummaryStop::WindowFull] {
        let cut = "<fold n=\"1\">one</fold><fold n=\"2\">tw";
        assert_eq!(
            failure(reply(cut, stop)),
            SummaryFailure::Truncated { sections: 1 }
        );
        assert_eq!(
            failure(reply("", stop)),
            SummaryFailure::Truncated { sections: 0 }
        );
        assert!(read(reply(whole, stop), TWO).is_ok(), "nothing is missing");
    }
    let error = "API Error: 529 overloaded";
    assert_eq!(
        failure(reply(error, SummaryStop::Finished)),
        SummaryFailure::ApiErrorText {
            text: error.to_owned()
        }
    );
    assert_eq!(
        SummaryFailure::MissingFold { number: 2 }.code(),
        "missing_fold"
    );
}

proptest! {
    #[test]
    fn o6_any_answer_is_read_without_a_panic_and_what_is_read_says_something(
        text in "(<fold n=\"?[0-3]{0,2}\"?>|</fold>|[a-z <>/ä…\n]{0,8}){0,12}",
        spans in 0_usize..4,
    ) {
        let wanted = RequestedFolds { spans, earlier: EarlierFolds::Stay };
        if let Ok(answer) = read(reply(&text, SummaryStop::Finished), wanted) {
            prop_assert_eq!(answer.spans.len(), spans);
            prop_assert!(answer.spans.iter().all(|fold| fold.chars().any(char::is_alphanumeric)));
        }
    }
}
