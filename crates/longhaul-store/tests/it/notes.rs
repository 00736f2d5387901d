//! Notes on disk: replaced as a whole and only over the text they were made from, by one process at a time.

use std::fs;

use longhaul_store::layout::NotesFiles;
use longhaul_store::{NotesError, NotesFolder, SessionId, fork};

use crate::support::{at, entry, file_at, our_home};

fn folder(root: &tempfile::TempDir) -> NotesFolder {
    NotesFolder::of_transcript(&root.path().join("s.jsonl")).unwrap()
}

#[test]
fn s1_notes_are_replaced_only_over_the_text_they_were_made_from() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(&root);
    assert_eq!(folder.notes().unwrap(), None);
    let lock = folder.lock().unwrap();
    lock.replace(None, "one").unwrap();
    let changed = lock.replace(None, "two");
    assert!(matches!(changed, Err(NotesError::Changed { .. })));
    fs::write(folder.files().notes(), "by hand").unwrap();
    let changed = lock.replace(Some("one"), "two");
    assert!(matches!(changed, Err(NotesError::Changed { .. })));
    assert_eq!(folder.notes().unwrap().as_deref(), Some("by hand"));
    lock.replace(Some("by hand"), "two").unwrap();
    assert_eq!(lock.notes().unwrap().as_deref(), Some("two"));
}

#[test]
fn s2_the_folder_has_one_holder_and_what_a_killed_one_left_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(&root);
    let lock = folder.lock().unwrap();
    let second = folder.lock();
    assert!(matches!(second, Err(NotesError::Busy { .. })), "{second:?}");
    drop(lock);
    let left = folder.files().notes().with_file_name(".notes-abc.tmp");
    fs::write(&left, "half").unwrap();
    drop(folder.lock().unwrap());
    assert!(!left.exists());
}

#[test]
fn s1_what_is_no_text_of_bounded_size_is_not_notes() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(&root);
    drop(folder.lock().unwrap());
    let notes = folder.files().notes();
    fs::write(&notes, b"\xff\xfe").unwrap();
    assert!(matches!(folder.notes(), Err(NotesError::NotNotes { .. })));
    fs::write(&notes, vec![b'a'; (4 << 20) + 1]).unwrap();
    assert!(matches!(folder.notes(), Err(NotesError::NotNotes { .. })));
    fs::remove_file(&notes).unwrap();
    fs::create_dir(&notes).unwrap();
    assert!(matches!(folder.notes(), Err(NotesError::InTheWay { .. })));
}

#[test]
fn s5_a_fork_takes_the_notes_along() {
    let root = tempfile::tempdir().unwrap();
    let home = our_home(&root.path().join("home"));
    let source = root.path().join("theirs/s.jsonl");
    file_at(&source, &format!("{}\n", entry("a", None)), 1_000);
    let notes = NotesFolder::of_transcript(&source).unwrap();
    let lock = notes.lock().unwrap();
    lock.replace(None, "# State\nThe lexer.\n").unwrap();
    lock.reach("{\"lastSummarizedUuid\":\"a\",\"tokens\":7}\n")
        .unwrap();
    let template = notes.files().template();
    fs::create_dir_all(template.parent().unwrap()).unwrap();
    fs::write(&template, "# State\n").unwrap();

    let id = SessionId::parse("new").unwrap();
    let copy = fork(&source, &home, &id, at(1_770_912_145)).unwrap();
    let copied = NotesFolder::of_transcript(&copy).unwrap();
    assert_eq!(copied.notes().unwrap(), notes.notes().unwrap());
    assert_eq!(copied.progress().unwrap(), notes.progress().unwrap());
    assert_eq!(copied.template().unwrap(), notes.template().unwrap());
    assert_eq!(copied.prompt().unwrap(), None);
    assert_ne!(
        NotesFiles::of_transcript(&copy),
        NotesFiles::of_transcript(&source)
    );
}
