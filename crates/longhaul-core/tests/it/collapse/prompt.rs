//! Tests the request for folds.

use longhaul_core::collapse::{EarlierFolds, FoldPrompt, FoldSpan, prompt};
use longhaul_core::summary::SummaryInstructions;

use super::limits;
use crate::snapshot::check;

const NONE: SummaryInstructions<'static> = SummaryInstructions {
    called_off: &[],
    user: "",
    hooks: &[],
    memory_file: "",
};

fn span(opening: &str, messages: u64) -> FoldSpan {
    FoldSpan {
        opening: opening.to_owned(),
        messages,
        from: None,
        to: None,
    }
}

#[test]
fn o6_the_request_for_folds_is_as_it_was_and_of_bounded_size() {
    let limits = limits(200_000);
    let spans = [
        span("Make the importer read the new format.", 14),
        span("Bash {\"command\":\"cargo test\"}", 9),
        span("Good. Now the docs.", 1),
    ];
    let asked = FoldPrompt {
        spans: &spans,
        kept: None,
        earlier: EarlierFolds::Stay,
        limits: &limits,
        instructions: &NONE,
    };
    let plain = prompt(&asked);
    check("fold_prompt", &plain);
    assert!(plain.len() < 3_600, "{}", plain.len());
    let all = prompt(&FoldPrompt {
        spans: &spans[..1],
        kept: Some("And now {quote} this."),
        earlier: EarlierFolds::Condense,
        instructions: &SummaryInstructions {
            called_off: &[],
            user: "Mind the API.",
            hooks: &["Keep ticket numbers."],
            memory_file: "Keep test output.",
        },
        ..asked
    });
    check("fold_prompt_all", &all);
    assert!(all.len() < 4_400, "{}", all.len());
}

#[test]
fn o6_tools_are_forbidden_at_the_start_and_at_the_end() {
    let limits = limits(8_000);
    let text = prompt(&FoldPrompt {
        spans: &[span("go", 3)],
        kept: None,
        earlier: EarlierFolds::Stay,
        limits: &limits,
        instructions: &NONE,
    });
    let forbids = |text: &str| text.contains("Do not call any tools");
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    assert!(forbids(paragraphs[0]) && forbids(paragraphs[paragraphs.len() - 1]));
    assert!(
        text.contains("40 words at most"),
        "a small window has short folds"
    );
}
