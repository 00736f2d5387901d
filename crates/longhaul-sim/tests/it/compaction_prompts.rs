//! The library's own prompts for summaries, answered by the simulated model and read by the library.

use longhaul_core::collapse::{
    EarlierFolds, FoldLimits, FoldPrompt, FoldSpan, RequestedFolds, prompt as fold_prompt,
    read as read_folds,
};
use longhaul_core::summary::{
    SummaryFailure, SummaryInstructions, SummaryPromptVariant, SummaryReplyText, SummaryStop,
    prompt, read,
};
use longhaul_sim::model::misbehave::Misbehavior;
use longhaul_sim::model::summarize::is_asked;
use longhaul_sim::model::{DraftStop as SimStop, ModelTurn, ReplyDraft, SimModel, SimModelOptions};
use serde_json::json;

use crate::model_folder::coding_tools;
use crate::model_talk::{Talk, calls, failed, fine, words};

const FIRST: &str = "Fix the parser.\n\nNever touch `generated/`.";
const SECOND: &str = "1. Use the other escape\n2. then test it";
const THIRD: &str = "go on";

const NONE: SummaryInstructions<'static> = SummaryInstructions {
    called_off: &[],
    user: "",
    hooks: &[],
    memory_file: "",
};

fn session() -> Talk {
    let mut talk = Talk::new(1, coding_tools());
    talk.user(FIRST);
    let edit = json!({ "file_path": "/proj/src/parser.rs", "old_string": "a", "new_string": "escape_all();" });
    talk.history(
        "I look first.",
        "Read",
        json!({ "file_path": "/proj/src/parser.rs" }),
        fine("     1→fn parse() {}"),
    );
    talk.history(
        "Now the change.",
        "Edit",
        edit.clone(),
        failed("The file was modified."),
    );
    talk.history("Again.", "Edit", edit, fine("Updated."));
    talk.user(SECOND);
    talk.history(
        "Running the tests for the other escape.",
        "Bash",
        json!({ "command": "cargo test" }),
        fine("ok. 3 passed"),
    );
    talk.user(THIRD);
    talk.history(
        "Looking at the quotes as well.",
        "Bash",
        json!({ "command": "cargo test quotes" }),
        fine("ok. 1 passed"),
    );
    talk
}

fn reply_of(draft: &ReplyDraft) -> (String, usize, SummaryStop) {
    let stop = match draft.stop {
        SimStop::Refusal => SummaryStop::Refusal,
        SimStop::CutOff => SummaryStop::CutOff,
        _ => SummaryStop::Finished,
    };
    (words(draft), calls(draft).len(), stop)
}

fn drafted(model: &mut SimModel, ask: &str, mut talk: Talk) -> ReplyDraft {
    talk.user(ask);
    longhaul_sim::model::ReplyModel::reply(
        model,
        &ModelTurn {
            request: &talk.request,
            prompt_tokens: 0,
            tokenizer: longhaul_sim::tokens::TokenizerFamily::Old,
            index: 0,
            seed: 1,
        },
    )
}

fn ask(model: &mut SimModel, ask: &str) -> Result<String, SummaryFailure> {
    let (text, calls, stop) = reply_of(&drafted(model, ask, session()));
    read(SummaryReplyText {
        text: &text,
        calls,
        stop,
    })
    .map(|summary| summary.text().to_owned())
}

fn summary(variant: SummaryPromptVariant<'_>, instructions: &SummaryInstructions<'_>) -> String {
    let text = prompt(variant, instructions);
    assert!(is_asked(&text));
    ask(&mut SimModel::new(SimModelOptions::default()), &text).unwrap()
}

fn headings(summary: &str) -> Vec<&str> {
    let numbered = |line: &&str| {
        line.as_bytes().first().is_some_and(u8::is_ascii_digit) && line.ends_with(':')
    };
    summary.lines().filter(numbered).collect()
}

#[test]
fn f4_a_whole_conversation_is_summed_up_in_our_nine_sections_without_tools() {
    let summary = summary(SummaryPromptVariant::Whole, &NONE);
    assert_eq!(
        headings(&summary),
        [
            "1. Request and intent:",
            "2. Technical concepts:",
            "3. Files and code:",
            "4. Errors and fixes:",
            "5. Problem solving:",
            "6. All user messages:",
            "7. Pending tasks:",
            "8. Current work:",
            "9. Next step (optional):",
        ]
    );
    for part in [
        FIRST,
        SECOND,
        THIRD,
        "escape_all();",
        "The file was modified",
        "cargo test quotes",
    ] {
        assert!(summary.contains(part), "{part}");
    }
    assert!(summary.starts_with("## Summary\n") && !summary.contains("<analysis>"));
}

#[test]
fn f5_up_to_is_answered_with_work_completed_and_context_for_continuing() {
    let summary = summary(SummaryPromptVariant::UpTo, &NONE);
    assert_eq!(
        headings(&summary)[7..],
        ["8. Work completed:", "9. Context for continuing:"]
    );
    assert!(summary.contains("Changed `/proj/src/parser.rs`"));
}

#[test]
fn f5_from_is_answered_for_the_part_from_the_quoted_message_on() {
    let recent = summary(SummaryPromptVariant::From { quote: SECOND }, &NONE);
    assert_eq!(headings(&recent).len(), 9);
    assert!(recent.contains(SECOND) && recent.contains("cargo test"));
    assert!(!recent.contains("Never touch") && !recent.contains("escape_all"));
    // This also works if the message is short, or is the model's own.
    let short = summary(SummaryPromptVariant::From { quote: THIRD }, &NONE);
    assert!(
        short.contains("quotes")
            && !short.contains("other escape")
            && !short.contains("Never touch")
    );
    let own = summary(
        SummaryPromptVariant::From {
            quote: "Running the tests for the other escape.",
        },
        &NONE,
    );
    assert!(own.contains("cargo test") && !own.contains("Never touch"));
}

#[test]
fn f4_k1_instructions_reach_the_summary_and_end_before_the_ban() {
    let instructions = SummaryInstructions {
        called_off: &[],
        user: "Mind the escapes.",
        hooks: &["Keep ticket HB-7."],
        memory_file: "Keep test output.",
    };
    let summary = summary(SummaryPromptVariant::Whole, &instructions);
    for part in [
        "Mind the escapes.",
        "Keep ticket HB-7.",
        "Keep test output.",
    ] {
        assert!(summary.contains(part), "{part}");
    }
    assert!(!summary.contains("IMPORTANT, once more"));
}

#[test]
fn f6_every_misdeed_of_a_summarizer_is_a_typed_failure_or_still_a_summary() {
    let prompt = prompt(SummaryPromptVariant::Whole, &NONE);
    for (deed, code) in [
        ("empty", "empty_summary"),
        ("error", "api_error"),
        ("tool", "tool_call"),
        ("silent", "no_summary"),
        ("refuse", "refusal"),
        ("cut", "truncated"),
    ] {
        let mut model = misbehaving(deed);
        assert_eq!(ask(&mut model, &prompt).unwrap_err().code(), code, "{deed}");
    }
    for deed in ["untagged", "long"] {
        assert!(ask(&mut misbehaving(deed), &prompt).is_ok(), "{deed}");
    }
}

fn misbehaving(deed: &str) -> SimModel {
    let misbehavior: Misbehavior = format!("summary:{deed}").parse().unwrap();
    SimModel::new(SimModelOptions {
        misbehavior,
        ..SimModelOptions::default()
    })
}

#[test]
fn f2_f9_our_summary_message_is_carried_on_by_the_next_summary() {
    use longhaul_core::summary::Summary;
    use longhaul_core::summary::message::{
        CompactionMode, DetailLookup, KeptPlacement, SummaryMessage,
    };
    let first = summary(SummaryPromptVariant::Whole, &NONE);
    let earlier = Summary::new(first.trim_start_matches("## Summary")).unwrap();
    let message = SummaryMessage {
        summary: Some(&earlier),
        appendix: "",
        look_up: DetailLookup {
            transcript: Some("/data/session.jsonl"),
            recall_tool: None,
        },
        kept: KeptPlacement::Nothing,
        mode: CompactionMode::Automatic,
    };
    let mut talk = Talk::new(1, coding_tools());
    talk.user(&message.text());
    talk.history("On it.", "Bash", json!({ "command": "make" }), fine("done"));
    talk.user("Now the docs.");
    talk.user(&prompt(SummaryPromptVariant::Whole, &NONE));
    let text = words(&talk.send(&mut SimModel::new(SimModelOptions::default())));
    for part in [FIRST, SECOND, "Now the docs.", "escape_all();"] {
        assert!(text.contains(part), "{part}");
    }
}

fn span(opening: &str) -> FoldSpan {
    FoldSpan {
        opening: opening.to_owned(),
        messages: 4,
        from: None,
        to: None,
    }
}

fn limits() -> FoldLimits {
    let window = longhaul_core::window::WindowInput {
        window: 200_000,
        max_output: 64_000,
        used: 0,
        settings: Default::default(),
    };
    FoldLimits::of(&longhaul_core::window::WindowStatus::new(&window).unwrap())
}

/// Asks for folds of these spans of a conversation.
fn folds(
    spec: &str,
    spans: &[FoldSpan],
    kept: Option<&str>,
    earlier: EarlierFolds,
    talk: Talk,
) -> Result<(Option<String>, Vec<String>), SummaryFailure> {
    let text = fold_prompt(&FoldPrompt {
        spans,
        kept,
        earlier,
        limits: &limits(),
        instructions: &NONE,
    });
    assert!(is_asked(&text));
    let mut model = SimModel::new(SimModelOptions {
        misbehavior: spec.parse().unwrap(),
        ..SimModelOptions::default()
    });
    let (text, calls, stop) = reply_of(&drafted(&mut model, &text, talk));
    let wanted = RequestedFolds {
        spans: spans.len(),
        earlier,
    };
    let reply = SummaryReplyText {
        text: &text,
        calls,
        stop,
    };
    read_folds(reply, wanted).map(|answer| (answer.condensed, answer.spans))
}

#[test]
fn o6_each_fold_tells_of_its_own_stretch_alone() {
    let spans = [FIRST, SECOND, THIRD].map(span);
    let (condensed, folds) = folds("", &spans, None, EarlierFolds::Stay, session()).unwrap();
    assert_eq!((condensed, folds.len()), (None, 3));
    for (at, own) in [
        (0, "Never touch `generated/`"),
        (0, "escape_all();"),
        (0, "The file was modified"),
        (1, "Use the other escape"),
        (2, "cargo test quotes"),
    ] {
        for (index, fold) in folds.iter().enumerate() {
            assert_eq!(fold.contains(own), index == at, "{own} in {index}:\n{fold}");
        }
    }
    for fold in &folds {
        assert!(fold.split_whitespace().count() <= 400);
    }
}

#[test]
fn o6_a_stretch_may_begin_with_a_call_and_end_before_what_stays() {
    let spans = [span(FIRST), span("Running the tests for the other escape.")];
    let (_, folds) = folds("", &spans, Some(THIRD), EarlierFolds::Stay, session()).unwrap();
    assert!(folds[0].contains("other escape") && folds[1].contains("cargo test"));
    assert!(!folds[1].contains("quotes"), "{}", folds[1]);
}

#[test]
fn o6_earlier_folds_are_condensed_into_one() {
    let mut talk = Talk::new(1, coding_tools());
    talk.user("It goes on.\n\n### Part 1 (3 messages)\nThe lexer was written.\n\n### Part 2 (5 messages)\nIt was tested.");
    talk.user(FIRST);
    talk.history("I look.", "Bash", json!({ "command": "ls" }), fine("a b"));
    let (condensed, folds) = folds("", &[span(FIRST)], None, EarlierFolds::Condense, talk).unwrap();
    let condensed = condensed.unwrap();
    assert!(condensed.contains("The lexer was written.") && condensed.contains("It was tested."));
    assert!(!condensed.contains("generated") && folds[0].contains("generated"));
}

#[test]
fn o6_folds_go_wrong_in_every_way_a_summary_can() {
    let spans = [FIRST, SECOND, THIRD].map(span);
    let fails = |spec: &str| folds(spec, &spans, None, EarlierFolds::Stay, session()).unwrap_err();
    assert_eq!(
        fails("summary:missing"),
        SummaryFailure::MissingFold { number: 3 }
    );
    assert_eq!(fails("summary:empty"), SummaryFailure::Empty);
    assert_eq!(fails("summary:untagged"), SummaryFailure::NoSummary);
    assert_eq!(fails("summary:silent"), SummaryFailure::NoSummary);
    assert_eq!(fails("summary:tool"), SummaryFailure::ToolCall);
    assert_eq!(fails("summary:refuse"), SummaryFailure::Refusal);
    assert!(matches!(
        fails("summary:cut"),
        SummaryFailure::Truncated { .. }
    ));
    assert!(matches!(
        fails("summary:error"),
        SummaryFailure::ApiErrorText { .. }
    ));
    let (_, long) = folds("summary:long", &spans, None, EarlierFolds::Stay, session()).unwrap();
    assert!(long[0].len() > 2_000 && long.len() == 3);
}
