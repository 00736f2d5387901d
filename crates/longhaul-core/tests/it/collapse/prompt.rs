//! What the model is asked.

use longhaul_core::collapse::{Asked, Earlier, Span, prompt};
use longhaul_core::summary::Instructions;

use super::limits;
use crate::snapshot::check;

const NONE: Instructions<'static> = Instructions {
    called_off: &[],
    user: "",
    hooks: &[],
    memory_file: "",
};

fn span(opening: &str, messages: u64) -> Span {
    Span {
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
    let asked = Asked {
        spans: &spans,
        kept: None,
        earlier: Earlier::Stay,
        limits: &limits,
        instructions: &NONE,
    };
    let plain = prompt(&asked);
    check("fold_prompt", &plain);
    assert!(plain.len() < 3_600, "{}", plain.len());
    let all = prompt(&Asked {
        spans: &spans[..1],
        kept: Some("And now {quote} this."),
        earlier: Earlier::Condense,
        instructions: &Instructions {
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
    let text = prompt(&Asked {
        spans: &[span("go", 3)],
        kept: None,
        earlier: Earlier::Stay,
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
