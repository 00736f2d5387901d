//! Tests a summary without a model (X9, Y1).

use std::sync::Arc;

use longhaul_core::facts::Facts;
use longhaul_core::local_summary::summarize;
use longhaul_core::message::Entry;
use longhaul_core::tokens::{Estimate, RoughEstimator};
use longhaul_testkit::session::{CompactionSchedule, SessionSpec};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::facts::{bytes, call, entries};
use crate::lines::{Lines, live_lines};

/// Summarizes entries and checks what must hold for all summaries.
fn check(entries: &[Entry], budget: u64) -> String {
    let views = || entries.iter().map(Entry::view);
    let facts = Facts::scan(Arc::default(), views());
    let text = summarize(views(), &facts, budget);
    assert_eq!(text, summarize(views(), &facts, budget), "deterministic");
    let estimate = |entry: &Entry| -> Estimate {
        let blocks = &entry.facets().blocks;
        let outer = blocks.iter().enumerate().filter(|(_, block)| !block.inner);
        outer
            .map(|(at, block)| RoughEstimator.block(block, &blocks[at + 1..]))
            .sum::<Estimate>()
            + RoughEstimator.attachment(entry.facets().attachment_units)
    };
    let before = entries.iter().map(estimate).sum::<Estimate>().padded();
    let after = RoughEstimator::text(&text).padded();
    assert!(after <= budget, "{after} of {budget}");
    assert!(
        after < before || text.is_empty(),
        "{after} after, {before} before"
    );
    text
}

fn check_lines(lines: &Lines, budget: u64) -> String {
    check(&entries(&bytes(lines)), budget)
}

fn says(lines: &mut Lines, uuid: &str, text: &str) {
    lines.reply(
        uuid,
        &format!("m{uuid}"),
        json!([{"type": "text", "text": text}]),
        Value::Null,
    );
}

const TITLES: [&str; 9] = [
    "\n1. Request and intent\n",
    "\n2. Technical concepts\n",
    "\n3. Files and code\n",
    "\n4. Errors and fixes\n",
    "\n5. Problem solving\n",
    "\n6. All user messages\n",
    "\n7. Pending tasks\n",
    "\n8. Current work\n",
    "\n9. Next step\n",
];

#[test]
fn x9_nine_sections_are_made_of_what_the_conversation_holds() {
    let mut lines = Lines::default();
    lines.user(
        "u1",
        "Make the importer read the new format. Never drop a column.",
    );
    says(&mut lines, "a1", "I will look at the importer first.");
    call(
        &mut lines,
        "t1",
        "Read",
        json!({"file_path": "/src/import.rs"}),
        &"fn old() {}\n".repeat(2_000),
        false,
    );
    call(
        &mut lines,
        "t2",
        "Edit",
        json!({"file_path": "/src/import.rs", "old_string": "old", "new_string": "fn import_v2() {}"}),
        "done",
        false,
    );
    call(
        &mut lines,
        "t3",
        "Bash",
        json!({"command": "cargo test -p import"}),
        "Exit code 101\nthread panicked: column lost",
        true,
    );
    call(
        &mut lines,
        "t4",
        "Bash",
        json!({"command": "cargo test -p import"}),
        "ok. 12 passed",
        false,
    );
    call(
        &mut lines,
        "t5",
        "TodoWrite",
        json!({"todos": [{"content": "write the docs", "status": "in_progress"}, {"content": "done already", "status": "completed"}]}),
        "ok",
        false,
    );
    call(
        &mut lines,
        "t6",
        "ExitPlanMode",
        json!({"plan": "# Rewrite everything"}),
        "The user doesn't want to proceed with this tool use.",
        true,
    );
    lines.user("u2", "Good. Now the docs.");
    says(&mut lines, "a2", "Between first and last.");
    says(&mut lines, "a3", "I am writing the docs now.");
    let text = check_lines(&lines, 10_000);
    let mut from = 0;
    for title in TITLES {
        let at = text[from..].find(title);
        from += at.unwrap_or_else(|| panic!("{title} missing or out of order in\n{text}"));
    }
    for part in [
        "- First request:\n[1] Make the importer read the new format. Never drop a column.\n",
        "- Newest request:\n[2] Good. Now the docs.\n",
        "rs (1)",
        "cargo (2)",
        "fn import_v2() {}",
        "Bash (cargo test -p import) failed; the same succeeded later:\n> Exit code 101\n> thread panicked: column lost",
        "The assistant said: I will look at the importer first.",
        "(in_progress) write the docs",
        "not to be resumed: “Rewrite everything”",
        "The assistant last said: I am writing the docs now.",
        "Bash (cargo test -p import): done",
        "Go on with: write the docs",
        "In line with the newest request, [2].",
    ] {
        assert!(text.contains(part), "{part} missing in\n{text}");
    }
    assert!(!text.contains("done already"));
}

#[test]
fn x9_an_earlier_summary_is_carried_on_without_its_list_of_messages() {
    let mut lines = Lines::default();
    lines.user("u0", "The very first request.");
    lines.add("s", json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content":
        "A draft: SECRETDRAFT\n\nSummary:\n1. Request and intent:\nport the scheduler\n6. All user messages:\n- SECRETLIST\n7. Pending tasks:\nport the timer\n\n## Kept word for word\nSECRETLEDGER"}}));
    call(
        &mut lines,
        "t1",
        "Read",
        json!({"file_path": "/a"}),
        &"x\n".repeat(9_000),
        false,
    );
    let text = check_lines(&lines, 5_000);
    assert!(text.contains("port the scheduler") && text.contains("port the timer"));
    assert!(!text.contains("SECRET"), "{text}");
}

#[test]
fn y1_no_conversation_is_too_odd_or_too_large() {
    let budgets = [0, 1, 20, 100, 400, 2_000, 20_000];
    let all = |lines: &Lines| budgets.map(|budget| check_lines(lines, budget));
    assert_eq!(all(&Lines::default())[6], "");

    let mut one = Lines::default();
    one.user("u1", "hi");
    all(&one);

    let mut huge = Lines::default();
    huge.user("u1", "read it");
    call(
        &mut huge,
        "t1",
        "Read",
        json!({"file_path": "/big"}),
        &"0123456789 abcdef\n".repeat(180_000),
        false,
    );
    assert!(all(&huge)[6].contains("/big"));

    let mut failed = Lines::default();
    call(
        &mut failed,
        "t1",
        "Bash",
        json!({"command": "cat big"}),
        &"no spaces".repeat(400_000),
        true,
    );
    all(&failed);

    let mut results = Lines::default();
    for at in 0..50 {
        results.result(&format!("r{at}"), &format!("no-call-{at}"), "orphan");
    }
    all(&results);

    let mut tiny = Lines::default();
    for at in 0..2_000 {
        tiny.user(&format!("u{at}"), &format!("step {at}"));
        says(&mut tiny, &format!("a{at}"), "ok");
    }
    let text = &all(&tiny)[6];
    assert!(text.contains("[2000] step 1999"));

    let mut garbage = Lines::default();
    let noise: String = (0..200_000_u32)
        .map(|at| char::from_u32(at * 7_919 % 0xD7FF).unwrap_or('\u{0}'))
        .collect();
    garbage.user("u1", &noise);
    says(&mut garbage, "a1", &noise);
    call(
        &mut garbage,
        "t1",
        "\u{1}\u{2}",
        json!([noise]),
        &noise,
        true,
    );
    call(
        &mut garbage,
        "t2",
        "Edit",
        json!({"file_path": noise, "new_string": 7}),
        "",
        false,
    );
    all(&garbage);

    // The window is filled to 190 %, with nothing but prose.
    let mut full = Lines::default();
    for at in 0..380 {
        full.user(
            &format!("u{at}"),
            &format!("{at} {}", "many words of a user ".repeat(90)),
        );
        says(
            &mut full,
            &format!("a{at}"),
            &"many words of a model ".repeat(90),
        );
    }
    assert!(TITLES.iter().all(|title| all(&full)[6].contains(title)));
}

#[test]
fn x9_generated_and_real_views_are_summarized() {
    for seed in 0..10 {
        let session = SessionSpec::new(seed, 60)
            .compaction(CompactionSchedule::EveryRounds(25))
            .generate();
        view_of(&session.bytes, "generated");
    }
    for file in longhaul_testkit::corpora::claude_code_transcripts().unwrap_or_default() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        view_of(&std::fs::read(&file).unwrap(), &name);
    }
}

fn view_of(bytes: &[u8], name: &str) {
    let (_, conversation) = live_lines(bytes);
    let all = entries(bytes);
    let view: Vec<_> = conversation
        .view()
        .rows
        .iter()
        .map(|row| all[*row as usize].clone())
        .collect();
    for budget in [500, 4_000, 20_000] {
        let text = check(&view, budget);
        assert!(!text.is_empty(), "{name}");
    }
}

proptest! {
    #[test]
    fn y1_any_conversation_shrinks(
        turns in proptest::collection::vec((0_u8..6, "[a-z \\\\\"\n漢\x01]{0,400}", any::<bool>()), 0..30),
        budget in 0_u64..3_000,
    ) {
        let mut lines = Lines::default();
        for (at, (kind, text, failed)) in turns.iter().enumerate() {
            let id = format!("e{at}");
            match kind {
                0 => { lines.user(&id, text); }
                1 => says(&mut lines, &id, text),
                2 => call(&mut lines, &id, "Bash", json!({"command": text}), text, *failed),
                3 => call(&mut lines, &id, "Edit", json!({"file_path": text, "new_string": text}), text, *failed),
                4 => { lines.result(&id, "nobody", text); }
                _ => call(&mut lines, &id, "TodoWrite", json!({"todos": [{"content": text, "status": "pending"}]}), "ok", false),
            }
        }
        check_lines(&lines, budget);
    }
}
