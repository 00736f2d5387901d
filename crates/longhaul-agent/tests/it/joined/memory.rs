//! Memory files while an agent works: those of sub-folders, their compaction instructions, and what a compaction
//! resets.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use longhaul::Clock;
use longhaul::hooks::EndReason;
use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::ApprovalAnswer;
use longhaul_core::engine::CompactRequest;
use serde_json::{Value, json};

use super::{Says, open, put, workplace};
use crate::agent::house::{House, calls, long, say, text, texts, work};

fn read(path: &str) -> Value {
    calls(&[("Read", json!({"file_path": path}))])
}

fn local() -> CompactRequest {
    CompactRequest {
        local: true,
        ..CompactRequest::default()
    }
}

/// How often the words occur in the newest request.
fn count(house: &House, words: &str) -> usize {
    let texts = texts(&house.last_body());
    texts.iter().map(|text| text.matches(words).count()).sum()
}

/// The machine's clock, and how far it is ahead.
#[derive(Clone, Default)]
struct Ahead(Arc<AtomicI64>);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        Timestamp::now() + SignedDuration::from_mins(self.0.load(Ordering::SeqCst))
    }
}

#[tokio::test]
async fn c1_memory_files_of_sub_folders_are_loaded_when_files_there_are_read() {
    let turns = [
        read("web/src/a.js"),
        read("web/src/b.js"),
        long(),
        read("main.rs"),
        text("Nothing there."),
        read("web/src/a.js"),
        text("Done."),
    ];
    let house = House::scripted_by("calls", &turns).await;
    put(&house, "CLAUDE.md", "The root has its rules.");
    put(&house, "web/CLAUDE.md", "Tabs in the web folder.");
    put(
        &house,
        "web/src/AGENTS.md",
        "Name functions by what they do.",
    );
    put(&house, "api/CLAUDE.md", "Never read: nobody works here.");
    for file in ["web/src/a.js", "web/src/b.js", "main.rs"] {
        put(&house, file, "let a = 1;\n");
    }
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "Look at the web folder.").await;
    let both = ["Tabs in the web folder.", "Name functions by what they do."];
    for words in both {
        assert_eq!(count(&house, words), 1, "{words}");
    }
    assert_eq!(count(&house, "The root has its rules."), 1);
    assert_eq!(count(&house, "nobody works here"), 0);
    // After a restart they are still in the window, and are not loaded again.
    agent.close(EndReason::Other).await;
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::Continue).await;
    agent.compact(local()).await.unwrap();
    say(&mut agent, &mut events, "And main?").await;
    assert_eq!(
        count(&house, both[0]),
        0,
        "a compaction takes them out of view"
    );
    say(&mut agent, &mut events, "Look again.").await;
    for words in both {
        assert_eq!(count(&house, words), 1, "{words}");
    }
}

#[tokio::test]
async fn u6_memory_files_are_cleared_with_old_results_and_loaded_again_when_they_are_needed() {
    let mut turns = vec![read("web/a.js")];
    turns.extend((0..7).map(|at| read(&format!("{at}.txt"))));
    turns.extend([
        text("Done."),
        text("Welcome."),
        read("web/a.js"),
        text("Yes."),
    ]);
    let mut house = House::scripted(&turns).await;
    // The idle hour decides where thresholds alone do.
    house.config.economy = longhaul::EconomyPolicy::Off;
    put(&house, "web/CLAUDE.md", "Tabs in the web folder.");
    put(&house, "web/a.js", "let a = 1;\n");
    for at in 0..7 {
        put(&house, &format!("{at}.txt"), &"some text\n".repeat(50));
    }
    let place = workplace(&house, &mut Says::no()).await;
    let clock = Ahead::default();
    let builder = place
        .equip(house.builder())
        .session(|session| session.clock(clock.clone()));
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    say(&mut agent, &mut events, "Read them all.").await;
    assert_eq!(count(&house, "Tabs in the web folder."), 1);
    clock.0.store(61, Ordering::SeqCst);
    say(&mut agent, &mut events, "I am back.").await;
    assert_eq!(count(&house, "Tabs in the web folder."), 0, "cleared");
    say(&mut agent, &mut events, "Look at the web folder.").await;
    assert_eq!(count(&house, "Tabs in the web folder."), 1, "loaded again");
}

#[tokio::test]
async fn f4_what_memory_files_say_about_compactions_is_read_when_one_begins() {
    let house = House::scripted(&[long(), long(), text("Yes.")]).await;
    put(
        &house,
        "CLAUDE.md",
        "# Compact Instructions\n\nKeep every port number.\n",
    );
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    for (file, wanted, gone) in [
        (
            "# Compact Instructions\n\nKeep every colour.\n",
            "Keep every colour.",
            "port number",
        ),
        ("Be brief.\n", "", "Keep every"),
    ] {
        say(&mut agent, &mut events, "Tell me a long story.").await;
        put(&house, "CLAUDE.md", file);
        agent.compact(CompactRequest::default()).await.unwrap();
        let asked = texts(&house.last_body()).pop().unwrap();
        assert!(asked.contains(wanted) && !asked.contains(gone), "{asked}");
    }
}

#[tokio::test]
async fn c1_what_the_user_allowed_for_the_session_is_asked_for_again_after_a_compaction() {
    let run = || calls(&[("Bash", json!({"command": "touch made"}))]);
    let turns = [run(), run(), long(), run(), text("Done.")];
    let mut house = House::scripted_by("calls", &turns).await;
    // Otherwise the notes would be one of the calls.
    house.config.switches.notes = false;
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let asked = Cell::new(0);
    let yes = || {
        asked.set(asked.get() + 1);
        Some(ApprovalAnswer::Session)
    };
    work(&mut agent, &mut events, "Touch it twice.", |_| {}, yes).await;
    assert!(house.cwd().join("made").exists());
    assert_eq!(asked.get(), 1, "the second is covered by the approval");
    agent.compact(local()).await.unwrap();
    work(&mut agent, &mut events, "One more.", |_| {}, yes).await;
    assert_eq!(asked.get(), 2);
}
