//! Tests the text before the first message (A4).

use longhaul_core::prompt::memory::{MemoryFile, MemoryFileKind};
use longhaul_core::prompt::{ContextBudget, ContextSources, EditorSelection, UserContext};
use longhaul_core::window::WindowScale;
use proptest::prelude::*;

fn file(path: &str, text: &str) -> MemoryFile {
    MemoryFile {
        path: path.into(),
        kind: MemoryFileKind::Project,
        imported_by: None,
        text: text.to_owned(),
        unread_bytes: 0,
    }
}

fn context(memory: &[MemoryFile], budget: ContextBudget) -> Option<UserContext> {
    let sources = ContextSources {
        memory,
        ..ContextSources::default()
    };
    UserContext::new(&sources, budget)
}

#[test]
fn a4_nothing_to_say_is_nothing() {
    assert_eq!(context(&[], ContextBudget::FULL), None);
    assert_eq!(context(&[file("/a", " \n")], ContextBudget::FULL), None);
    let selection = EditorSelection {
        path: "/a".into(),
        lines: None,
        text: "\n".to_owned(),
    };
    let sources = ContextSources {
        selection: Some(&selection),
        ..ContextSources::default()
    };
    assert_eq!(UserContext::new(&sources, ContextBudget::FULL), None);
}

#[test]
fn a4_it_is_one_reminder_with_a_title_for_each_source() {
    let memory = [file("/a/CLAUDE.md", "one"), file("/b/AGENTS.md", "two")];
    let sources = ContextSources {
        memory: &memory,
        date: Some(jiff::civil::date(2026, 2, 3)),
        selection: None,
    };
    let context = UserContext::new(&sources, ContextBudget::FULL).unwrap();
    assert!(context.text.starts_with("<system-reminder>\n"));
    assert!(context.text.ends_with("\n</system-reminder>"));
    let titles: Vec<_> = context
        .text
        .lines()
        .filter(|line| line.starts_with("# "))
        .collect();
    assert_eq!(titles.len(), 3);
    assert!(titles[0].contains("/a/CLAUDE.md") && titles[1].contains("/b/AGENTS.md"));
    assert!(context.text.contains("2026-02-03") && context.cuts.is_empty());
    assert!(context.text.contains("may have nothing to do"));
}

#[test]
fn a4_over_the_budget_large_files_are_cut_at_a_line_and_small_ones_stay_whole() {
    let large = "A line of the large one.\n".repeat(10_000);
    let memory = [
        file("/small", "All of this."),
        file("/large", &large),
        file("/last", "And this."),
    ];
    let context = context(&memory, ContextBudget::FULL).unwrap();
    assert!(context.text.contains("All of this.") && context.text.contains("And this."));
    let padded = context.memory_weight.padded();
    assert!((39_900..=40_000).contains(&padded), "{padded}");
    let [cut] = &context.cuts[..] else {
        panic!("{:?}", context.cuts)
    };
    assert_eq!(cut.path.to_str(), Some("/large"));
    let whole = (cut.kept + cut.missing).unpadded();
    assert!(whole.abs_diff(large.len() as u64 / 4) <= 1);
    let shown = context
        .text
        .lines()
        .filter(|line| *line == "A line of the large one.")
        .count() as u64;
    assert!((shown * 25 / 4).abs_diff(cut.kept.unpadded()) <= 1);
    let note = format!("about {} more tokens are in /large", cut.missing.unpadded());
    assert!(context.text.contains(&note));
}

#[test]
fn a4_a_file_of_one_endless_line_is_cut_within_it() {
    let context = context(
        &[file("/minified", &"x".repeat(1_000_000))],
        ContextBudget::FULL,
    )
    .unwrap();
    assert_eq!(context.cuts.len(), 1);
    assert!(context.cuts[0].kept.padded() > 39_000);
}

#[test]
fn a4_what_was_not_read_is_named_as_missing() {
    let mut large = file("/huge", &"text\n".repeat(100));
    large.unread_bytes = 4_000_000;
    let context = context(&[large], ContextBudget::FULL).unwrap();
    assert_eq!(context.cuts[0].missing.unpadded(), 1_000_000);
    assert!(
        context
            .text
            .contains("about 1000000 more tokens are in /huge")
    );
}

#[test]
fn a4_h7_the_budget_shrinks_with_a_small_window() {
    let text = "A line.\n".repeat(100_000);
    for (window, memory) in [
        (200_000, 40_000),
        (100_000, 40_000),
        (32_000, 12_800),
        (4_000, 1_600),
    ] {
        let budget = ContextBudget::at(WindowScale::of_window(window));
        assert_eq!(budget.memory, memory);
        let context = context(&[file("/a", &text), file("/b", &text)], budget).unwrap();
        let padded = context.memory_weight.padded();
        assert!(
            padded <= memory && padded + 100 > memory,
            "{padded} of {memory}"
        );
        assert_eq!(context.cuts.len(), 2);
    }
}

#[test]
fn a4_more_files_than_can_be_shown_are_left_out_from_the_end_and_counted() {
    let text = "A line of some length, so that it counts.\n".repeat(50);
    let memory: Vec<_> = (0..500)
        .map(|n| file(&format!("/file{n}"), &text))
        .collect();
    let budget = ContextBudget::at(WindowScale::of_window(8_000));
    let context = context(&memory, budget).unwrap();
    assert!(context.memory_weight.padded() <= budget.memory);
    assert_eq!(context.cuts.len(), 500, "each cut is reported");
    let shown = context.text.matches("# Memory file /").count();
    assert!(shown > 10, "{shown}");
    assert!(
        context
            .text
            .contains(&format!("\n{} more, about ", 500 - shown))
    );
}

#[test]
fn a4_a_large_selection_is_cut() {
    let selection = EditorSelection {
        path: "/a.rs".into(),
        lines: Some((1, 1)),
        text: "    indented\n".repeat(10_000),
    };
    let sources = ContextSources {
        selection: Some(&selection),
        ..ContextSources::default()
    };
    let context = UserContext::new(&sources, ContextBudget::FULL).unwrap();
    assert!(context.weight.padded() < 5_200);
    assert!(context.text.contains("/a.rs, line 1\n\n    indented\n"));
    assert!(context.text.contains("of the selection are in /a.rs."));
    assert_eq!(context.cuts.len(), 1);
}

proptest! {
    #[test]
    fn a4_memory_files_stay_within_their_budget_and_no_loss_is_silent(
        files in prop::collection::vec(("[a-z]{1,30}", "(\\PC{0,60}\n){0,40}", 1usize..20, 0u64..2), 0..30),
        window in 4_000u64..120_000,
    ) {
        let memory: Vec<_> = files
            .iter()
            .enumerate()
            .map(|(at, (name, text, times, unread_bytes))| MemoryFile {
                unread_bytes: *unread_bytes,
                ..file(&format!("/{at}/{name}"), &text.repeat(*times))
            })
            .collect();
        let budget = ContextBudget::at(WindowScale::of_window(window));
        let Some(context) = context(&memory, budget) else {
            prop_assert!(memory.iter().all(|file| file.text.trim().is_empty()));
            return Ok(());
        };
        prop_assert!(context.memory_weight.padded() <= budget.memory);
        for file in memory.iter().filter(|file| !file.text.trim().is_empty()) {
            let cut = context.cuts.iter().any(|cut| cut.path == file.path);
            let title = format!("# Memory file {} (", file.path.display());
            prop_assert!(cut || context.text.contains(&title));
            prop_assert!(cut || context.text.contains(file.text.trim()));
            prop_assert!(cut || file.unread_bytes == 0);
        }
    }
}
