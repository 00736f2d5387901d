//! Damage: every kind is named with its line, to programs and people, and everything intact is still read.

use longhaul_testkit::damage::{self, DamagedFile, lines_with};
use longhaul_testkit::session::{CompactionSchedule, KeptRounds};
use longhaul_testkit::{Feature, SessionSpec};

use crate::support::World;

fn healthy() -> Vec<u8> {
    SessionSpec::new(21, 40)
        .without(Feature::Branches)
        .compaction(CompactionSchedule::EveryRounds(15))
        .kept(KeptRounds::AfterSummary)
        .bytes()
}

fn entries(bytes: &[u8]) -> u64 {
    bytes.split_inclusive(|byte| *byte == b'\n').count() as u64
}

/// Every problem reported is of one of these kinds and on a line that was named; at least one is.
#[track_caller]
fn reported(damaged: &DamagedFile, kinds: &[&str], intact: u64) {
    let world = World::new();
    let run = world.inspect(&damaged.bytes).ends(1);
    let report = run.json();
    let problems = report["problems"].as_array().unwrap();
    assert!(!problems.is_empty());
    for problem in problems {
        assert!(
            kinds.contains(&problem["kind"].as_str().unwrap()),
            "{problem}"
        );
        let line = problem["line"].as_u64().unwrap() as usize;
        assert!(
            damaged.lines.contains(&line),
            "{problem}, not {:?}",
            damaged.lines
        );
        assert!(!problem["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(report["entries"], intact);
    let page = world.page(&damaged.bytes).ends(1);
    assert_eq!(page.err, "");
    let line = problems[0]["line"].to_string();
    let row = page.out.lines().find(|row| {
        let mut words = row.split_whitespace();
        words.next() == Some(&line) && words.next() == problems[0]["kind"].as_str()
    });
    assert!(row.is_some(), "{}", page.out);
}

#[test]
fn m4_damaged_text_is_reported_with_its_line() {
    let healthy = healthy();
    let count = entries(&healthy);
    for at in [1, 30, count as usize + 1] {
        reported(
            &damage::garbage_line(&healthy, at),
            &["damaged_line"],
            count,
        );
        let noise = damage::binary_line(&healthy, at, 4);
        reported(&noise, &["damaged_line", "invalid_utf8"], count);
        let huge = damage::huge_garbage_line(&healthy, at, 200_000);
        reported(&huge, &["damaged_line"], count);
        for json in ["[1,2,3]", "42", "\"text\"", "null"] {
            let line = damage::non_object_line(&healthy, at, json);
            reported(&line, &["not_an_object"], count);
        }
    }
    reported(&damage::tear_last_line(&healthy), &["torn_line"], count - 1);
}

#[test]
fn m4_lines_that_no_longer_count_are_reported_with_what_hung_on_them() {
    let healthy = healthy();
    let count = entries(&healthy);
    // The entry after a lost line has no parent: that is the second problem, on another line.
    let call = lines_with(&healthy, "\"type\":\"tool_use\"")[3];
    for (damaged, kind) in [
        (damage::invalid_utf8(&healthy, call), "invalid_utf8"),
        (damage::trailing_garbage(&healthy, call), "trailing_garbage"),
    ] {
        let report = World::new().inspect(&damaged.bytes).ends(1).json();
        let problems = report["problems"].as_array().unwrap();
        let of_kind = |problem: &&serde_json::Value| problem["kind"] == kind;
        let found: Vec<_> = problems.iter().filter(of_kind).collect();
        assert_eq!(found.len(), 1, "{problems:?}");
        assert_eq!(found[0]["line"], damaged.lines[0]);
        assert_eq!(report["entries"], count - 1);
    }
}

#[test]
fn m4_line_ends_and_byte_order_marks_are_reported_once() {
    let healthy = healthy();
    let count = entries(&healthy);
    reported(&damage::crlf(&healthy), &["crlf"], count);
    reported(&damage::bom(&healthy), &["bom"], count);
}

#[test]
fn m4_wrong_links_are_reported_with_their_line() {
    let healthy = healthy();
    let count = entries(&healthy);
    let call = lines_with(&healthy, "\"type\":\"tool_use\"")[3];
    let twice = damage::duplicate_uuid(&healthy, call);
    reported(&twice, &["duplicate_uuid"], count + 1);
    let dangling = damage::dangling_parent(&healthy, call);
    reported(&dangling, &["dangling_parent"], count);
    reported(
        &damage::cycle(&healthy, call, call),
        &["cyclic_parent"],
        count,
    );
    let orphan = damage::orphan_result(&healthy, call);
    reported(&orphan, &["orphan_result"], count + 1);
    let unanswered = damage::orphan_call(&healthy, call);
    reported(&unanswered, &["orphan_call"], count - 1);
    let boundary = lines_with(&healthy, "\"subtype\":\"compact_boundary\"")[0];
    let broken = damage::broken_segment(&healthy, boundary);
    reported(&broken, &["broken_segment"], count);
}

#[test]
fn m4_what_is_odd_but_intact_is_no_problem() {
    let healthy = healthy();
    let count = entries(&healthy);
    for (damaged, more) in [
        (damage::blank_lines(&healthy, 3), 0),
        (damage::no_final_newline(&healthy), 0),
        (damage::deep_nesting(&healthy, 3, 1_000), 1),
        (damage::lone_surrogate(&healthy, 3), 1),
        (damage::huge_line(&healthy, 3, 3_000_000), 1),
    ] {
        let report = World::new().inspect(&damaged.bytes).ends(0).json();
        assert_eq!(report["entries"], count + more);
    }
}

#[test]
fn m4_many_problems_are_counted_on_the_page_and_listed_for_programs() {
    let mut bytes = healthy();
    bytes.extend(b"garbage {\n".repeat(150));
    let world = World::new();
    let page = world.page(&bytes).ends(1);
    page.prints("Problems  150\n")
        .prints("and 130 more; --json lists all");
    let report = world.inspect(&bytes).ends(1).json();
    assert_eq!(report["problems"].as_array().unwrap().len(), 150);
}

#[test]
fn m4_a_parent_of_the_wrong_type_is_one_that_is_not_in_the_file() {
    let world = World::new();
    let line = |uuid: &str, parent: &str, kind: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","timestamp":"2026-03-01T08:00:00Z","message":{{"role":"{kind}","content":"word {uuid}"}}}}"#
        )
    };
    for wrong in ["7", "true", "[]", r#"{"a":"u1"}"#] {
        let lines = [
            line("u1", "null", "user"),
            line("a1", r#""u1""#, "assistant"),
            line("u2", wrong, "user"),
            line("a2", r#""u2""#, "assistant"),
        ];
        let report = world.inspect(lines.join("\n").as_bytes()).ends(1).json();
        let problem = &report["problems"][0];
        assert_eq!(problem["kind"], "dangling_parent", "{wrong}: {report}");
        assert_eq!(problem["line"], 3);
        assert_eq!(report["messages"], 4, "{wrong}: the conversation goes on");
        assert_eq!(report["earlier_conversations"], serde_json::json!([]));
    }
    let fresh = [line("u1", "null", "user"), line("u2", "null", "user")];
    world.inspect(fresh.join("\n").as_bytes()).ends(0);
}

#[test]
fn m4_of_many_earlier_conversations_the_newest_are_named_and_the_others_counted() {
    let world = World::new();
    let line = |at: usize| {
        format!(
            r#"{{"type":"user","uuid":"u{at}","parentUuid":null,"sessionId":"s","timestamp":"2026-03-01T08:00:00Z","message":{{"role":"user","content":"word"}}}}"#
        )
    };
    let lines: Vec<String> = (1..=201).map(line).collect();
    let page = world.page(lines.join("\n").as_bytes()).ends(0);
    let text = page.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches("another conversation").count(), 3, "{text}");
    assert!(text.contains("Lines 200 to 200 are another"), "{text}");
    assert!(text.contains("197 more"), "{text}");
    let report = world.inspect(lines.join("\n").as_bytes()).ends(0).json();
    let earlier = report["earlier_conversations"].as_array().unwrap();
    assert_eq!(earlier.len(), 200, "programs get all of them");
}
