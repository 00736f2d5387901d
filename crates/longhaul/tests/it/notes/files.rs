//! Files on disk: links, damage, crashes, and the user's own files.

use std::sync::Arc;

use longhaul::notes::NotesLocation;
use longhaul_core::notes::DEFAULT_TEMPLATE;
use longhaul_store::NotesFolder;

use super::desk::{Desk, Furniture, Kind, STATE, calls};

#[cfg(unix)]
#[tokio::test]
async fn s3_notes_are_never_written_through_a_link() {
    use std::os::unix::fs::symlink;
    for linked in ["summary.md", "session-memory", "session"] {
        let mut desk = Desk::new();
        let outside = tempfile::tempdir().unwrap();
        let root = desk.folder.path().join("session");
        match linked {
            "summary.md" => {
                let target = outside.path().join("precious.md");
                std::fs::write(&target, DEFAULT_TEMPLATE).unwrap();
                std::fs::create_dir_all(root.join("session-memory")).unwrap();
                symlink(target, desk.files.notes()).unwrap();
            }
            "session-memory" => {
                std::fs::create_dir_all(&root).unwrap();
                symlink(outside.path(), root.join("session-memory")).unwrap();
            }
            _ => symlink(outside.path(), &root).unwrap(),
        }
        desk.answer(
            Kind::Notes,
            calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
        );
        let taken = desk.noted().await;
        assert!(taken.failed.unwrap().contains("link"), "{linked}");
        assert_eq!(taken.requests, 0, "nobody was asked");
        let left = std::fs::read_dir(outside.path()).unwrap();
        for file in left {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert_eq!(text, DEFAULT_TEMPLATE);
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn s1_notes_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let mut desk = Desk::new();
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
    );
    desk.noted().await;
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let notes = desk.files.notes();
    assert_eq!(mode(notes.parent().unwrap()), 0o700);
    assert_eq!(mode(&notes), 0o600);
    assert_eq!(mode(&desk.files.progress()), 0o600);
    let names = std::fs::read_dir(notes.parent().unwrap()).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".lock", "progress.json", "summary.md"]);
}

#[tokio::test]
async fn s5_damaged_progress_is_none_and_is_replaced() {
    for damage in ["", "{\"lastSumm", "[1, 2]", "\u{0}\u{0}"] {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let place = NotesLocation::of_transcript(&folder.path().join("session.jsonl")).unwrap();
        let path = place.folder().files().progress();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, damage).unwrap();
        assert_eq!(place.reach(), None);
        let mut desk = Desk::at(folder, Furniture::default());
        desk.answer(
            Kind::Notes,
            calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
        );
        assert_eq!(desk.noted().await.failed, None);
        let reach = place.reach().unwrap();
        assert_eq!(reach.last_summarized_uuid, desk.newest_reply());
    }
}

#[tokio::test]
async fn s5_a_crash_between_notes_and_progress_leaves_it_too_far_back_never_too_far() {
    let mut desk = Desk::new();
    // A folder in its place: it cannot be written, as if the process had ended before.
    std::fs::create_dir_all(desk.files.progress().join("in the way")).unwrap();
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
    );
    let taken = desk.noted().await;
    assert!(taken.failed.is_some());
    let place = NotesLocation::of_transcript(&desk.folder.path().join("session.jsonl")).unwrap();
    let on_disk = place.on_disk();
    assert!(on_disk.text.unwrap().contains("The lexer."));
    assert_eq!(on_disk.reach, None);
}

#[tokio::test]
async fn s5_a_resumed_session_counts_from_where_its_notes_reach() {
    let mut desk = Desk::new();
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
    );
    desk.noted().await;
    drop(desk.session.take());
    let mut again = Desk::at(desk.folder.clone(), Furniture::default());
    again.exchange("Go on.", 13_000).await;
    again.session().drive_background().await;
    assert!(again.taken().is_empty(), "too little is new");
    again.exchange("Go on.", 18_000).await;
    again.session().drive_background().await;
    assert_eq!(again.taken().len(), 1);
}

#[tokio::test]
async fn s1_the_users_template_and_prompt_replace_ours() {
    let mut desk = Desk::new();
    let template = "# State\n_Now_\n\n# Rules\n_Of the user_\n";
    desk.write(desk.files.template(), template);
    desk.write(
        desk.files.prompt(),
        "Write haikus into {{notesPath}}, which holds:\n{{currentNotes}}",
    );
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit("_Now_", "A lexer blooms.")], 12_100),
    );
    assert_eq!(desk.noted().await.failed, None);
    assert_eq!(
        desk.notes(),
        "# State\n_Now_\nA lexer blooms.\n\n# Rules\n_Of the user_\n"
    );
    let asked = &desk.asked(Kind::Notes)[0];
    assert!(asked.contains("Write haikus into") && !asked.contains("Stop here."));
    assert!(asked.contains("# Rules"));
}

#[tokio::test]
async fn s2_two_processes_never_take_the_same_notes() {
    let mut desk = Desk::new();
    let folder = NotesFolder::of_transcript(&desk.folder.path().join("session.jsonl")).unwrap();
    let other = folder.lock().unwrap();
    let taken = desk.noted().await;
    assert!(taken.failed.unwrap().contains("another process"));
    drop(other);
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 20_100),
    );
    desk.exchange("Go on.", 20_000).await;
    desk.session().drive_background().await;
    assert_eq!(desk.taken().pop().unwrap().failed, None);
}

#[tokio::test]
async fn h5_no_notes_are_taken_where_they_are_switched_off_or_have_no_place() {
    let mut furniture = Furniture::default();
    furniture.config.switches.notes = false;
    let mut desk = Desk::with(furniture);
    desk.exchange("Build a parser.", 50_000).await;
    assert_eq!(desk.session().background_count(), 0);
    assert!(!desk.files.notes().exists());
    assert!(NotesLocation::of_transcript(std::path::Path::new("/s/session")).is_none());
}
