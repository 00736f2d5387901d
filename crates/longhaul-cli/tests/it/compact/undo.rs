//! Taking compactions back (X6).

use std::path::Path;

use longhaul_testkit::corpora;
use serde_json::json;

use super::{Found, compact, entry, lines, talk};
use crate::support::{Finish, Run, World};

fn undo(world: &World, file: &Path, more: &[&str]) -> Run {
    let mut command = world.longhaul(["compact", "--undo", "--force", "--json"]);
    command.arg(file).args(more).finish()
}

/// The texts of a view, for comparing a turn with its copy.
fn texts(found: &Found) -> Vec<String> {
    let texts = found
        .view
        .iter()
        .map(|entry| longhaul_core::facts::visible_texts(entry.view()).join("\n"));
    texts.filter(|text| !text.is_empty()).collect()
}

/// Adds turns to the end of a file, as a program that continues the session would.
fn go_on(file: &Path, turns: usize) {
    let found = Found::at(file);
    let last = found.view.iter().max_by_key(|entry| {
        let bytes = std::fs::read(file).unwrap();
        let line = entry.bytes();
        bytes.windows(line.len()).position(|part| part == &line[..])
    });
    let last = last.unwrap();
    let mut parent = last.view().text(last.facets().uuid).into_owned();
    let mut bytes = std::fs::read(file).unwrap();
    for index in 0..turns * 2 {
        let number = 90_000 + bytes.len() + index;
        let kind = ["user", "assistant"][index % 2];
        let mut more = entry(number, kind, json!(format!("Later turn {number}.")));
        more["parentUuid"] = json!(parent);
        parent = more["uuid"].as_str().unwrap().to_owned();
        bytes.extend_from_slice(format!("{more}\n").as_bytes());
    }
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn x6_an_undo_gives_back_the_old_view_of_every_transcript() {
    let world = World::new();
    let out = world.root().join("out.jsonl");
    for file in corpora::claude_code_transcripts().unwrap_or_default() {
        let name = file.display().to_string();
        let before = Found::at(&file);
        for way in [&["--local"][..], &["--local", "--keep", "6"]] {
            if compact(&world, &file, way).code == 1 {
                continue;
            }
            let compacted = std::fs::read(&out).unwrap();
            let told = undo(&world, &out, &[]).ends(0).json();
            let after = Found::at(&out);
            assert_eq!(after.sent(), before.sent(), "{name}");
            assert_eq!(told["after"], json!(before.size), "{name}");
            assert_eq!(after.problems, before.problems, "{name}");
            assert_eq!(after.facts.messages(), before.facts.messages(), "{name}");
            assert!(
                std::fs::read(&out).unwrap().starts_with(&compacted),
                "{name}"
            );
            after.is_accepted(&name);
        }
    }
}

#[test]
fn x6_a_second_undo_takes_the_one_before_and_later_turns_stay() {
    let world = World::new();
    let file = world.write("a.jsonl", lines(&talk(40, 40)));
    let first = Found::at(&file);
    let in_place = |more: &[&str]| {
        let mut command = world.longhaul(["compact", "a.jsonl", "--local", "--force", "--json"]);
        command.args(more).finish().ends(0).json()
    };
    in_place(&[]);
    go_on(&file, 20);
    let second = Found::at(&file);
    in_place(&["--keep", "8"]);
    go_on(&file, 2);
    let told = undo(&world, &file, &[]).ends(0).json();
    assert_eq!(told["later"], 4, "{told}");
    let once = Found::at(&file);
    let mut wanted = texts(&second);
    assert_eq!(texts(&once)[..wanted.len()], wanted[..]);
    wanted.extend(texts(&once)[wanted.len()..].to_vec());
    assert_eq!(texts(&once).len(), texts(&second).len() + 4);
    once.is_accepted("once");
    undo(&world, &file, &[]).ends(0);
    let twice = Found::at(&file);
    assert_eq!(texts(&twice)[..texts(&first).len()], texts(&first)[..]);
    assert_eq!(texts(&twice).len(), texts(&first).len() + 40 + 4);
    twice.is_accepted("twice");
    let run = undo(&world, &file, &[]).ends(1);
    assert!(run.err.contains("nothing to take back"), "{}", run.err);
    assert_eq!(twice.problems, 0);
    // And it can be compacted again.
    in_place(&[]);
    assert!(Found::at(&file).size < twice.size);
}

#[test]
fn x6_two_compactions_of_any_kind_are_taken_back_one_after_the_other() {
    let world = World::new();
    let ways: [&[&str]; 4] = [
        &[],
        &["--keep", "8"],
        &["--up-to", "00000030"],
        &["--from", "00000030"],
    ];
    for first in ways {
        for second in ways {
            let file = world.write("a.jsonl", lines(&talk(40, 40)));
            let name = format!("{first:?} {second:?}");
            let in_place = |more: &[&str]| {
                let mut command = world.longhaul(["compact", "a.jsonl", "--local", "--force"]);
                command.args(more).finish().code
            };
            let original = texts(&Found::at(&file));
            assert_eq!(in_place(first), 0, "{name}");
            go_on(&file, 12);
            let between = texts(&Found::at(&file));
            // An entry that the first compaction summarized is no longer in view.
            if in_place(second) != 0 {
                continue;
            }
            go_on(&file, 1);
            undo(&world, &file, &[]).ends(0);
            let once = texts(&Found::at(&file));
            assert_eq!(once[..between.len()], between[..], "{name}");
            assert_eq!(once.len(), between.len() + 2, "{name}");
            undo(&world, &file, &[]).ends(0);
            let twice = Found::at(&file);
            let all = texts(&twice);
            assert_eq!(all[..original.len()], original[..], "{name}");
            assert_eq!(all.len(), original.len() + 24 + 2, "{name}");
            assert_eq!(twice.problems, 0, "{name}");
            twice.is_accepted(&name);
            undo(&world, &file, &[]).ends(1);
        }
    }
}

#[test]
fn x6_an_undo_that_does_not_fit_is_refused_with_the_reason() {
    let world = World::new();
    let file = world.write("a.jsonl", lines(&talk(60, 60)));
    let old = Found::at(&file);
    let window = (old.size + old.size / 10).to_string();
    let mut command = world.longhaul(["compact", "a.jsonl", "--local", "--force"]);
    command.finish().ends(0);
    go_on(&file, 3);
    let bytes = std::fs::read(&file).unwrap();
    let run = undo(&world, &file, &["--window", &window]);
    run.fails(&["6 entries since", "the window holds", "nothing was changed"]);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    undo(&world, &file, &[]).ends(0);
}

#[test]
fn x6_other_programs_compactions_are_taken_back_too() {
    let world = World::new();
    let mut done = 0;
    for file in corpora::claude_code_transcripts().unwrap_or_default() {
        let before = Found::at(&file);
        let run = undo(
            &world,
            &file,
            &["--output", "out.jsonl", "--window", "1000000"],
        );
        let name = file.display().to_string();
        if run.code == 1 {
            continue;
        }
        // The window is the model's own: an undo that does not fit is refused.
        if run.code == 2 {
            assert!(run.err.contains("the window holds"), "{name}: {}", run.err);
            continue;
        }
        let out = world.root().join("out.jsonl");
        let after = Found::at(&out);
        assert!(after.size > before.size, "{name}");
        assert_eq!(after.problems, before.problems, "{name}");
        assert_eq!(
            after.facts.messages().len(),
            before.facts.messages().len(),
            "{name}"
        );
        after.is_accepted(&name);
        done += 1;
    }
    println!("{done} taken back");
}

#[test]
fn x6_an_undo_can_be_looked_at_first_and_written_elsewhere() {
    let world = World::new();
    let file = world.write("a.jsonl", lines(&talk(40, 40)));
    let old = Found::at(&file);
    compact(&world, &file, &["--local"]).ends(0);
    let out = world.root().join("out.jsonl");
    let bytes = std::fs::read(&out).unwrap();
    let page = world
        .run(["compact", "out.jsonl", "--undo", "--preview"])
        .ends(0)
        .out;
    assert!(
        page.contains("Would take") && page.contains("Nothing was changed"),
        "{page}"
    );
    undo(&world, &out, &["--output", "back.jsonl"]).ends(0);
    assert_eq!(std::fs::read(&out).unwrap(), bytes);
    assert_eq!(
        Found::at(&world.root().join("back.jsonl")).sent(),
        old.sent()
    );
    let run = undo(&world, &file, &[]).ends(1);
    assert!(run.err.contains("was not compacted"), "{}", run.err);
}
