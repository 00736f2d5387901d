//! Deleting sessions.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhaul_store::archive::{Archive, archive_path};
use longhaul_store::purge::{KeptReason, PurgeError, PurgePlan, PurgeWhat, plan};
use longhaul_store::{AppendError, Durability, Env, Home, HomeOwner, SessionId, TranscriptWriter};
use tempfile::TempDir;

use crate::support::{at, entry, file_at, files_below, our_home};

const DAY: u64 = 86_400;

/// A home with an old and a new session, the old one with a sub-agent, and something that is not a session.
fn home() -> (TempDir, Home) {
    let root = tempfile::tempdir().unwrap();
    let home = our_home(&root.path().canonicalize().unwrap());
    let project = home.projects().join("-work");
    file_at(&project.join("old.jsonl"), "12345", DAY);
    file_at(&project.join("old/subagents/agent-1.jsonl"), "123", 2 * DAY);
    file_at(&project.join("new.jsonl"), "1", 90 * DAY);
    file_at(&project.join("memory/notes.md"), "12", DAY);
    file_at(&home.root().join("config.toml"), "", DAY);
    (root, home)
}

fn names(home: &Home, plan: &PurgePlan) -> Vec<String> {
    let relative = |path: &Path| path.strip_prefix(home.projects()).unwrap().to_owned();
    (plan.items().iter())
        .map(|item| relative(&item.path).display().to_string())
        .collect()
}

fn planned(home: &Home, what: PurgeWhat) -> PurgePlan {
    plan(home, &what, at(100 * DAY)).unwrap()
}

fn session(id: &str) -> PurgeWhat {
    PurgeWhat::Session(SessionId::parse(id).unwrap())
}

#[test]
fn g2_a_plan_lists_old_sessions_with_their_sub_agents_and_deletes_nothing() {
    let (_root, home) = home();
    let plan = planned(&home, PurgeWhat::OlderThan(Duration::from_secs(30 * DAY)));
    let files = ["-work/old/subagents/agent-1.jsonl", "-work/old.jsonl"];
    assert_eq!(names(&home, &plan), files);
    assert_eq!(plan.bytes(), 8);
    assert_eq!(plan.items()[1].age, Duration::from_secs(99 * DAY));
    assert_eq!(files_below(home.root()).len(), 5);
    // The session is as young as its youngest file.
    let limit = Duration::from_secs(98 * DAY + DAY / 2);
    assert!(
        planned(&home, PurgeWhat::OlderThan(limit))
            .items()
            .is_empty()
    );
}

#[test]
fn g2_a_purge_deletes_what_was_planned_and_says_so() {
    let (_root, home) = home();
    let report = planned(&home, session("old")).execute();
    assert_eq!(
        (report.deleted.len(), report.kept.len(), report.bytes()),
        (2, 0, 8)
    );
    let project = home.projects().join("-work");
    assert!(!project.join("old").exists(), "the emptied folder goes too");
    assert!(project.join("new.jsonl").exists());

    let report = planned(&home, session("new")).execute();
    assert_eq!(report.deleted.len(), 1);
    assert!(
        project.join("memory/notes.md").exists(),
        "not the session's"
    );
    let error = plan(&home, &session("new"), at(1)).unwrap_err();
    assert!(matches!(error, PurgeError::NoSuchSession { .. }), "{error}");

    file_at(&project.join(".fork-x.tmp"), "", DAY);
    let plan = planned(&home, PurgeWhat::OlderThan(Duration::from_secs(DAY)));
    assert_eq!(
        names(&home, &plan),
        ["-work/.fork-x.tmp"],
        "left by a killed fork"
    );
    let report = planned(&home, PurgeWhat::Everything).execute();
    assert_eq!(report.deleted.len(), 2);
    assert_eq!(files_below(home.root()), [home.root().join("config.toml")]);
    assert!(!project.exists() && home.projects().exists());
}

#[test]
#[cfg(unix)]
fn g2_a_purge_never_follows_links_out_of_our_home() {
    use std::os::unix::fs::symlink;
    let (_root, home) = home();
    let elsewhere = tempfile::tempdir().unwrap();
    let precious = elsewhere.path().join("precious.jsonl");
    file_at(&precious, "precious", DAY);
    file_at(
        &elsewhere.path().join("subagents/agent-1.jsonl"),
        "precious",
        DAY,
    );
    let project = home.projects().join("-work");
    symlink(&precious, project.join("link.jsonl")).unwrap();
    symlink(elsewhere.path(), project.join("linked-folder")).unwrap();
    symlink(elsewhere.path(), home.projects().join("-linked-project")).unwrap();
    symlink(elsewhere.path(), project.join("old/more")).unwrap();
    let report = planned(&home, PurgeWhat::Everything).execute();
    assert_eq!((report.deleted.len(), report.kept.len()), (8, 0));
    assert_eq!(files_below(elsewhere.path()).len(), 2, "all still there");
    assert!(std::fs::read_dir(home.projects()).unwrap().next().is_none());

    std::fs::remove_dir(home.projects()).unwrap();
    symlink(elsewhere.path(), home.projects()).unwrap();
    let error = plan(&home, &PurgeWhat::Everything, at(1)).unwrap_err();
    assert!(matches!(error, PurgeError::NotAFolder { .. }), "{error}");
}

#[test]
#[cfg(unix)]
fn g2_what_became_a_link_after_the_plan_is_kept() {
    let (_root, home) = home();
    let elsewhere = tempfile::tempdir().unwrap();
    let plan = planned(&home, session("old"));
    let folder = home.projects().join("-work/old");
    std::fs::rename(&folder, elsewhere.path().join("old")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("old"), &folder).unwrap();
    let report = plan.execute();
    assert_eq!(report.deleted.len(), 1, "the transcript itself");
    assert!(matches!(report.kept[0].reason, KeptReason::Changed));
    assert_eq!(files_below(elsewhere.path()).len(), 1);
}

#[test]
fn g2_what_was_used_since_the_plan_or_is_in_use_is_kept() {
    let (_root, home) = home();
    let old = home.projects().join("-work/old.jsonl");
    let plan = planned(&home, session("old"));
    file_at(&old, "1234567", 99 * DAY);
    let report = plan.execute();
    assert!(matches!(report.kept[0].reason, KeptReason::Changed));
    assert_eq!(report.deleted.len(), 1);

    let holder = std::fs::File::open(&old).unwrap();
    holder.lock().unwrap();
    let report = planned(&home, session("old")).execute();
    assert!(matches!(report.kept[0].reason, KeptReason::InUse));
    assert!(old.exists());
}

#[test]
#[cfg(unix)]
fn y7_a_writer_never_acknowledges_what_a_purge_deleted() {
    let root = tempfile::tempdir().unwrap();
    let home = our_home(root.path());
    let path = home.projects().join("-work/s.jsonl");
    let mut writer = TranscriptWriter::open(&path, Durability::EveryAppend).unwrap();
    let _ = writer.append(entry("a", None).as_bytes()).unwrap();
    let report = planned(&home, session("s")).execute();
    assert_eq!(report.deleted.len(), 1);
    let error = writer.append(entry("b", Some("a")).as_bytes()).unwrap_err();
    assert!(matches!(error, AppendError::Moved { .. }), "{error}");
}

#[test]
fn g2_homes_that_are_not_ours_alone_are_not_purged() {
    let root = tempfile::tempdir().unwrap();
    let user_home = root.path().join("home/me");
    std::fs::create_dir_all(user_home.join("projects/thesis")).unwrap();
    let at_root = |path: PathBuf| Env {
        longhaul_home: Some(path.into_os_string()),
        user_home: Some(user_home.clone()),
        ..Env::default()
    };
    for wide in [
        user_home.clone(),
        root.path().to_owned(),
        PathBuf::from("/"),
    ] {
        let home = Home::longhaul(&at_root(wide)).unwrap();
        let error = plan(&home, &PurgeWhat::Everything, at(1)).unwrap_err();
        assert!(matches!(error, PurgeError::TooWide { .. }), "{error}");
    }
    let theirs = Home::at(&user_home, HomeOwner::ClaudeCode).unwrap();
    let error = plan(&theirs, &PurgeWhat::Everything, at(1)).unwrap_err();
    assert!(matches!(error, PurgeError::NotOurs { .. }), "{error}");
    let fresh = Home::longhaul(&at_root(user_home.join("not-yet"))).unwrap();
    assert!(planned(&fresh, PurgeWhat::Everything).items().is_empty());
}

/// An archive in its place that holds a part of a transcript.
fn archived(home: &Home, transcript: &Path) -> PathBuf {
    let path = archive_path(home, transcript);
    let mut archive = Archive::open(&path).unwrap();
    archive
        .index(transcript, |_| ControlFlow::Continue(()))
        .unwrap();
    path
}

#[test]
fn g2_a_purge_deletes_archives_with_their_sessions() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let home = our_home(&root.join("ours"));
    let text = format!("{}\n", entry("u", None));
    let ours = home.projects().join("-work/mine.jsonl");
    let theirs = root.join("theirs/projects/-work/foreign.jsonl");
    let same_id = root.join("theirs/projects/-work/mine.jsonl");
    for path in [&ours, &theirs, &same_id] {
        file_at(path, &text, DAY);
    }
    let [mine, foreign, same] = [&ours, &theirs, &same_id].map(|path| archived(&home, path));
    assert_eq!(mine, home.projects().join("-work/mine/archive.db"));
    assert!(
        foreign.starts_with(home.projects().join("-work/foreign")),
        "{foreign:?}"
    );
    assert!(
        same.starts_with(home.projects().join("-work/mine")) && same != mine,
        "{same:?}"
    );

    // A recent archive does not keep an old session; an archive without a session of ours has its own age.
    let old = plan(
        &home,
        &PurgeWhat::OlderThan(Duration::from_secs(DAY)),
        SystemTime::now(),
    )
    .unwrap();
    assert!(names(&home, &old).contains(&"-work/mine.jsonl".to_owned()));
    assert!(old.items().iter().any(|item| item.path == mine));
    assert!(!old.items().iter().any(|item| item.path == foreign));

    let purge = |what| plan(&home, &what, SystemTime::now()).unwrap().execute();
    assert!(purge(session("foreign")).kept.is_empty());
    assert!(!foreign.exists() && theirs.exists() && mine.exists());
    // The archive of a sub-agent is deleted too, and so is what was left of a damaged one.
    let agent = home.projects().join("-work/mine/subagents/agent-1.jsonl");
    file_at(&agent, &text, DAY);
    let of_agent = archived(&home, &agent);
    assert!(
        of_agent.starts_with(home.projects().join("-work/mine")),
        "{of_agent:?}"
    );
    file_at(&mine.with_file_name("archive.db.damaged-1-wal"), "x", DAY);
    assert!(purge(session("mine")).kept.is_empty());
    assert!(!ours.exists() && same_id.exists());
    assert!(files_below(home.root()).is_empty());
}
