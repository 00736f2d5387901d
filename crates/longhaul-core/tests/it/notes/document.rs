//! Tests the notes file: read, written, and edited by hand.

use longhaul_core::notes::{NotesProgress, NotesTemplate, SessionNotes};
use proptest::prelude::*;

use super::noted;

#[test]
fn s1_the_template_has_ten_sections_each_with_a_description() {
    let template = NotesTemplate::default();
    let titles: Vec<&str> = template.notes().sections().map(|one| one.title).collect();
    assert_eq!(
        titles,
        [
            "Session title",
            "Current state",
            "Task specification",
            "Files and functions",
            "Workflow",
            "Errors and corrections",
            "Codebase and system documentation",
            "Learnings",
            "Key results",
            "Worklog",
        ]
    );
    for section in template.notes().sections() {
        assert!(section.description.unwrap().starts_with('_'), "{section:?}");
        assert_eq!(section.body, "");
    }
}

const EDITED: &str = "\u{feff}Mine, keep it.\r\n\r\n# Current state\r\n\r\n*What now*\r\n\r\n  - one\r\n```sh\r\n# no heading\r\n```\r\n\r\n\r\n# My own\r\nfree text\r\n## smaller\r\n# Worklog \r\n_Steps_";

#[test]
fn s1_what_people_edit_by_hand_is_read() {
    let notes = SessionNotes::parse(EDITED);
    assert_eq!(notes.text(), EDITED);
    assert_eq!(notes.preamble(), "Mine, keep it.\r\n\r\n");
    let sections: Vec<_> = notes.sections().collect();
    assert_eq!(sections.len(), 3);
    assert_eq!(sections[0].description, Some("*What now*"));
    assert_eq!(sections[0].body, "  - one\r\n```sh\r\n# no heading\r\n```");
    assert_eq!(sections[1].title, "My own");
    assert_eq!(sections[1].description, None);
    assert_eq!(sections[1].body, "free text\r\n## smaller");
    assert_eq!(sections[2].description, Some("_Steps_"));
    assert_eq!(notes.find(" WORKLOG").unwrap().0, 2);
    let bom = SessionNotes::parse("\u{feff}# A\nb");
    assert_eq!((bom.preamble(), bom.sections().count()), ("", 1));
}

#[test]
fn s1_replacing_a_body_changes_nothing_else_and_keeps_the_line_ends() {
    let notes = SessionNotes::parse(EDITED);
    let changed = notes.with_body(0, "\nnew\nlines\n\n").unwrap();
    let wanted = EDITED.replace("  - one\r\n```sh\r\n# no heading\r\n```", "new\r\nlines");
    assert_eq!(changed.text(), wanted);
    let added = notes.with_body(2, "first step").unwrap();
    assert_eq!(added.text(), format!("{EDITED}\r\nfirst step\r\n"));
    assert!(notes.with_body(3, "nowhere").is_err());
    let filled = noted(&[("Workflow", "make")]);
    assert_eq!(
        filled.with_body(4, "").unwrap(),
        *NotesTemplate::default().notes()
    );
}

#[test]
fn s1_a_body_cannot_add_headings_or_pass_for_a_description() {
    let notes = SessionNotes::parse("# A\n_a_\n\n# B\n");
    assert!(notes.with_body(0, "text\n# C\nmore").is_err());
    assert!(notes.with_body(0, "text\n```\n# C\n```").is_ok());
    assert!(notes.with_body(1, "_looks like one_").is_err());
    assert!(notes.with_body(0, "_does not: there is one_").is_ok());
    let fenced = SessionNotes::parse("# A\n_a_\n\n# B\n_b_\n```\nx\n```\n");
    assert!(fenced.with_body(0, "```").is_err(), "it would swallow B");
}

#[test]
fn s1_an_untouched_template_is_known_whatever_its_line_ends() {
    let template = NotesTemplate::default();
    assert!(template.is_untouched(template.notes()));
    let windows = template.notes().text().replace('\n', "\r\n");
    assert!(template.is_untouched(&SessionNotes::parse(windows)));
    assert!(template.is_untouched(&SessionNotes::parse("\n \n")));
    assert!(!template.is_untouched(&noted(&[("Learnings", "x")])));
    assert!(!template.is_untouched(&SessionNotes::parse("free text")));
    let custom = NotesTemplate::custom("# Only\n_one_\nfixed words\n");
    assert!(custom.is_untouched(&SessionNotes::parse("# Only\n_one_\n\n  fixed words")));
    assert!(!custom.is_untouched(&SessionNotes::parse("# Only\n_one_\nother words")));
    assert_eq!(NotesTemplate::custom(" \n"), template);
    assert_eq!(NotesTemplate::custom("no heading"), template);
}

#[test]
fn s5_how_far_notes_reach_is_written_and_read_back_and_damage_is_nothing() {
    let progress = NotesProgress {
        last_summarized_uuid: "a \"quoted\" id".to_owned(),
        tokens: 12_345,
    };
    let written = progress.written();
    assert_eq!(NotesProgress::read(written.as_bytes()), Some(progress));
    for damaged in ["", "{", "[]", r#"{"tokens":1}"#, &written[..20]] {
        assert_eq!(NotesProgress::read(damaged.as_bytes()), None, "{damaged}");
    }
}

/// Returns files in states that people leave them in.
fn scribbled() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# A"),
        Just("# B "),
        Just("#  Ü"),
        Just("# A"),
        Just("## smaller"),
        Just("#no"),
        Just("# "),
        Just("_italic_"),
        Just("*also*"),
        Just("**bold**"),
        Just("__"),
        Just("text"),
        Just("  indented"),
        Just(""),
        Just(" "),
        Just("```"),
        Just("~~~"),
        Just("```sh"),
        Just("\u{feff}"),
        Just("漢😀"),
    ];
    let end = prop_oneof![4 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r")];
    prop::collection::vec((line, end), 0..16).prop_map(|lines| {
        lines
            .into_iter()
            .flat_map(|(line, end)| [line, end])
            .collect()
    })
}

fn others(notes: &SessionNotes, but: usize) -> Vec<(String, Option<String>, Option<String>)> {
    let sections = notes.sections().enumerate();
    sections
        .map(|(at, one)| {
            let body = (at != but).then(|| one.body.to_owned());
            (
                one.title.to_owned(),
                one.description.map(str::to_owned),
                body,
            )
        })
        .collect()
}

#[test]
fn s1_a_line_ending_that_was_cut_in_half_is_completed() {
    let notes = SessionNotes::parse("# Title\r".to_owned());
    let changed = notes.with_body(0, "one\ntwo").unwrap();
    assert_eq!(changed.text(), "# Title\r\none\r\ntwo\r\n");
    assert_eq!(changed.with_body(0, "one\ntwo"), Ok(changed.clone()));
}

proptest! {
    #[test]
    fn s1_writing_what_was_read_gives_the_same_bytes(text in scribbled(), noise in ".{0,40}") {
        for text in [text.clone(), [text, noise].concat()] {
            let notes = SessionNotes::parse(text.clone());
            prop_assert_eq!(notes.text(), text);
        }
    }

    #[test]
    fn s1_a_replaced_body_is_there_and_all_else_is_as_it_was(text in scribbled(), body in scribbled(), at in 0_usize..6) {
        let notes = SessionNotes::parse(text);
        if let Ok(changed) = notes.with_body(at, &body) {
            prop_assert_eq!(others(&notes, at), others(&changed, at));
            prop_assert_eq!(notes.preamble(), changed.preamble());
            let now = changed.sections().nth(at).unwrap().body.to_owned();
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&now), words(&body));
            prop_assert_eq!(changed.with_body(at, &body), Ok(changed.clone()), "once is enough");
        }
    }
}
