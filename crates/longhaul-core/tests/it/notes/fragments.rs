//! Compares each text that the agent reads with its snapshot, and tests which text is used when.

use longhaul_core::notes::{
    DEFAULT_TEMPLATE, NotesCaps, NotesEditWay, NotesPrompt, NotesTemplate, SessionNotes,
};
use longhaul_core::tokens::RoughEstimator;
use longhaul_core::window::WindowScale;

use super::{caps, noted};

const PATH: &str = "/data/s/session-memory/summary.md";

fn prompt<'a>(notes: &'a SessionNotes, way: NotesEditWay<'a>, custom: Option<&'a str>) -> String {
    let prompt = NotesPrompt {
        notes,
        path: PATH,
        way,
        caps: caps(),
        custom,
    };
    prompt.text()
}

const EDIT: NotesEditWay<'_> = NotesEditWay::Edit { tool: "Edit" };

#[test]
fn s1_the_template_is_as_it_was() {
    insta::assert_snapshot!("template", DEFAULT_TEMPLATE);
    assert!(RoughEstimator::text(DEFAULT_TEMPLATE).unpadded() < 300);
}

#[test]
fn s3_the_requests_are_as_they_were() {
    let notes =
        SessionNotes::parse("# Worklog\n_Steps_\n\n- {path} {{currentNotes}} stay as they are\n");
    insta::assert_snapshot!("prompt_edit", prompt(&notes, EDIT, None));
    insta::assert_snapshot!("prompt_answer", prompt(&notes, NotesEditWay::Answer, None));
    let template = NotesTemplate::default();
    let size = RoughEstimator::text(&prompt(template.notes(), EDIT, None)).unpadded();
    assert!(size < 1_000, "{size}");
}

#[test]
fn s4_over_a_cap_the_next_request_asks_to_condense_and_over_the_total_strongly() {
    let at_cap = noted(&[("Worklog", &"x".repeat(8_000))]);
    assert_eq!(
        caps().over(&at_cap),
        Default::default(),
        "at it is not over"
    );
    let text = prompt(&at_cap, EDIT, None);
    assert!(!text.contains("These sections have grown") && !text.contains("IMPORTANT"));

    let long = "y".repeat(8_400);
    let over = noted(&[("Worklog", &long), ("Learnings", &long)]);
    let told = prompt(&over, EDIT, None).replace(over.text().trim_end(), "…");
    insta::assert_snapshot!("prompt_over_sections", told);

    let all: Vec<_> = over
        .sections()
        .map(|one| (one.title, "z".repeat(6_000)))
        .collect();
    let all: Vec<_> = all
        .iter()
        .map(|(title, body)| (*title, body.as_str()))
        .collect();
    let over = noted(&all);
    let told =
        prompt(&over, NotesEditWay::Answer, Some("Mine.")).replace(over.text().trim_end(), "…");
    insta::assert_snapshot!("prompt_over_total", told);
}

#[test]
fn s4_h7_caps_shrink_with_small_windows() {
    let small = NotesCaps::at(WindowScale::of_window(25_000));
    assert_eq!((small.section, small.total), (500, 3_000));
    let notes = noted(&[("Worklog", &"x".repeat(2_004))]);
    assert_eq!(small.over(&notes).sections[0].tokens, 501);
}

#[test]
fn s1_a_prompt_of_the_user_replaces_ours_and_may_place_path_and_notes() {
    let notes = SessionNotes::parse("# A\n_a_\n{{notesPath}}");
    let custom = "Use {{notesPath}} {{unknown}} {x}:\n{{currentNotes}}\nEnd.\n";
    let text = prompt(&notes, EDIT, Some(custom));
    let wanted = format!(
        "Use {PATH} {{{{unknown}}}} {{x}}:\n# A\n_a_\n{{{{notesPath}}}}\nEnd.\n\nChange the file with"
    );
    assert!(text.starts_with(&wanted), "{text}");
    assert!(!text.contains("<current_notes>"), "they are shown once");
    let without = prompt(&notes, NotesEditWay::Answer, Some("Just note."));
    assert!(without.starts_with("Just note.\n\nThe notes as they are now"));
    assert!(without.contains("<notes>"), "how to answer is always said");
    assert_eq!(
        prompt(&notes, EDIT, Some(" \n")),
        prompt(&notes, EDIT, None)
    );
}
