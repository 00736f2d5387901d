//! Tests the whole list of damages (M4), each on a generated session: it is reported with its line, and everything else
//! is still there.

use longhaul_core::inspect::InspectionReport;
use longhaul_core::transcript::TranscriptProblemKind;
use longhaul_testkit::damage::{self, DamagedFile};
use longhaul_testkit::session::{CompactionSchedule, GeneratedSession, KeptRounds, SessionSpec};

use crate::lines::inspect;

fn session() -> GeneratedSession {
    let spec = SessionSpec::new(11, 30).kept(KeptRounds::AfterSummary);
    spec.compaction(CompactionSchedule::EveryRounds(12))
        .generate()
}

/// Returns the report after checking that it names exactly these lines with this kind.
fn named(damaged: &DamagedFile, kind: TranscriptProblemKind) -> InspectionReport {
    let report = inspect(&damaged.bytes);
    let found: Vec<usize> = report
        .problems
        .iter()
        .filter(|problem| problem.kind == kind)
        .map(|problem| problem.line as usize)
        .collect();
    assert!(!damaged.lines.is_empty(), "{kind:?}: nothing was damaged");
    for line in &damaged.lines {
        assert!(
            found.contains(line),
            "{kind:?}: line {line} is not among {found:?}"
        );
    }
    report
}

#[test]
fn m4_a_torn_last_line_is_survived() {
    let session = session();
    let report = named(
        &damage::tear_last_line(&session.bytes),
        TranscriptProblemKind::TornLine,
    );
    assert_eq!(report.entries as usize, session.truth.lines - 1);
}

#[test]
fn m4_a_torn_last_line_is_told_wherever_it_is_torn() {
    let session = SessionSpec::new(5, 3).generate();
    let start = session.bytes[..session.bytes.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    for end in (start + 1..session.bytes.len() - 1).step_by(7) {
        let report = inspect(&session.bytes[..end]);
        let kinds: Vec<_> = report
            .problems
            .iter()
            .map(|problem| (problem.line as usize, problem.kind))
            .collect();
        assert!(
            kinds.contains(&(session.truth.lines, TranscriptProblemKind::TornLine)),
            "torn at {end}: {kinds:?}"
        );
    }
}

#[test]
fn m4_garbage_of_all_kinds_is_survived() {
    let session = session();
    let whole = session.truth.lines;
    for (damaged, kind) in [
        (
            damage::garbage_line(&session.bytes, 9),
            TranscriptProblemKind::DamagedLine,
        ),
        (
            damage::huge_garbage_line(&session.bytes, 9, 1 << 20),
            TranscriptProblemKind::DamagedLine,
        ),
        (
            damage::non_object_line(&session.bytes, 9, "[1,2,3]"),
            TranscriptProblemKind::NotAnObject,
        ),
        (
            damage::non_object_line(&session.bytes, 9, "17"),
            TranscriptProblemKind::NotAnObject,
        ),
    ] {
        assert_eq!(named(&damaged, kind).entries as usize, whole, "{kind:?}");
    }
    for (damaged, kind) in [
        (
            damage::invalid_utf8(&session.bytes, 9),
            TranscriptProblemKind::InvalidUtf8,
        ),
        (
            damage::trailing_garbage(&session.bytes, 9),
            TranscriptProblemKind::TrailingGarbage,
        ),
    ] {
        assert_eq!(
            named(&damaged, kind).entries as usize,
            whole - 1,
            "{kind:?}"
        );
    }
    let binary = damage::binary_line(&session.bytes, 9, 1);
    let report = inspect(&binary.bytes);
    assert!(report.entries as usize >= whole);
    assert!(binary.lines.iter().all(|line| {
        report
            .problems
            .iter()
            .any(|problem| problem.line as usize == *line)
    }));
}

#[test]
fn m4_a_byte_order_mark_and_carriage_returns_are_reported_once() {
    let session = session();
    let clean = inspect(&session.bytes);
    for (damaged, kind) in [
        (damage::bom(&session.bytes), TranscriptProblemKind::Bom),
        (damage::crlf(&session.bytes), TranscriptProblemKind::Crlf),
    ] {
        let report = named(&damaged, kind);
        assert_eq!(report.problems.len(), 1, "{kind:?}");
        assert_eq!(report.entries, clean.entries);
        assert_eq!(report.context_tokens, clean.context_tokens);
    }
}

#[test]
fn m4_odd_but_intact_lines_are_no_problem() {
    let session = session();
    for damaged in [
        damage::blank_lines(&session.bytes, 9),
        damage::no_final_newline(&session.bytes),
        damage::deep_nesting(&session.bytes, 9, 1_000),
        damage::lone_surrogate(&session.bytes, 9),
        damage::huge_line(&session.bytes, 9, 8 << 20),
    ] {
        let report = inspect(&damaged.bytes);
        assert_eq!(report.problems, []);
        assert!(report.entries as usize >= session.truth.lines);
    }
}

#[test]
fn m4_links_that_point_wrongly_are_survived() {
    let session = session();
    let results = damage::lines_with(&session.bytes, "\"tool_use_id\"");
    let calls = damage::lines_with(&session.bytes, "\"type\":\"tool_use\"");
    let boundary = session.truth.boundaries[0].line;
    for (damaged, kind) in [
        (
            damage::duplicate_uuid(&session.bytes, results[1]),
            TranscriptProblemKind::DuplicateUuid,
        ),
        (
            damage::dangling_parent(&session.bytes, results[2]),
            TranscriptProblemKind::DanglingParent,
        ),
        (
            damage::orphan_result(&session.bytes, results[3]),
            TranscriptProblemKind::OrphanResult,
        ),
        (
            damage::orphan_call(&session.bytes, calls[3]),
            TranscriptProblemKind::OrphanCall,
        ),
        (
            damage::broken_segment(&session.bytes, boundary),
            TranscriptProblemKind::BrokenSegment,
        ),
    ] {
        let report = named(&damaged, kind);
        assert!(report.entries > 0);
    }
}

#[test]
fn m4_a_cycle_of_parents_is_survived() {
    let session = SessionSpec::new(2, 8).plain().generate();
    let live = &session.truth.live;
    let cycle = damage::cycle(&session.bytes, live[1], live[live.len() - 2]);
    let report = inspect(&cycle.bytes);
    let [problem] = &report.problems[..] else {
        panic!("{:?}", report.problems)
    };
    assert_eq!(problem.kind, TranscriptProblemKind::CyclicParent);
    assert!(cycle.lines.contains(&(problem.line as usize)));
    assert_eq!(report.entries as usize, session.truth.lines);
    assert_eq!(report.messages, inspect(&session.bytes).messages);
}
