//! Compactions that we wrote, resumed from the tail of the file (M5, P5).

use longhaul_core::boundary::{
    CompactionRecord, CompactionTrigger, KeptEntry, LineEnvelope, LineStamp, LineThread,
    PreservedAnchor, PreservedPart, UndoPlan, UndoRecord,
};
use longhaul_core::message::LineScanner;
use longhaul_core::rounds::ViewPiece;
use longhaul_core::summary::{CompactionScope, PivotDirection};
use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
use longhaul_store::{LineReader, ResumedConversation, resume};
use longhaul_testkit::session::{
    CompactionSchedule as When, Feature, KeptRounds as Keeps, SessionSpec,
};

use crate::resume::check;
use crate::support::entry;

const ENVELOPE: LineEnvelope<'static> = LineEnvelope {
    thread: LineThread::Main,
    cwd: "/srv/project",
    session_id: "s",
    version: "1",
    git_branch: None,
};

fn stamp(uuid: &str) -> LineStamp<'_> {
    let timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    LineStamp { uuid, timestamp }
}

fn resumed(bytes: &[u8]) -> ResumedConversation {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    resume(file.path()).unwrap()
}

fn last_uuid(view: &ResumedConversation) -> String {
    let last = view.entries.last().unwrap().view();
    last.text(last.facets.uuid).into_owned()
}

/// Compacts a resumed conversation, as a host does; returns the offset where the new view begins.
fn compact(bytes: &mut Vec<u8>, name: &str, share: usize, direction: PivotDirection) -> u64 {
    let view = resumed(bytes);
    let pieces: Vec<ViewPiece> = view
        .entries
        .iter()
        .map(|entry| ViewPiece::of_view(entry.view()))
        .collect();
    let scope = CompactionScope::partial(&pieces, pieces.len() * share / 10, direction);
    let anchor = match direction {
        PivotDirection::UpTo => PreservedAnchor::Summary,
        PivotDirection::From => PreservedAnchor::Boundary,
    };
    let entries = view.entries.iter().zip(&view.offsets);
    let kept = entries
        .map(|(entry, offset)| KeptEntry {
            entry: entry.view(),
            offset: *offset,
        })
        .skip(scope.kept.start)
        .take(scope.kept.len());
    let kept = PreservedPart::of(anchor, kept);
    let (boundary, summary) = (format!("{name}-boundary"), format!("{name}-summary"));
    let lines = CompactionRecord {
        envelope: ENVELOPE,
        boundary: stamp(&boundary),
        summary: stamp(&summary),
        logical_parent: Some(&last_uuid(&view)),
        trigger: CompactionTrigger::Manual,
        pre_tokens: 9,
        messages_summarized: scope.messages(&pieces) as u64,
        user_context: None,
        discovered_tools: &[],
        kept: kept.as_ref(),
        thinking_stripped_through: None,
        ledger: None,
        report: None,
        folds: None,
        made: None,
        recompaction: None,
        head_tokens: None,
        signed: None,
        text: "the summary",
        attached: &[],
    }
    .lines()
    .unwrap();
    let own = bytes.len() as u64;
    for line in lines {
        bytes.extend_from_slice(&line);
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(entry(&format!("{name}-turn"), Some(&summary)).as_bytes());
    bytes.push(b'\n');
    let sent = scope.kept.filter(|at| pieces[*at].part.is_sent());
    sent.map(|at| view.offsets[at]).min().unwrap_or(own)
}

fn sessions() -> impl Iterator<Item = (u64, Vec<u8>)> {
    let keeps = [
        Keeps::Nothing,
        Keeps::AfterSummary,
        Keeps::AfterBoundary,
        Keeps::Listed,
    ];
    (0..8).map(move |seed| {
        let spec = SessionSpec::new(seed, 30)
            .with(Feature::Branches)
            .kept(keeps[seed as usize % 4])
            .compaction(When::EveryRounds(12));
        (seed, spec.generate().bytes)
    })
}

#[test]
fn m5_p5_a_resume_reads_from_where_the_live_view_begins_and_no_further() {
    for (seed, mut bytes) in sessions() {
        let shares = [6, 3, 7, 5, 2];
        for (step, share) in shares.into_iter().enumerate() {
            let direction = match (seed as usize + step) % 3 {
                0 => PivotDirection::From,
                _ => PivotDirection::UpTo,
            };
            let name = format!("seed {seed}, step {step}, {direction:?}");
            let begins = compact(&mut bytes, &format!("{seed}-{step}"), share, direction);
            let from = check(&bytes, &name);
            assert!(from > 0, "{name}: the whole file was read");
            assert!(from <= begins, "{name}: {from} is behind {begins}");
            // A clearing or an attachment that is not shown may be at the front of the kept entries.
            assert!(
                begins - from < 4_000,
                "{name}: {from} is long before {begins}"
            );
        }
    }
}

#[test]
fn m5_x6_an_undo_is_resumed_as_it_is_read() {
    for (seed, mut bytes) in sessions() {
        for (step, direction) in [PivotDirection::UpTo, PivotDirection::From]
            .into_iter()
            .enumerate()
        {
            compact(&mut bytes, &format!("{seed}-{step}"), 5, direction);
        }
        for step in 0..2 {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &bytes).unwrap();
            let mut lines = LineReader::open(file.path()).unwrap();
            let (mut table, mut scanner) = (TranscriptTable::default(), LineScanner::default());
            let mut uuids = Vec::new();
            while let Some(line) = lines.next().unwrap() {
                let view = scanner.scan(line.bytes).unwrap().view(line.bytes);
                table.push(line.number, line.offset, view);
                uuids.push(view.text(view.facets.uuid).into_owned());
            }
            let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
            let plan = UndoPlan::of(&table, &conversation).unwrap();
            let undo = format!("{seed}-{step}-undo");
            let lines = UndoRecord {
                envelope: ENVELOPE,
                stamp: stamp(&undo),
                boundary: &uuids[plan.boundary as usize],
                parent: &uuids[plan.parent as usize],
                later: &[],
                thinking_stripped_through: None,
                report: None,
            }
            .lines()
            .unwrap();
            bytes.extend_from_slice(&lines[0]);
            bytes.push(b'\n');
            check(&bytes, &format!("seed {seed}, undo {step}"));
            bytes.extend_from_slice(entry(&format!("{undo}-turn"), Some(&undo)).as_bytes());
            bytes.push(b'\n');
            check(&bytes, &format!("seed {seed}, turn after undo {step}"));
        }
    }
}
