//! Tests compaction by notes: when it applies, and what it keeps.

use longhaul_core::message::Id;
use longhaul_core::notes::{
    EntryWords, KeepWindow, NotesPlan, NotesPlanInput, NotesReplacement, NotesSkipReason,
    NotesTemplate, SessionNotes, WeighedEntry,
};
use longhaul_core::rounds::{PieceKind, ViewPiece};
use longhaul_core::tokens::Estimate;
use longhaul_core::window::WindowScale;
use proptest::prelude::*;

use super::{caps, noted};
use crate::cut::{hostile, is_safe};
use crate::session_file::SessionFile;

const PATH: &str = "/data/s/session-memory/summary.md";

/// A conversation with notes.
struct Case {
    notes: Option<SessionNotes>,
    template: NotesTemplate,
    last: Option<Id>,
    pieces: Vec<ViewPiece>,
    entries: Vec<WeighedEntry>,
    beside: u64,
    threshold: u64,
}

fn uuid(at: usize) -> Id {
    Id::of(&format!("u{at}"))
}

impl Case {
    /// Returns a case with so many exchanges, each entry of this weight; the notes cover the first `covered` entries.
    fn talk(count: usize, weight: u64, covered: usize) -> Self {
        let part = |at: usize| match at % 2 {
            0 => PieceKind::Input,
            _ => PieceKind::Response(Some(Id::of(&format!("m{at}")))),
        };
        let pieces = (0..count).map(|at| ViewPiece {
            part: part(at),
            calls: Vec::new(),
            answers: Vec::new(),
        });
        Self::of(pieces.collect(), weight, covered.checked_sub(1))
    }

    fn of(pieces: Vec<ViewPiece>, weight: u64, last: Option<usize>) -> Self {
        let entries = (0..pieces.len()).map(|at| WeighedEntry {
            uuid: Some(uuid(at)),
            weight: Estimate::new(weight),
            spoken: EntryWords::Words,
        });
        Self {
            notes: Some(noted(&[("Current state", "half done")])),
            template: NotesTemplate::default(),
            last: last.map(uuid),
            entries: entries.collect(),
            pieces,
            beside: 0,
            threshold: 167_000,
        }
    }

    fn plan(&self) -> NotesPlan {
        let scale = WindowScale::of_window(200_000);
        NotesPlan::of(&NotesPlanInput {
            notes: self.notes.as_ref(),
            template: &self.template,
            path: PATH,
            last_summarized: self.last,
            pieces: &self.pieces,
            entries: &self.entries,
            beside: Estimate::new(self.beside),
            threshold: self.threshold,
            caps: caps(),
            keep: KeepWindow::at(scale),
        })
    }

    #[track_caller]
    fn applies(&self) -> NotesReplacement {
        match self.plan() {
            NotesPlan::Applicable(replacement) => replacement,
            NotesPlan::NotApplicable(reason) => panic!("{reason}"),
        }
    }

    #[track_caller]
    fn refuses(&self) -> NotesSkipReason {
        match self.plan() {
            NotesPlan::Applicable(replacement) => panic!("{replacement:?}"),
            NotesPlan::NotApplicable(reason) => reason,
        }
    }
}

#[test]
fn s6_each_reason_not_to_apply() {
    let case = || Case::talk(100, 600, 90);
    assert_eq!(case().applies().keep_from, 87);
    let mut none = case();
    none.notes = None;
    assert_eq!(none.refuses(), NotesSkipReason::NoFile);
    let mut untouched = case();
    untouched.notes = Some(NotesTemplate::default().notes().clone());
    assert_eq!(untouched.refuses(), NotesSkipReason::UntouchedTemplate);
    let mut unknown = case();
    unknown.last = None;
    assert_eq!(unknown.refuses(), NotesSkipReason::UnknownLastSummarized);
    unknown.last = Some(Id::of("gone"));
    assert_eq!(unknown.refuses(), NotesSkipReason::UnknownLastSummarized);
    let mut over = case();
    over.threshold = 10_000;
    assert!(matches!(
        over.refuses(),
        NotesSkipReason::OverThreshold { .. }
    ));
    let short = Case::talk(6, 600, 6);
    assert_eq!(
        short.refuses(),
        NotesSkipReason::NothingToGain,
        "all of it is kept"
    );
    let mut large = Case::talk(100, 600, 14);
    large.notes = Some(noted(&[
        ("Worklog", &"x".repeat(8_000)),
        ("Learnings", &"x".repeat(8_000)),
        ("Workflow", &"x".repeat(8_000)),
        ("Key results", &"x".repeat(8_000)),
        ("Current state", &"x".repeat(8_000)),
    ]));
    assert_eq!(
        large.refuses(),
        NotesSkipReason::NothingToGain,
        "the notes weigh more"
    );
}

#[test]
fn s6_at_the_threshold_is_over_it() {
    let mut case = Case::talk(100, 600, 90);
    let after = case.applies().after;
    case.threshold = after + 1;
    assert_eq!(case.applies().after, after);
    case.threshold = after;
    let threshold = after;
    assert_eq!(
        case.refuses(),
        NotesSkipReason::OverThreshold { after, threshold }
    );
    case.threshold = after + 1;
    case.beside = 1;
    assert!(matches!(
        case.refuses(),
        NotesSkipReason::OverThreshold { .. }
    ));
}

#[test]
fn s6_the_window_widens_to_ten_thousand_tokens() {
    // Each entry weighs 600, padded 800: 13 entries make 10,400.
    assert_eq!(Case::talk(100, 600, 100).applies().keep_from, 87);
    assert_eq!(Case::talk(100, 600, 95).applies().keep_from, 87);
    assert_eq!(Case::talk(100, 600, 87).applies().keep_from, 87);
    assert_eq!(Case::talk(100, 600, 60).applies().keep_from, 60);
}

#[test]
fn s6_the_window_widens_to_five_entries_with_text() {
    let mut case = Case::talk(100, 1_500, 95);
    assert_eq!(case.applies().keep_from, 95, "five of 2,000");
    for entry in &mut case.entries[96..] {
        entry.spoken = EntryWords::Nothing;
    }
    assert_eq!(case.applies().keep_from, 91, "four more");
    case.pieces = Case::talk(100, 1, 1).pieces;
    for entry in &mut case.entries {
        entry.spoken = EntryWords::Nothing;
    }
    assert_eq!(case.applies().keep_from, 80, "until 40,000");
}

#[test]
fn s6_forty_thousand_ends_the_widening_but_never_cuts_the_tail() {
    let mut case = Case::talk(100, 900, 40);
    assert_eq!(case.applies().keep_from, 40, "72,000 are kept");
    for entry in &mut case.entries {
        entry.spoken = EntryWords::Nothing;
    }
    assert_eq!(case.applies().keep_from, 40);
}

#[test]
fn s6_the_window_never_passes_the_boundary() {
    let mut case = Case::talk(100, 600, 98);
    case.pieces[94].part = PieceKind::Boundary;
    case.entries[94].weight = Estimate::ZERO;
    assert_eq!(case.refuses(), NotesSkipReason::NothingToGain);
    case.pieces[94].part = PieceKind::Unsent;
    case.pieces[50].part = PieceKind::Boundary;
    assert!(case.applies().keep_from > 50);
}

#[test]
fn s6_p3_the_cut_is_moved_so_that_pairs_stay_whole() {
    let mut case = Case::talk(100, 600, 90);
    assert_eq!(case.applies().keep_from, 87);
    let call = Id::of("t");
    case.pieces[83].calls.push(call);
    case.pieces[88].answers.push(call);
    assert_eq!(case.applies().keep_from, 83);
}

#[test]
fn s6_long_sections_are_cut_with_a_pointer_and_their_heads_stay() {
    let mut case = Case::talk(100, 600, 90);
    let lines = "- a step of the work\n".repeat(600);
    let code = format!("```rust\n{}\n```", "let a = 1;\n".repeat(900));
    case.notes = Some(noted(&[
        ("Worklog", &lines),
        ("Workflow", &code),
        ("Learnings", &"w".repeat(8_000)),
    ]));
    let plan = case.applies();
    assert_eq!(plan.cut, ["Workflow", "Worklog"]);
    let read = SessionNotes::parse(plan.summary_text.as_str());
    assert!(
        case.notes.as_ref().unwrap().allows(&read).is_ok(),
        "{}",
        plan.summary_text
    );
    let body = |title: &str| read.find(title).unwrap().1.body;
    assert_eq!(body("Learnings").len(), 8_000);
    let pointer = format!("[The rest of this section was left out here. It stands in {PATH}.]");
    assert!(body("Worklog").ends_with(&format!("- a step of the work\n{pointer}")));
    assert!(body("Workflow").ends_with(&format!("let a = 1;\n```\n{pointer}")));
    assert!((7_900..8_100).contains(&body("Worklog").len()));
    insta::assert_snapshot!("pointer", body("Worklog").lines().last().unwrap());
    case.notes = Some(noted(&[(
        "Worklog",
        &format!("short\n{}", "漢".repeat(9_000)),
    )]));
    let text = case.applies().summary_text;
    assert_eq!(
        text.matches('漢').count(),
        7_994,
        "one long line is cut within"
    );
}

#[test]
fn s7_the_summary_is_the_notes_as_they_are() {
    let case = Case::talk(100, 600, 90);
    let text = case.applies().summary_text;
    assert_eq!(text, case.notes.as_ref().unwrap().text().trim_end());
    let summary = longhaul_core::summary::Summary::new(&text).unwrap();
    assert!(summary.text().contains("half done"));
}

#[test]
fn s6_generated_sessions_are_compacted_by_notes_and_read_back() {
    use longhaul_core::summary::PivotDirection;
    use longhaul_testkit::session::{CompactionSchedule, SessionSpec};
    let mut applied = 0;
    for seed in 0..6 {
        let spec = SessionSpec::new(seed, 60).compaction(CompactionSchedule::EveryRounds(45));
        let mut file = SessionFile::new(spec.generate().bytes);
        let (table, conversation, ..) = file.read();
        let live = file.live();
        let rows = conversation
            .view()
            .rows
            .iter()
            .map(|at| &table.rows()[*at as usize]);
        let entries: Vec<WeighedEntry> = live
            .iter()
            .zip(rows)
            .map(|(live, row)| {
                let weight = if row.is_sent() {
                    table.weight(row)
                } else {
                    Estimate::ZERO
                };
                WeighedEntry::of_view(live.entry.view(), weight)
            })
            .collect();
        for covered in [live.len() / 2, live.len() - 1] {
            let case = Case {
                last: entries[covered].uuid,
                pieces: live.iter().map(|live| live.piece.clone()).collect(),
                entries: entries.clone(),
                ..Case::talk(0, 0, 0)
            };
            let NotesPlan::Applicable(plan) = case.plan() else {
                continue;
            };
            applied += 1;
            assert!(is_safe(&case.pieces, plan.keep_from));
            assert!(plan.keep_from <= covered + 1);
            if covered + 1 == live.len() {
                let kept = live[plan.keep_from..].iter();
                let kept: Vec<String> = kept
                    .filter(|one| one.piece.part.is_sent())
                    .map(|one| one.uuid())
                    .collect();
                file.compact(Some((plan.keep_from, PivotDirection::UpTo)));
                assert_eq!(file.seen()[1..=kept.len()], kept, "seed {seed}");
                assert!(file.problems().is_empty());
            }
        }
    }
    assert!(applied >= 6, "{applied}");
}

proptest! {
    #[test]
    fn s6_the_unsummarized_tail_is_kept_whole_and_cuts_are_safe(
        view in hostile(),
        weights in prop::collection::vec((0_u64..9_000, any::<bool>()), 24),
        last in 0_usize..24,
        threshold in 1_000_u64..200_000,
    ) {
        let mut case = Case::of(view, 0, Some(last));
        case.threshold = threshold;
        for (entry, (weight, words)) in case.entries.iter_mut().zip(weights) {
            entry.weight = Estimate::new(weight);
            entry.spoken = if words { EntryWords::Words } else { EntryWords::Nothing };
        }
        let plan = case.plan();
        prop_assert_eq!(&plan, &case.plan());
        let NotesPlan::Applicable(plan) = plan else { return Ok(()); };
        let boundary = case.pieces.iter().rposition(|piece| piece.part == PieceKind::Boundary);
        let floor = boundary.map_or(0, |at| at + 1);
        prop_assert!(plan.keep_from <= (last + 1).max(floor), "nothing that is not noted is lost");
        prop_assert!(plan.keep_from > floor || is_safe(&case.pieces, plan.keep_from));
        prop_assert!(plan.keep_from >= floor);
        prop_assert!(is_safe(&case.pieces, plan.keep_from));
        prop_assert!(plan.after < threshold);
        let weight = |from: usize| case.entries[from..].iter().map(|entry| entry.weight).sum::<Estimate>();
        prop_assert!(weight(plan.keep_from) < weight(floor), "something is saved");
        // No more is kept than necessary: one entry later, something would be missing.
        let before_cut = (plan.keep_from + 1..=last + 1).find(|at| is_safe(&case.pieces, *at));
        if let Some(later) = before_cut {
            let words = case.entries[later..].iter().filter(|entry| entry.spoken == EntryWords::Words).count();
            let tokens = weight(later).padded();
            prop_assert!(tokens < 40_000 && (tokens < 10_000 || words < 5));
        }
    }
}
