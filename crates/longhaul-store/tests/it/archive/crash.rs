//! Killed processes, torn logs, damaged databases, and two processes at once.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use longhaul_store::archive::{Archive, ArchiveError, ArchiveNotice, SearchScope, ViewPresence};
use longhaul_testkit::SessionSpec;

use super::{archive, finds, go_on, indexed, items, message, put};

const FILE: &str = "LONGHAUL_TEST_ARCHIVE";
const NAME: &str = "LONGHAUL_TEST_ARCHIVE_NAME";
const COUNT: &str = "LONGHAUL_TEST_ARCHIVE_COUNT";

/// The child's whole program: it puts item after item, and prints an acknowledgement for each.
#[test]
fn child_process() {
    let Some(file) = std::env::var_os(FILE) else {
        return;
    };
    let name = std::env::var(NAME).unwrap();
    let count: usize = std::env::var(COUNT).unwrap().parse().unwrap();
    let mut archive = Archive::open(Path::new(&file)).unwrap();
    let mut out = std::io::stdout();
    for number in 0..count {
        let uuid = format!("{name}-{number}");
        let text = format!("text of {uuid} {}", "filler ".repeat(number % 700));
        put(&mut archive, &[message(&uuid, &text)]);
        writeln!(out, "\nack {uuid}").unwrap();
        out.flush().unwrap();
    }
}

fn child(file: &Path, name: &str, count: usize) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["archive::crash::child_process", "--exact", "--nocapture"])
        .env(FILE, file)
        .env(NAME, name)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn acknowledged(out: impl std::io::Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(out).lines().map_while(Result::ok);
    lines.filter_map(|line| line.strip_prefix("ack ").map(str::to_owned))
}

fn held(archive: &Archive) -> BTreeSet<String> {
    let all = archive.newest(SearchScope::Everything, usize::MAX).unwrap();
    all.into_iter().map(|record| record.uuid).collect()
}

#[test]
fn y7_after_kill_9_at_any_instant_every_acknowledged_item_is_archived() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.db");
    let mut known = BTreeSet::new();
    let mut random = 0x2545_F491_u32;
    for round in 0..8 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut child = child(&path, &format!("round{round}"), 100_000);
        let mut said = acknowledged(child.stdout.take().unwrap());
        known.extend(said.by_ref().take((random >> 16) as usize % 40 + 1));
        // The kill hits somewhere inside one of the next puts.
        for _ in 0..random % 200_000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        known.extend(said);
        let archive = Archive::open(&path).unwrap();
        assert_eq!(archive.notice(), None);
        let held = held(&archive);
        assert!(known.is_subset(&held), "{:?}", known.difference(&held));
    }
    assert!(known.len() > 20, "the children did put");
    let archive = Archive::open(&path).unwrap();
    for uuid in known.iter().step_by(17) {
        assert_eq!(
            finds(&archive, &format!("\"text of {uuid}\"")),
            std::slice::from_ref(uuid)
        );
    }
}

#[test]
fn y7_a_log_that_was_torn_anywhere_leaves_a_prefix_of_what_was_put() {
    let (folder, mut archive) = archive();
    for number in 0..12 {
        put(
            &mut archive,
            &[message(
                &format!("m{number}"),
                &"plum ".repeat(number * 50 + 1),
            )],
        );
    }
    let database = fs::read(folder.path().join("archive.db")).unwrap();
    let log = fs::read(folder.path().join("archive.db-wal")).unwrap();
    assert!(log.len() > 10_000, "what was put is in the log");
    let mut counts = Vec::new();
    for part in 0..=20 {
        let torn = tempfile::tempdir().unwrap();
        let path = torn.path().join("archive.db");
        fs::write(&path, &database).unwrap();
        fs::write(
            torn.path().join("archive.db-wal"),
            &log[..log.len() * part / 20],
        )
        .unwrap();
        let mut archive = Archive::open(&path).unwrap();
        let held = held(&archive);
        let expected: BTreeSet<_> = (0..held.len()).map(|number| format!("m{number}")).collect();
        assert_eq!(held, expected, "part {part}");
        counts.push(held.len());
        assert_eq!(finds(&archive, "plum").len(), held.len().min(10));
        put(&mut archive, &[message("more", "plum")]);
    }
    assert!(
        counts.is_sorted() && counts.last() == Some(&12),
        "{counts:?}"
    );
}

#[test]
fn x2_two_processes_archive_and_index_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("s.jsonl");
    fs::write(&transcript, SessionSpec::new(4, 40).bytes()).unwrap();
    let path = transcript.with_extension("db");
    let children: Vec<_> = ["one", "two"].map(|name| child(&path, name, 30)).into();
    let archive = indexed(&transcript);
    for child in children {
        let said = child.wait_with_output().unwrap();
        assert!(said.status.success());
        assert_eq!(acknowledged(&said.stdout[..]).count(), 30);
    }
    let both = held(&archive);
    let put = both
        .iter()
        .filter(|uuid| uuid.starts_with("one-") || uuid.starts_with("two-"));
    assert_eq!(put.count(), 60);
    assert!(both.len() > 100);
}

#[test]
fn x2_many_may_open_a_new_archive_at_the_same_instant() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.db");
        let start = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for number in 0..6 {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    start.wait();
                    let mut archive = Archive::open(path).unwrap();
                    put(&mut archive, &[message(&format!("m{number}"), "plum")]);
                });
            }
        });
        assert_eq!(held(&Archive::open(&path).unwrap()).len(), 6);
    }
}

/// An archive of a transcript that was closed and then changed.
fn damaged(change: impl FnOnce(&Path)) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("s.jsonl");
    fs::write(&transcript, SessionSpec::new(4, 10).bytes()).unwrap();
    drop(indexed(&transcript));
    let path = transcript.with_extension("db");
    change(&path);
    (folder, transcript, path)
}

#[test]
fn x2_a_damaged_archive_is_moved_aside_and_made_again_from_the_transcript() {
    let garbage =
        |path: &Path| fs::write(path, "this is no database at all. ".repeat(400)).unwrap();
    let beheaded = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[..2_000].fill(0xAA);
        fs::write(path, bytes).unwrap();
    };
    let foreign = |path: &Path| {
        fs::remove_file(path).unwrap();
        let other = rusqlite::Connection::open(path).unwrap();
        other
            .execute_batch("CREATE TABLE item (id); PRAGMA user_version = 1;")
            .unwrap();
    };
    let changes: [&dyn Fn(&Path); 3] = [&garbage, &beheaded, &foreign];
    for change in changes {
        let (_folder, transcript, path) = damaged(change);
        let before = fs::read(&path).unwrap();
        let mut archive = Archive::open(&path).unwrap();
        let Some(ArchiveNotice::SetAside { to }) = archive.notice().cloned() else {
            panic!("{:?}", archive.notice());
        };
        assert!(fs::read(&to).unwrap() == before, "kept as it was");
        assert!(archive.is_empty().unwrap());
        archive.index(&transcript, go_on).unwrap();
        assert!(held(&archive).len() > 10);
    }
}

#[test]
fn x2_damage_that_shows_later_is_mended_too() {
    let (_folder, transcript, path) = damaged(|path| {
        // The header and the list of tables are intact, the rest is not.
        let mut bytes = fs::read(path).unwrap();
        let from = bytes.len() / 4;
        bytes[from..].fill(0x55);
        fs::write(path, bytes).unwrap();
    });
    let mut archive = Archive::open(&path).unwrap();
    if archive.notice().is_none() {
        let error = archive.rebuild(&transcript, go_on).unwrap_err();
        assert!(matches!(error, ArchiveError::Damaged { .. }), "{error}");
        archive = archive.mend().unwrap();
        assert!(matches!(
            archive.notice(),
            Some(ArchiveNotice::SetAside { .. })
        ));
    }
    archive.index(&transcript, go_on).unwrap();
    assert!(held(&archive).len() > 10);
}

#[test]
fn x2_an_archive_of_a_later_version_is_refused_and_left_alone() {
    let (_folder, _, path) = damaged(|path| {
        let database = rusqlite::Connection::open(path).unwrap();
        database.pragma_update(None, "user_version", 99).unwrap();
    });
    let error = Archive::open(&path).unwrap_err();
    assert!(
        matches!(error, ArchiveError::Newer { version: 99, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("update Longhaul"), "{error}");
}

#[test]
#[cfg(unix)]
fn y7_nothing_is_acknowledged_that_goes_into_a_deleted_file() {
    let (_folder, mut archive) = archive();
    let items = items(&[message("m", "plum")], ViewPresence::Cleared);
    fs::remove_file(archive.path()).unwrap();
    let error = archive.put(&items).unwrap_err();
    assert!(matches!(error, ArchiveError::Moved { .. }), "{error}");
}

#[test]
#[cfg(unix)]
fn g2_an_archive_is_its_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, mut archive) = archive();
    put(&mut archive, &[message("m", "plum")]);
    for file in ["archive.db", "archive.db-wal", "archive.db-shm"] {
        let mode = fs::metadata(folder.path().join(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}
