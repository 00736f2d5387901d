//! The tour in all kinds of folders (Q3).

use std::path::Path;

use longhaul_agent::event::{AgentEvent, PromptOutcome};
use longhaul_agent::offline::tour::{Tour, TourStep, window_cap};

use super::driving::{Line, Toured};
use super::folder::project;

/// How long a person waits.
fn seconds(toured: &Toured) -> u128 {
    (toured.reading_ms + toured.writing_ms) / 1_000
}

async fn toured(folder: &Path) -> Toured {
    let sessions = tempfile::tempdir().unwrap();
    let mut line = Line::new(folder, sessions.path()).await;
    line.tour().await;
    let toured = line.toured;
    println!(
        "{} s; {} replies, {} calls; gauge {:?}; cleared {}; compacted {:?}; read after resume {}",
        seconds(&toured),
        toured.replies,
        toured.calls.len(),
        toured.gauge,
        toured.cleared,
        toured.compacted,
        toured.read_after_resume
    );
    assert!(toured.compactions >= 1, "{toured:?}");
    assert_eq!(toured.resumes, 1);
    assert!(
        toured.read_after_resume > 3_000,
        "the resume reads the cache"
    );
    for tool in ["Write", "Edit", "Bash", "WebFetch"] {
        assert!(
            !toured.calls.iter().any(|call| call == tool),
            "it only reads"
        );
    }
    assert!(seconds(&toured) < 120, "{} s", seconds(&toured));
    toured
}

#[tokio::test]
async fn q3_the_tour_of_a_project_clears_compacts_reports_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), 30, 120);
    let toured = toured(folder.path()).await;
    assert!(toured.cleared > 0, "results were cleared before");
    let report = toured
        .said
        .iter()
        .find(|said| said.contains("word for word"));
    assert!(report.is_some(), "{:?}", toured.said);
    assert!(toured.commands.contains(&"/context".to_owned()));
    assert!(toured.commands.contains(&"/cost".to_owned()));
    let where_were_we = &toured.answer;
    assert!(
        where_were_we.starts_with("The summary of what came before says:\n- "),
        "{where_were_we}"
    );
    let last = toured.said.iter().rev().nth(1).unwrap();
    assert!(
        last.contains(&toured.read_after_resume.to_string()),
        "{last}"
    );
}

#[tokio::test]
async fn q3_the_tour_works_in_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    let toured = toured(folder.path()).await;
    assert!(
        toured
            .said
            .iter()
            .any(|said| said.contains("makes some text up"))
    );
}

#[tokio::test]
async fn q3_the_tour_works_among_huge_and_binary_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("noise.dat"),
        [0xff, 0xfe, 0x00].repeat(1_000),
    )
    .unwrap();
    std::fs::write(
        folder.path().join("long.txt"),
        "a line of a log that never ends\n".repeat(200_000),
    )
    .unwrap();
    std::fs::write(folder.path().join("wide.txt"), "x".repeat(40_000)).unwrap();
    std::fs::write(folder.path().join("empty.rs"), "").unwrap();
    toured(folder.path()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn q3_the_tour_works_in_a_folder_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), 3, 10);
    let locked = |mode| {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap()
    };
    locked(0o555);
    toured(folder.path()).await;
    locked(0o755);
}

#[test]
fn q3_a_tour_that_is_stopped_ends_with_a_sentence() {
    let mut tour = Tour::new();
    while !matches!(tour.next_step(), TourStep::Prompt(_)) {}
    tour.watch(&AgentEvent::Ended(PromptOutcome::Cancelled));
    assert!(matches!(tour.next_step(), TourStep::Wait(_)));
    let TourStep::Say(said) = tour.next_step() else {
        panic!("it says so")
    };
    assert!(said.contains("stopped"), "{said}");
    assert_eq!(tour.next_step(), TourStep::End);
    assert_eq!(tour.next_step(), TourStep::End);
}

#[test]
fn q3_a_session_that_shows_nothing_still_comes_to_an_end() {
    let mut tour = Tour::new();
    let steps = (0..300).position(|_| tour.next_step() == TourStep::End);
    assert!(steps.is_some());
}

#[test]
fn q3_the_window_of_a_tour_leaves_room_above_its_head() {
    for head in [0, 5_000, 12_000, 40_000, 90_000] {
        let window = window_cap(head);
        assert!((18_000..=100_000).contains(&window));
        assert!(
            head >= 60_000 || window * 79 / 100 >= head + 13_900,
            "{head}: {window}"
        );
    }
}

#[test]
fn q3_what_the_tour_says_and_asks_is_short() {
    let mut tour = Tour::new();
    let mut texts = Vec::new();
    loop {
        match tour.next_step() {
            TourStep::Say(text) => texts.push(format!("say: {text}")),
            TourStep::Prompt(text) if !texts.contains(&format!("ask: {text}")) => {
                texts.push(format!("ask: {text}"));
            }
            TourStep::Command(command) => texts.push(format!("command: {command}")),
            TourStep::Resume => texts.push("resume".to_owned()),
            TourStep::End => break,
            TourStep::Prompt(_) | TourStep::Wait(_) => {}
        }
    }
    assert!(texts.iter().all(|text| text.len() < 400));
    insta::assert_snapshot!(texts.join("\n"));
}
