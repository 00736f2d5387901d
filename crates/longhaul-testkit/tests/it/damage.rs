//! Damage: the reported lines are the damaged ones, and nothing else has changed.

use longhaul_testkit::damage::{self, DamagedFile};
use longhaul_testkit::session::{CompactionSchedule, KeptRounds};
use longhaul_testkit::{Feature, SessionSpec};
use serde_json::Value;

fn healthy() -> Vec<u8> {
    SessionSpec::new(21, 40)
        .without(Feature::Branches)
        .compaction(CompactionSchedule::EveryRounds(15))
        .kept(KeptRounds::AfterSummary)
        .bytes()
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

fn parses(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object())
}

/// The numbers of the lines that are not JSON objects, without blank ones.
fn bad(bytes: &[u8]) -> Vec<usize> {
    let blank = |line: &[u8]| line.iter().all(u8::is_ascii_whitespace);
    lines(bytes)
        .iter()
        .enumerate()
        .filter(|(_, line)| !blank(line) && !parses(line))
        .map(|(at, _)| at + 1)
        .collect()
}

fn member(bytes: &[u8], line: usize, key: &str) -> Option<String> {
    let value: Value = serde_json::from_slice(lines(bytes)[line - 1]).unwrap();
    value.get(key)?.as_str().map(str::to_owned)
}

/// Checks that removing the one inserted line restores the healthy file.
fn only_inserted(healthy: &[u8], damaged: &DamagedFile) {
    let mut left = lines(&damaged.bytes);
    left.remove(damaged.lines[0] - 1);
    assert_eq!(left.concat(), healthy);
}

#[test]
fn damaged_text_is_named_where_it_is() {
    let healthy = healthy();
    let count = lines(&healthy).len();
    for at in [1, 2, 9, count, count + 5] {
        for damaged in [
            damage::garbage_line(&healthy, at),
            damage::binary_line(&healthy, at, 4),
            damage::huge_garbage_line(&healthy, at, 50_000),
            damage::non_object_line(&healthy, at, "[1,2,3]"),
            damage::non_object_line(&healthy, at, "42"),
        ] {
            assert_eq!(bad(&damaged.bytes), damaged.lines);
            assert_eq!(damaged.lines, [at.min(count + 1)]);
            only_inserted(&healthy, &damaged);
        }
        for damaged in [
            damage::trailing_garbage(&healthy, at),
            damage::invalid_utf8(&healthy, at),
        ] {
            assert_eq!(bad(&damaged.bytes), damaged.lines);
            assert_eq!(damaged.lines, [at.min(count)]);
        }
    }
    let torn = damage::tear_last_line(&healthy);
    assert_eq!(bad(&torn.bytes), [count]);
    assert_eq!(torn.lines, [count]);
    assert!(!torn.bytes.ends_with(b"\n") && healthy.starts_with(&torn.bytes));
    assert!(std::str::from_utf8(&damage::invalid_utf8(&healthy, 5).bytes).is_err());
}

#[test]
fn harmless_oddities_stay_intact() {
    let healthy = healthy();
    let huge = damage::huge_line(&healthy, 4, 3_000_000);
    assert!(lines(&huge.bytes)[3].len() > 3_000_000);
    assert_eq!(bad(&huge.bytes), [0usize; 0]);
    only_inserted(&healthy, &huge);
    let blank = damage::blank_lines(&healthy, 3);
    assert_eq!(lines(&blank.bytes).len(), lines(&healthy).len() + 2);
    assert!(blank.lines.is_empty() && bad(&blank.bytes).is_empty());
    assert_eq!(
        damage::no_final_newline(&healthy).bytes,
        healthy[..healthy.len() - 1]
    );
    // serde_json refuses both of these; a transcript reader must not.
    assert_eq!(damage::deep_nesting(&healthy, 3, 1_000).lines, [3]);
    assert_eq!(damage::lone_surrogate(&healthy, 3).lines, [3]);
    let crlf = damage::crlf(&healthy);
    assert_eq!(
        String::from_utf8(crlf.bytes)
            .unwrap()
            .replace("\r\n", "\n")
            .as_bytes(),
        healthy
    );
    assert_eq!(damage::bom(&healthy).bytes[3..], healthy[..]);
}

#[test]
fn wrong_links_are_named_where_they_are() {
    let healthy = healthy();
    let line = damage::lines_with(&healthy, "\"type\":\"tool_use\"")[3];
    let uuid = member(&healthy, line, "uuid");

    let twice = damage::duplicate_uuid(&healthy, line);
    assert_eq!(twice.lines, [line + 1]);
    assert_eq!(member(&twice.bytes, line + 1, "uuid"), uuid);
    only_inserted(&healthy, &twice);

    let dangling = damage::dangling_parent(&healthy, line);
    assert_eq!(dangling.lines, [line]);
    let parent = member(&dangling.bytes, line, "parentUuid").unwrap();
    assert!(damage::lines_with(&dangling.bytes, &format!("\"uuid\":\"{parent}\"")).is_empty());

    let cycle = damage::cycle(&healthy, line, line + 1);
    assert_eq!(cycle.lines, [line, line + 1]);
    assert_eq!(
        member(&cycle.bytes, line, "parentUuid"),
        member(&cycle.bytes, line + 1, "uuid")
    );
    assert_eq!(member(&cycle.bytes, line + 1, "parentUuid"), uuid);
    let own = damage::cycle(&healthy, line, line);
    assert_eq!(own.lines, [line]);
    assert_eq!(member(&own.bytes, line, "parentUuid"), uuid);
}

#[test]
fn orphans_are_named_where_they_are_and_leave_the_chain_whole() {
    let healthy = healthy();
    for line in damage::lines_with(&healthy, "\"type\":\"tool_use\"")
        .into_iter()
        .take(12)
    {
        let orphan = damage::orphan_result(&healthy, line);
        assert_eq!(orphan.lines, [line + 1]);
        assert_eq!(
            damage::lines_with(&orphan.bytes, "toolu_01NobodyAskedForThisAtAll"),
            orphan.lines
        );
        crate::reader::check_chain(&crate::reader::read(&orphan.bytes));

        let call = damage::orphan_call(&healthy, line);
        assert_eq!(call.lines, [line]);
        let value: Value = serde_json::from_slice(lines(&call.bytes)[line - 1]).unwrap();
        let id = value
            .pointer("/message/content/0/id")
            .unwrap()
            .as_str()
            .unwrap();
        assert!(damage::lines_with(&call.bytes, &format!("\"tool_use_id\":\"{id}\"")).is_empty());
        assert_eq!(lines(&call.bytes).len() + 1, lines(&healthy).len());
        crate::reader::check_chain(&crate::reader::read(&call.bytes));
    }
}

#[test]
fn a_broken_segment_begins_nowhere() {
    let healthy = healthy();
    let line = damage::lines_with(&healthy, "\"preservedSegment\"")[0];
    let broken = damage::broken_segment(&healthy, line);
    assert_eq!(broken.lines, [line]);
    assert_eq!(broken.bytes.len(), healthy.len());
    assert!(parses(lines(&broken.bytes)[line - 1]));
    assert_ne!(broken.bytes, healthy);
}

#[test]
fn damage_that_has_no_place_changes_nothing() {
    for damaged in [
        damage::tear_last_line(b""),
        damage::dangling_parent(b"", 1),
        damage::invalid_utf8(b"", 1),
    ] {
        assert_eq!(
            damaged,
            DamagedFile {
                bytes: Vec::new(),
                lines: Vec::new()
            }
        );
    }
    let lone = b"{\"type\":\"summary\"}\n";
    for damaged in [
        damage::duplicate_uuid(lone, 1),
        damage::cycle(lone, 1, 1),
        damage::orphan_call(lone, 1),
        damage::broken_segment(lone, 1),
    ] {
        assert_eq!(
            damaged,
            DamagedFile {
                bytes: lone.to_vec(),
                lines: Vec::new()
            }
        );
    }
}
