//! The tour in its sample project (Q3).

use longhaul_agent::event::{AgentEvent, PromptOutcome};
use longhaul_agent::offline::tour::{Tour, TourStep, window_cap, write_sample_project};

use super::driving::{Line, Toured};

/// How long a person waits.
fn seconds(toured: &Toured) -> u128 {
    (toured.reading_ms + toured.writing_ms) / 1_000
}

async fn toured() -> Toured {
    let sessions = tempfile::tempdir().unwrap();
    // Always the same path: its length counts.
    let folder = std::env::temp_dir().join("longhaul-tour-of-tests");
    write_sample_project(&folder).unwrap();
    let mut line = Line::new(&folder, sessions.path()).await;
    line.tour().await;
    line.toured
}

#[tokio::test]
async fn q3_the_tour_compacts_reports_and_resumes_and_is_the_same_each_time() {
    let toured = [toured().await, toured().await];
    for tour in &toured {
        println!(
            "{} s; {} replies, {} calls; gauge {:?}; compacted {:?}; read after resume {}",
            seconds(tour),
            tour.replies,
            tour.calls.len(),
            tour.gauge,
            tour.compacted,
            tour.read_after_resume
        );
        assert_eq!((tour.compactions, tour.resumes), (1, 1));
        let (before, after) = tour.compacted[0];
        // The notes of this simple session are late; the agent's own compaction saves more.
        assert!(
            after * 4 < before * 3,
            "it impresses nobody: {before} to {after}"
        );
        let asked_by_hand = tour.commands.contains(&"/compact".to_owned());
        assert!(!asked_by_hand, "the window fills by itself");
        assert!(tour.read_after_resume > 3_000, "the resume reads the cache");
        for tool in ["Write", "Edit", "WebFetch"] {
            assert!(!tour.calls.iter().any(|call| call == tool), "it only reads");
        }
        assert!(seconds(tour) < 90, "{} s", seconds(tour));
        let answer = &tour.answer;
        let asked = tour.prompts.len() - 1;
        let newest = &tour.prompts[asked - 1];
        let opening =
            format!("You asked for {asked} things so far; the newest first:\n- “{newest}”: ");
        assert!(answer.starts_with(&opening), "{opening}\n---\n{answer}");
        for told in [
            "Your rule, word for word: “Never change anything under data/.”",
            " files and changed none; the newest: `",
            "\n\nNext: ",
        ] {
            assert!(answer.contains(told), "{told}\n---\n{answer}");
        }
        for wrong in ["here were we", "At work on", "Last said", "Do not guess"] {
            assert!(!answer.contains(wrong), "{wrong}\n---\n{answer}");
        }
        let next = tour.said.last().unwrap();
        assert!(next.contains("longhaul wrap claude"), "{next}");
    }
    // The ids of a session weigh a token more or less.
    let mut gauges = toured[0].gauge.iter().zip(&toured[1].gauge);
    assert!(gauges.all(|(one, other)| one.abs_diff(*other) < 10));
    assert_eq!(toured[0].prompts, toured[1].prompts);
    assert_eq!(toured[0].calls, toured[1].calls);
}

#[test]
fn q3_the_sample_project_is_written_anew_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("tour/tidewatch");
    write_sample_project(&folder).unwrap();
    std::fs::write(folder.join("made.txt"), "by a user").unwrap();
    std::fs::write(folder.join("README.md"), "changed").unwrap();
    write_sample_project(&folder).unwrap();
    assert!(!folder.join("made.txt").exists());
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.starts_with("# tidewatch"));
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
        assert!((18_000..=150_000).contains(&window));
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
