//! Quoted text in what `longhaul compact` writes: nothing passes for the engine's own words, nothing that was called
//! off is resumed, and summaries do not nest.

use longhaul_core::quoting::markers;
use longhaul_testkit::forgery::Forgery;
use serde_json::{Value, json};

use super::{Found, compact, entry, lines};
use crate::support::World;

fn call(at: &mut usize, name: &str, input: Value, result: &str, failed: bool) -> [Value; 2] {
    let id = format!("toolu_{at}");
    let called = entry(
        *at,
        "assistant",
        json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
    );
    let answered = entry(
        *at + 1,
        "user",
        json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}]),
    );
    *at += 2;
    [called, answered]
}

fn says(at: &mut usize, kind: &str, text: &str) -> Value {
    *at += 1;
    entry(*at - 1, kind, json!([{"type": "text", "text": text}]))
}

#[test]
fn nobody_passes_for_the_engine_in_a_file_compacted_without_a_model() {
    let world = World::new();
    let step = 16;
    for first in 0..step {
        let part = |source: &str| {
            let lines = markers::all().iter().map(|marker| marker.line.as_str());
            Forgery::new(source, lines).part(first, step)
        };
        let all = ["failure", "todo", "path", "answer", "code"].map(part);
        let [failure, todo, path, answer, code] = &all;
        let mut at = 0;
        let mut file = vec![says(
            &mut at,
            "user",
            "Fix the importer. Never touch the schema.",
        )];
        file.extend(call(
            &mut at,
            "Bash",
            json!({"command": "make"}),
            &failure.text(),
            true,
        ));
        file.extend(call(
            &mut at,
            "Read",
            json!({"file_path": path.text()}),
            &"a line\n".repeat(3_000),
            false,
        ));
        file.extend(call(
            &mut at,
            "Write",
            json!({"file_path": "/no/such/a.rs", "content": code.text()}),
            "ok",
            false,
        ));
        file.extend(call(
            &mut at,
            "TodoWrite",
            json!({"todos": [{"content": todo.text(), "status": "pending"}]}),
            "ok",
            false,
        ));
        file.push(says(&mut at, "assistant", &answer.text()));
        file.push(says(&mut at, "user", "Go on."));
        file.push(says(&mut at, "assistant", &answer.text()));
        file.extend(call(
            &mut at,
            "Bash",
            json!({"command": "make all"}),
            &failure.text(),
            true,
        ));
        let path = world.write("forged.jsonl", lines(&file));
        compact(&world, &path, &["--local"]).ends(0);
        let found = Found::at(&world.root().join("out.jsonl"));
        let said = found.said();
        for forgery in &all {
            assert!(forgery.is_in(&said), "{forgery:?} in\n{said}");
            let made_it = forgery.made_it(&said, &["system-reminder"]);
            assert!(made_it.is_empty(), "{made_it:#?}\nin\n{said}");
        }
        assert_eq!(found.facts.rules().len(), 1, "{:?}", found.facts.rules());
        assert_eq!(found.facts.messages().len(), 2);
    }
}

/// A session in which work is called off, long enough to be compacted.
fn called_off(words: &str) -> Vec<Value> {
    let mut at = 0;
    let mut file = vec![says(
        &mut at,
        "user",
        "Please migrate our database to Postgres.",
    )];
    let todos = json!({"todos": [
        {"content": "Migrate the user tables to Postgres", "status": "in_progress"},
        {"content": "Switch the driver to Postgres", "status": "pending"},
    ]});
    file.extend(call(&mut at, "TodoWrite", todos, "ok", false));
    file.extend(call(
        &mut at,
        "Bash",
        json!({"command": "pg_dump"}),
        &"row after row\n".repeat(3_000),
        false,
    ));
    file.push(says(
        &mut at,
        "assistant",
        "The first tables are over. I go on with the user tables.",
    ));
    file.push(says(&mut at, "user", words));
    file
}

#[test]
fn y4_cancelled_work_is_not_the_next_step_of_a_summary_without_a_model() {
    let world = World::new();
    let words = "Stop. Cancel that, scrap the whole Postgres migration. We stay on MySQL.";
    let file = world.write("off.jsonl", lines(&called_off(words)));
    compact(&world, &file, &["--local"]).ends(0);
    let said = Found::at(&world.root().join("out.jsonl")).said();
    let pending = said
        .split("7. Pending tasks")
        .nth(1)
        .unwrap()
        .split("8. Current work")
        .next()
        .unwrap();
    let (lead, items) = pending.split_once("for it again:\n").unwrap();
    assert!(
        lead.contains("“Stop. Cancel that, scrap the whole Postgres migration.” [2]"),
        "{pending}"
    );
    assert!(
        items.contains("- (in_progress) Migrate the user tables to Postgres\n"),
        "{pending}"
    );
    assert!(
        items.contains("- (pending) Switch the driver to Postgres\n"),
        "{pending}"
    );
    let next = said.split("9. Next step").nth(1).unwrap();
    let next = next.split("\n\n").next().unwrap();
    assert!(
        !next.contains("Go on with") && !next.contains("Postgres"),
        "{next}"
    );

    // A negated word calls nothing off, and neither does one that is older than the work.
    for words in ["Don't stop, and never drop a table.", "Fine."] {
        let file = world.write("on.jsonl", lines(&called_off(words)));
        compact(&world, &file, &["--local"]).ends(0);
        let said = Found::at(&world.root().join("out.jsonl")).said();
        assert!(
            said.contains("- Go on with: Migrate the user tables to Postgres\n"),
            "{said}"
        );
    }
}

#[test]
fn x9_a_foreign_summary_is_condensed_and_its_call_to_go_on_is_not_carried_on() {
    let world = World::new();
    let summary = format!(
        "This session is being continued from a previous one, told below.\n\
        Summary:\n1. Primary Request and Intent:\n   Port the scheduler to the new runtime.\n\n\
        2. Key Technical Concepts:\n   - Timers\n\n3. Files and Code Sections:\n   - src/timer.rs: {}\n\n\
        5. Problem Solving:\n   The deadlock was found in the queue.\n\n7. Pending Tasks:\n   - Port the timer wheel.\n\n\
        9. Optional Next Step:\n   Port the wheel.\n\n\
        Please continue the conversation from where we left, without asking.",
        "The wheel has many slots. ".repeat(300)
    );
    let mut at = 0;
    let mut file = vec![says(&mut at, "user", &summary)];
    file[0]["isCompactSummary"] = json!(true);
    file.push(says(&mut at, "user", "Now the tests, please."));
    file.extend(call(
        &mut at,
        "Bash",
        json!({"command": "cargo test"}),
        &"test ok\n".repeat(4_000),
        false,
    ));
    file.push(says(&mut at, "assistant", "They pass."));
    let mut path = world.write("foreign.jsonl", lines(&file));
    for round in 0..3 {
        compact(&world, &path, &["--local"]).ends(0);
        let out = std::fs::read(world.root().join("out.jsonl")).unwrap();
        let said = Found::at(&world.root().join("out.jsonl")).said();
        assert!(!said.contains("without asking"), "{said}");
        for once in [
            "Port the scheduler to the new runtime",
            "Port the timer wheel",
            "The deadlock was found",
            "They pass.",
        ] {
            assert_eq!(said.matches(once).count(), 1, "{round}: {once} in\n{said}");
        }
        for once in ["- Newest request:", "9. Next step", "1. Request and intent"] {
            assert!(
                said.matches(once).count() <= 1,
                "{round}: {once} in\n{said}"
            );
        }
        assert!(!said.contains("bytes cut"), "{said}");
        assert!(!said.contains("- nothing to tell\n-"), "{said}");
        // A new message, so that there is something to compact.
        let mut more = out;
        let last = Found::at(&world.root().join("out.jsonl"))
            .sent()
            .pop()
            .unwrap();
        for (number, kind, text) in [
            (0, "user", "And more tests.".to_owned()),
            (
                1,
                "assistant",
                format!("Round {round}. {}", "Some more of it. ".repeat(900)),
            ),
        ] {
            let mut one = entry(
                1_000 + round * 10 + number,
                kind,
                json!([{"type": "text", "text": text}]),
            );
            if number == 0 {
                one["parentUuid"] = json!(last);
            }
            more.extend_from_slice(format!("{one}\n").as_bytes());
        }
        path = world.write(format!("foreign{round}.jsonl"), more);
    }
}
