//! Tests notes from a text answer.

use longhaul_core::notes::{SectionRefusal, UnusableAnswer, apply};
use proptest::prelude::*;

use super::noted;

#[test]
fn s3_changed_sections_are_put_in_and_all_else_stays() {
    let notes = noted(&[("Worklog", "- begun"), ("Learnings", "keep")]);
    let answer = "Here they are.\n<notes>\n# current STATE\n_What is being worked on right now, what is still open, what comes next_\n\nTests are red.\n\n# Worklog\n- begun\n- tests\n</notes> Done.";
    let applied = apply(answer, &notes).unwrap();
    let wanted = noted(&[
        ("Worklog", "- begun\n- tests"),
        ("Learnings", "keep"),
        ("Current state", "Tests are red."),
    ]);
    assert_eq!(applied.notes, wanted);
    assert_eq!(applied.changed, ["Current state", "Worklog"]);
    assert!(applied.refused.is_empty());
}

#[test]
fn s3_what_would_change_more_than_bodies_is_refused() {
    let notes = noted(&[("Worklog", "- begun")]);
    let answer = "<notes># Secrets\nx\n# Worklog\n\n# Workflow\nmake\n# workflow\nagain\n# Learnings\n_new description_\nbut noted\n</notes>";
    let applied = apply(answer, &notes).unwrap();
    let refused: Vec<_> = applied
        .refused
        .iter()
        .map(|one| (one.title.as_str(), one.why))
        .collect();
    assert_eq!(
        refused,
        [
            ("Secrets", SectionRefusal::Unknown),
            ("Worklog", SectionRefusal::Blank),
            ("workflow", SectionRefusal::Repeated),
        ]
    );
    assert_eq!(applied.changed, ["Workflow", "Learnings"]);
    let wanted = noted(&[
        ("Worklog", "- begun"),
        ("Workflow", "make"),
        ("Learnings", "_new description_\nbut noted"),
    ]);
    assert_eq!(applied.notes, wanted, "descriptions stay");
    let swallows = "<notes># Session title\n~~~\n</notes>";
    let code = noted(&[("Worklog", "~~~\ncode\n~~~")]);
    let applied = apply(swallows, &code).unwrap();
    assert_eq!(applied.refused[0].why, SectionRefusal::BreaksFrame);
    assert_eq!(applied.notes, code);
}

#[test]
fn s3_an_answer_without_notes_or_cut_off_changes_nothing() {
    let notes = noted(&[]);
    for (answer, why) in [
        ("", UnusableAnswer::NoNotes),
        ("# Worklog\n- x", UnusableAnswer::NoNotes),
        ("<notes># Worklog\n- x", UnusableAnswer::CutOff),
        ("</notes><notes># Worklog", UnusableAnswer::CutOff),
    ] {
        assert_eq!(apply(answer, &notes).unwrap_err(), why, "{answer}");
    }
    let nothing = apply("<notes>\n</notes>", &notes).unwrap();
    assert_eq!((nothing.notes, nothing.changed.len()), (notes, 0));
}

proptest! {
    #[test]
    fn s3_whatever_is_answered_headings_and_descriptions_stay(
        lines in prop::collection::vec(prop_oneof![
            Just("# Worklog"), Just("# Current state"), Just("# New"), Just("_x_"), Just("```"), Just("text"), Just(""),
            Just("<notes>"), Just("</notes>"),
        ], 0..14)
    ) {
        let notes = noted(&[("Worklog", "```\ncode\n```"), ("Workflow", "make")]);
        let answer = format!("<notes>\n{}\n</notes>", lines.join("\n"));
        let applied = apply(&answer, &notes).unwrap();
        prop_assert!(notes.allows(&applied.notes).is_ok());
        prop_assert_eq!(applied.changed.is_empty(), applied.notes == notes);
    }
}
