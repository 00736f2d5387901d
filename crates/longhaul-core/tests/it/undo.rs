//! Tests undoing compactions.

use longhaul_core::rounds::ViewPiece;
use longhaul_core::summary::PivotDirection;
use longhaul_testkit::session::{CompactionSchedule, Feature, KeptRounds, SessionSpec};
use serde_json::Value;

use crate::lines::inspect;
use crate::session_file::{Live, SessionFile};

fn session(seed: u64) -> SessionFile {
    let spec = SessionSpec::new(seed, 14)
        .without(Feature::Branches)
        .compaction(CompactionSchedule::Never);
    SessionFile::new(spec.generate().bytes)
}

/// Returns what the model sees of each entry: its role and content, or the attachment.
fn contents(file: &SessionFile) -> Vec<String> {
    let live = file.live();
    let sent = live.iter().filter(|live| live.piece.part.is_sent());
    sent.map(|live| {
        let line: Value = serde_json::from_slice(live.entry.bytes()).unwrap_or_default();
        match line.get("attachment") {
            Some(attachment) => brief(attachment),
            None => brief(&line["message"]["content"]),
        }
    })
    .collect()
}

/// Returns a short form of a content for printing, which differs for different contents.
fn brief(content: &Value) -> String {
    let text = content.to_string();
    let head: String = text.chars().take(60).collect();
    format!(
        "{head}… {} {:?}",
        text.len(),
        longhaul_core::message::Id::of(&text)
    )
}

/// Returns the uuids from the newest entry back along the plain chain, as a reader without knowledge of boundaries
/// follows it.
fn plain_chain(file: &SessionFile) -> Vec<String> {
    let text = String::from_utf8(file.bytes.clone()).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let main = |line: &&Value| line["uuid"].is_string() && line["isSidechain"] != true;
    let mut at = lines
        .iter()
        .rfind(|line| main(line) && line["type"] != "progress");
    let mut chain = Vec::new();
    while let Some(line) = at {
        chain.push(line["uuid"].as_str().unwrap().to_owned());
        at = lines
            .iter()
            .find(|before| before["uuid"].is_string() && before["uuid"] == line["parentUuid"]);
    }
    chain.reverse();
    chain
}

fn pivots(file: &SessionFile) -> [Option<(usize, PivotDirection)>; 3] {
    let middle = file.live().len() / 2;
    [
        None,
        Some((middle, PivotDirection::UpTo)),
        Some((middle, PivotDirection::From)),
    ]
}

#[test]
fn x6_an_undo_brings_the_old_conversation_back_and_keeps_later_turns_behind_it() {
    for seed in 0..4 {
        let base = session(seed);
        for pivot in pivots(&base) {
            let mut file = SessionFile::new(base.bytes.clone());
            let old = (file.seen(), contents(&file));
            file.compact(pivot);
            file.turn("one more");
            file.turn("and another");
            let before = file.bytes.clone();
            let later = contents(&file)[contents(&file).len() - 4..].to_vec();
            let plan = file.undo().unwrap();
            assert_eq!(plan.later.len(), 4, "seed {seed}, {pivot:?}");
            assert!(file.bytes.starts_with(&before), "nothing is deleted");
            assert_eq!(file.seen()[..old.0.len()], old.0, "seed {seed}, {pivot:?}");
            assert_eq!(
                contents(&file),
                [old.1, later].concat(),
                "seed {seed}, {pivot:?}"
            );
            let after = file.turn("and on");
            assert_eq!(file.seen()[file.seen().len() - 2..], after);
            assert_eq!(file.problems(), [], "seed {seed}, {pivot:?}");
        }
    }
}

#[test]
fn x6_other_readers_of_the_chain_see_the_old_conversation_and_the_later_turns() {
    let mut file = session(7);
    let old = plain_chain(&file);
    file.compact(None);
    file.turn("one more");
    file.undo().unwrap();
    let chain = plain_chain(&file);
    assert_eq!(chain[..old.len()], old);
    assert_eq!(chain.len(), old.len() + 3, "the undo and two copies");
    let read = inspect(&file.bytes);
    assert_eq!(read.boundaries.len(), 1, "the compaction stays on record");
}

#[test]
fn x6_a_second_undo_takes_the_compaction_before() {
    for seed in 0..4 {
        let mut file = session(seed);
        let original = contents(&file);
        let first_pivot = pivots(&file)[seed as usize % 3];
        file.compact(first_pivot);
        file.turn("between");
        let middle = contents(&file);
        let second_pivot = pivots(&file)[(seed as usize + 1) % 3];
        file.compact(second_pivot);
        file.turn("after");
        let after = contents(&file)[contents(&file).len() - 2..].to_vec();
        file.undo().unwrap();
        assert_eq!(
            contents(&file),
            [middle.clone(), after.clone()].concat(),
            "seed {seed}"
        );
        file.undo().unwrap();
        let between = middle[middle.len() - 2..].to_vec();
        assert_eq!(
            contents(&file),
            [original, between, after].concat(),
            "seed {seed}"
        );
        assert!(file.undo().is_none(), "nothing left to take back");
        assert_eq!(file.problems(), []);
    }
}

#[test]
fn x6_a_compaction_after_an_undo_can_be_undone_too() {
    let mut file = session(9);
    file.compact(None);
    file.turn("one");
    file.undo().unwrap();
    file.turn("two");
    let before = contents(&file);
    file.compact(Some((file.live().len() - 3, PivotDirection::UpTo)));
    file.undo().unwrap();
    assert_eq!(contents(&file), before);
}

#[test]
fn x6_undo_works_on_compactions_that_other_programs_wrote() {
    for kept in [
        KeptRounds::Nothing,
        KeptRounds::AfterSummary,
        KeptRounds::AfterBoundary,
        KeptRounds::Listed,
    ] {
        let spec = SessionSpec::new(5, 20)
            .without(Feature::Branches)
            .kept(kept)
            .compaction(CompactionSchedule::EveryRounds(9));
        let session = spec.generate();
        let last = session.truth.boundaries.last().unwrap().offset;
        let before = SessionFile::new(session.bytes[..last].to_vec());
        let mut file = SessionFile::new(session.bytes);
        file.undo().unwrap();
        let old = before.seen();
        assert_eq!(file.seen()[..old.len()], old, "{kept:?}");
        assert_eq!(file.problems(), [], "{kept:?}");
    }
}

#[test]
fn x6_copies_are_whole_and_are_not_billed_again() {
    let mut file = session(3);
    file.compact(None);
    file.turn("one more");
    let before = inspect(&file.bytes);
    let plan = file.undo().unwrap();
    let after = inspect(&file.bytes);
    assert_eq!(after.usage.output, before.usage.output);
    assert_eq!(after.rounds, before.rounds, "nobody answered again");
    let live = file.live();
    let pieces: Vec<&ViewPiece> = live.iter().map(|live: &Live| &live.piece).collect();
    assert!(pieces[pieces.len() - 1].part.is_response());
    let (table, conversation, ..) = file.read();
    assert!(plan.weight(&table).unpadded() > 0);
    assert!(conversation.thinking_stripped_through(&table).is_some());
    let copy = live.last().unwrap().entry.bytes();
    let copy: Value = serde_json::from_slice(copy).unwrap();
    assert_eq!(copy["message"]["usage"], Value::Null);
    assert!(copy["copiedFrom"].is_string());
}
