//! Every recorded transcript, compacted in every way, without a model and without a network.

use std::path::{Path, PathBuf};

use longhaul_testkit::corpora;

use super::{Found, compact, holds};
use crate::support::World;

fn transcripts() -> Vec<PathBuf> {
    corpora::claude_code_transcripts().unwrap_or_default()
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Compacts every transcript for windows of several sizes. It succeeds, or there is a reason why there is nothing to do.
#[track_caller]
fn every_transcript(way: impl Fn(&Found) -> Vec<String>) {
    let world = World::new();
    let out = world.root().join("out.jsonl");
    let mut done = 0;
    for file in transcripts() {
        let before = Found::at(&file);
        let way = way(&before);
        for window in ["200000", "50000", "20000"] {
            let name = format!("{} {way:?} {window}", name(&file));
            let mut args = vec!["--local", "--window", window];
            args.extend(way.iter().map(String::as_str));
            let _ = std::fs::remove_file(&out);
            let run = compact(&world, &file, &args);
            match run.code {
                0 => {
                    holds(&name, &file, &out, &run.json());
                    done += 1;
                }
                1 => {
                    assert!(!out.exists(), "{name}");
                    assert!(run.out.is_empty(), "{name}");
                    assert!(
                        run.err.contains("compact") || run.err.contains("only"),
                        "{name}: {}",
                        run.err
                    );
                }
                _ => panic!("{name}: {run:?}"),
            }
        }
    }
    let wanted = transcripts().len() * 2;
    assert!(done >= wanted, "{done} of at least {wanted}");
}

#[test]
fn x9_every_transcript_is_summed_up_without_a_model() {
    every_transcript(|_| Vec::new());
}

#[test]
fn p1_every_transcript_keeps_its_last_messages() {
    every_transcript(|_| vec!["--keep".to_owned(), "6".to_owned()]);
}

#[test]
fn p1_p3_every_transcript_is_summed_up_to_a_message() {
    every_transcript(|found| {
        let sent = found.sent();
        vec!["--up-to".to_owned(), sent[sent.len() * 6 / 10].clone()]
    });
}

#[test]
fn p1_p3_every_transcript_is_summed_up_from_a_message() {
    every_transcript(|found| {
        let sent = found.sent();
        vec!["--from".to_owned(), sent[sent.len() * 4 / 10].clone()]
    });
}

#[test]
fn p1_what_is_kept_stays_word_for_word_and_in_order() {
    let world = World::new();
    let out = world.root().join("out.jsonl");
    for file in transcripts() {
        let name = name(&file);
        let before = Found::at(&file).sent();
        if before.len() < 12 {
            continue;
        }
        let pivot = before.len() / 2;
        for (flag, kept) in [("--up-to", &before[pivot..]), ("--from", &before[..pivot])] {
            let run = compact(&world, &file, &["--local", flag, &before[pivot]]);
            if run.code == 1 {
                continue;
            }
            let after = Found::at(&out).sent();
            // The cut may keep more, never less; the summary is on the other side.
            let place = after.windows(kept.len()).position(|part| part == kept);
            let place = place.unwrap_or_else(|| panic!("{name} {flag}: {kept:?}\n{after:?}"));
            match flag {
                "--up-to" => assert!(place > 0, "{name}"),
                _ => assert!(place + kept.len() < after.len(), "{name}"),
            }
        }
    }
}

#[test]
fn y1_a_second_compaction_finds_nothing_to_do_or_makes_it_smaller_still() {
    let world = World::new();
    let out = world.root().join("out.jsonl");
    let again = world.root().join("again.jsonl");
    for file in transcripts() {
        let name = name(&file);
        if compact(&world, &file, &["--local"]).code == 1 {
            continue;
        }
        std::fs::copy(&out, &again).unwrap();
        let run = compact(&world, &again, &["--local"]).ends(1);
        assert!(
            run.err.contains("nothing was said since"),
            "{name}: {}",
            run.err
        );
        // This also holds for a partial compaction: the summary alone is not summarized again.
        if compact(&world, &file, &["--local", "--keep", "4"]).code == 1 {
            continue;
        }
        std::fs::copy(&out, &again).unwrap();
        let kept = Found::at(&again);
        let run = compact(&world, &again, &["--local", "--keep", "4"]);
        match run.code {
            1 => {
                let why = ["nothing", "only"]
                    .iter()
                    .any(|word| run.err.contains(word));
                assert!(why, "{name}: {}", run.err);
            }
            _ => assert!(Found::at(&out).size < kept.size, "{name}"),
        }
    }
}

#[test]
fn p1_kept_messages_are_counted_as_inspect_counts_them() {
    let world = World::new();
    let out = world.root().join("out.jsonl");
    for file in transcripts() {
        for keep in ["2", "5"] {
            let run = compact(&world, &file, &["--local", "--keep", keep]);
            if run.code == 1 {
                continue;
            }
            let kept = run.json()["kept"].as_u64().unwrap();
            let inspected = world.run(["inspect", "--json", out.to_str().unwrap()]);
            let messages = inspected.ends(0).json()["messages"].as_u64().unwrap();
            // The summary is a message of its own, or one with the user's message after it.
            assert!(
                messages == kept || messages == kept + 1,
                "{} {keep}: {kept} kept, {messages} in view",
                name(&file)
            );
        }
    }
}

/// Prints the figures of docs/benchmarks.md: `cargo test … x9_figures -- --nocapture`, with a release build for the times.
#[test]
fn x9_figures_of_every_transcript() {
    let world = World::new();
    println!(
        "| transcript | tokens before → after | user messages | rules | results dropped | ms |"
    );
    println!("|---|---|---|---|---|---|");
    for file in transcripts() {
        let began = std::time::Instant::now();
        let run = compact(&world, &file, &["--local"]);
        let took = began.elapsed().as_millis();
        if run.code == 1 {
            println!("| {} | {} |", name(&file), run.err.trim());
            continue;
        }
        let told = run.json();
        let report = &told["report"];
        println!(
            "| {} | {} → {} | {}/{} | {}/{} | {} | {took} |",
            name(&file),
            told["before"],
            told["after"],
            report["user_messages"]["verbatim"],
            report["user_messages"]["total"],
            report["rules"]["verbatim"],
            report["rules"]["total"],
            report["results"]["cleared"],
        );
        assert_eq!(
            report["user_messages"]["verbatim"],
            report["user_messages"]["total"]
        );
        assert_eq!(report["rules"]["verbatim"], report["rules"]["total"]);
    }
}
