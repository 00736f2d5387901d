//! The library's own prompts for summaries, answered by the simulated model and read by the library.

use longhaul_core::summary::{Instructions, Reply, Stop, SummaryFailure, Variant, prompt, read};
use longhaul_sim::model::misbehave::Misbehaviour;
use longhaul_sim::model::summarise::is_asked;
use longhaul_sim::model::{Draft, Options, SimModel, Stop as SimStop, Turn};
use serde_json::json;

use crate::model_folder::coding_tools;
use crate::model_talk::{Talk, calls, failed, fine, words};

const FIRST: &str = "Fix the parser.\n\nNever touch `generated/`.";
const SECOND: &str = "1. Use the other escape\n2. then test it";
const THIRD: &str = "go on";

const NONE: Instructions<'static> = Instructions {
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

fn reply_of(draft: &Draft) -> (String, usize, Stop) {
    let stop = match draft.stop {
        SimStop::Refusal => Stop::Refusal,
        SimStop::CutOff => Stop::CutOff,
        _ => Stop::Finished,
    };
    (words(draft), calls(draft).len(), stop)
}

fn ask(model: &mut SimModel, ask: &str) -> Result<String, SummaryFailure> {
    let mut talk = session();
    talk.user(ask);
    let draft = longhaul_sim::model::Model::reply(
        model,
        &Turn {
            request: &talk.request,
            prompt_tokens: 0,
            index: 0,
            seed: 1,
        },
    );
    let (text, calls, stop) = reply_of(&draft);
    read(Reply {
        text: &text,
        calls,
        stop,
    })
    .map(|summary| summary.text().to_owned())
}

fn summary(variant: Variant<'_>, instructions: &Instructions<'_>) -> String {
    let text = prompt(variant, instructions);
    assert!(is_asked(&text));
    ask(&mut SimModel::new(Options::default()), &text).unwrap()
}

fn headings(summary: &str) -> Vec<&str> {
    let numbered = |line: &&str| {
        line.as_bytes().first().is_some_and(u8::is_ascii_digit) && line.ends_with(':')
    };
    summary.lines().filter(numbered).collect()
}

#[test]
fn f4_a_whole_conversation_is_summed_up_in_our_nine_sections_without_tools() {
    let summary = summary(Variant::Whole, &NONE);
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
    let summary = summary(Variant::UpTo, &NONE);
    assert_eq!(
        headings(&summary)[7..],
        ["8. Work completed:", "9. Context for continuing:"]
    );
    assert!(summary.contains("Changed `/proj/src/parser.rs`"));
}

#[test]
fn f5_from_is_answered_for_the_part_from_the_quoted_message_on() {
    let recent = summary(Variant::From { quote: SECOND }, &NONE);
    assert_eq!(headings(&recent).len(), 9);
    assert!(recent.contains(SECOND) && recent.contains("cargo test"));
    assert!(!recent.contains("Never touch") && !recent.contains("escape_all"));
    // Also where the message is short, or is the model's own.
    let short = summary(Variant::From { quote: THIRD }, &NONE);
    assert!(
        short.contains("quotes")
            && !short.contains("other escape")
            && !short.contains("Never touch")
    );
    let own = summary(
        Variant::From {
            quote: "Running the tests for the other escape.",
        },
        &NONE,
    );
    assert!(own.contains("cargo test") && !own.contains("Never touch"));
}

#[test]
fn f4_k1_instructions_reach_the_summary_and_end_before_the_ban() {
    let instructions = Instructions {
        user: "Mind the escapes.",
        hooks: &["Keep ticket HB-7."],
        memory_file: "Keep test output.",
    };
    let summary = summary(Variant::Whole, &instructions);
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
fn f6_every_misdeed_of_a_summariser_is_a_typed_failure_or_still_a_summary() {
    let prompt = prompt(Variant::Whole, &NONE);
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
    let misbehaviour: Misbehaviour = format!("summary:{deed}").parse().unwrap();
    SimModel::new(Options {
        misbehaviour,
        ..Options::default()
    })
}

#[test]
fn f2_f9_our_summary_message_is_carried_on_by_the_next_summary() {
    use longhaul_core::summary::Summary;
    use longhaul_core::summary::message::{Kept, LookUp, Mode, SummaryMessage};
    let first = summary(Variant::Whole, &NONE);
    let earlier = Summary::new(first.trim_start_matches("## Summary")).unwrap();
    let message = SummaryMessage {
        summary: Some(&earlier),
        appendix: "",
        look_up: LookUp {
            transcript: Some("/data/session.jsonl"),
            recall_tool: None,
        },
        kept: Kept::Nothing,
        mode: Mode::Automatic,
    };
    let mut talk = Talk::new(1, coding_tools());
    talk.user(&message.text());
    talk.history("On it.", "Bash", json!({ "command": "make" }), fine("done"));
    talk.user("Now the docs.");
    talk.user(&prompt(Variant::Whole, &NONE));
    let text = words(&talk.send(&mut SimModel::new(Options::default())));
    for part in [FIRST, SECOND, "Now the docs.", "escape_all();"] {
        assert!(text.contains(part), "{part}");
    }
}
