//! Tests the request to the summarizer.

use bytes::Bytes;
use longhaul_core::message::Entry;
use longhaul_core::summary::{
    PLAIN_SYSTEM, SummaryInstructions, SummaryPromptVariant, opening_words, prompt,
};
use serde_json::{Value, json};

use crate::snapshot::check;

const NONE: SummaryInstructions<'static> = SummaryInstructions {
    called_off: &[],
    user: "",
    hooks: &[],
    memory_file: "",
};

const QUOTE: &str = "Now the second part:\nmake the parser faster.";

fn variants() -> [(&'static str, SummaryPromptVariant<'static>); 3] {
    [
        ("whole", SummaryPromptVariant::Whole),
        ("from", SummaryPromptVariant::From { quote: QUOTE }),
        ("up_to", SummaryPromptVariant::UpTo),
    ]
}

#[test]
fn f4_the_prompts_are_as_they_were_and_of_bounded_size() {
    for (name, variant) in variants() {
        let text = prompt(variant, &NONE);
        check(&format!("prompt_{name}"), &text);
        assert!(text.len() < 5_600, "{name}: {}", text.len());
    }
    let all = SummaryInstructions {
        called_off: &[],
        user: "Mind the API.",
        hooks: &["Keep ticket numbers.", "Keep the branch."],
        memory_file: "Keep test output.",
    };
    check(
        "prompt_instructions",
        &prompt(SummaryPromptVariant::Whole, &all),
    );
    check("prompt_system", PLAIN_SYSTEM.trim_end());
    assert!(PLAIN_SYSTEM.len() < 300);
}

#[test]
fn f4_tools_are_forbidden_at_the_start_and_at_the_end() {
    for (name, variant) in variants() {
        let text = prompt(variant, &NONE);
        let paragraphs: Vec<&str> = text.split("\n\n").collect();
        let forbids = |text: &str| text.contains("Do not call any tools");
        assert!(forbids(paragraphs[0]), "{name}");
        assert!(forbids(paragraphs[paragraphs.len() - 1]), "{name}");
    }
}

#[test]
fn f4_nine_sections_in_order_after_a_draft_that_checks_itself() {
    let text = prompt(SummaryPromptVariant::Whole, &NONE);
    let places = [
        "<analysis>",
        "in order",
        "checking",
        "<summary>",
        "\n1. Request and intent",
        "\n2. Technical concepts",
        "\n3. Files and code",
        "\n4. Errors and fixes",
        "\n5. Problem solving",
        "\n6. All user messages",
        "\n7. Pending tasks",
        "\n8. Current work",
        "\n9. Next step",
    ]
    .map(|part| text.find(part).unwrap_or_else(|| panic!("{part}")));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn f4_y4_proposals_and_cancelled_plans_are_kept_apart_from_what_the_user_asked_for() {
    for (_, variant) in variants() {
        let text = prompt(variant, &NONE);
        for part in [
            "word for word and marked as the user's",
            "is not a task",
            "called off",
            "only what the user asked for",
        ] {
            assert!(text.contains(part), "{part}");
        }
    }
}

#[test]
fn f4_k1_instructions_come_in_the_order_user_hooks_memory_file() {
    let instructions = SummaryInstructions {
        called_off: &[],
        user: "  first  ",
        hooks: &["second", "", "third"],
        memory_file: "\nfourth\n",
    };
    let text = prompt(SummaryPromptVariant::UpTo, &instructions);
    let places = [
        "Additional instructions",
        "first",
        "second",
        "third",
        "fourth",
        "IMPORTANT, once more",
    ]
    .map(|part| text.rfind(part).unwrap_or_else(|| panic!("{part}")));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn f4_blank_instructions_add_nothing() {
    let blank = SummaryInstructions {
        called_off: &[],
        user: " \n",
        hooks: &["", "\t"],
        memory_file: "\n\n",
    };
    for (_, variant) in variants() {
        assert_eq!(prompt(variant, &blank), prompt(variant, &NONE));
    }
}

#[test]
fn f5_up_to_asks_for_work_completed_and_context_for_continuing() {
    let text = prompt(SummaryPromptVariant::UpTo, &NONE);
    assert!(text.contains("\n8. Work completed") && text.contains("\n9. Context for continuing"));
    assert!(!text.contains("Current work") && !text.contains("Next step"));
}

#[test]
fn f5_from_quotes_the_message_that_its_part_begins_with() {
    let text = prompt(SummaryPromptVariant::From { quote: QUOTE }, &NONE);
    assert!(text.contains("\n> Now the second part:\n> make the parser faster.\n"));
    assert!(text.contains("only the recent part"));
    assert!(text.contains("Walk through the recent part"));
}

fn opening(message: Value) -> String {
    let line = json!({"type": "user", "uuid": "1", "message": message}).to_string();
    opening_words(Entry::read(Bytes::from(line)).unwrap().view())
}

#[test]
fn f5_a_message_is_quoted_by_its_opening_words() {
    assert_eq!(opening(json!({"content": "  do\nthis "})), "do\nthis");
    let long = "ä".repeat(1_000);
    let quote = opening(
        json!({"content": [{"type": "text", "text": " "}, {"type": "text", "text": long}]}),
    );
    assert!(
        quote.starts_with(&"ä".repeat(300))
            && quote.ends_with(" …")
            && quote.chars().count() == 302
    );
    assert_eq!(
        opening(json!({"content": [{"type": "tool_result", "tool_use_id": "t", "content": "42"}]})),
        "42"
    );
    let call = json!({"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]});
    assert_eq!(opening(call), r#"Bash {"command":"ls"}"#);
    assert_eq!(opening(json!({"content": []})), "");
}
