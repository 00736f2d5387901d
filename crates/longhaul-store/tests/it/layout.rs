//! Where sessions are, and finding them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use longhaul_store::layout::{
    Env, FindError, Home, HomeError, HomeOwner, NotesFiles, SessionId, find_session, folder_name,
    sessions, subagents_folder, transcripts_under,
};

use longhaul_testkit::corpora::corpora;

use crate::support::{at, entry, file_at, our_home};

fn said(text: &str) -> String {
    let message = format!(r#"{{"role":"user","content":{text}}}"#);
    format!(r#"{{"type":"user","uuid":"u","message":{message}}}"#)
}

#[test]
fn m3_a_project_folder_is_named_after_its_path() {
    let name = |path: &str| folder_name(Path::new(path));
    assert_eq!(name("/home/me/my_app.v2"), "-home-me-my-app-v2");
    assert_eq!(name("/é/😀/Ω9"), "-------9", "a dash a UTF-16 unit");
    let fits = format!("/{}", "a".repeat(199));
    assert_eq!(name(&fits), format!("-{}", "a".repeat(199)));
    let (long, longer) = (format!("{fits}/x"), format!("{fits}/y"));
    assert!(name(&long).starts_with(&format!("-{}-", "a".repeat(199))));
    assert!(name(&long).len() < 255);
    assert_ne!(name(&long), name(&longer));
    assert_eq!(name(&long), name(&long));
}

#[test]
fn g2_homes_come_from_the_environment_or_the_platform() {
    let env = Env {
        user_home: Some("/home/me".into()),
        data_folder: Some("/home/me/.local/share".into()),
        ..Env::default()
    };
    let longhaul = Home::longhaul(&env).unwrap();
    assert_eq!(longhaul.root(), Path::new("/home/me/.local/share/longhaul"));
    assert_eq!(longhaul.owner(), HomeOwner::Longhaul);
    let claude = Home::claude(&env).unwrap();
    assert_eq!(claude.projects(), Path::new("/home/me/.claude/projects"));
    assert_eq!(
        claude.project_folder(Path::new("/work")),
        Path::new("/home/me/.claude/projects/-work")
    );

    let set = Env {
        longhaul_home: Some("/ours".into()),
        claude_config_dir: Some("/theirs".into()),
        claude_project_dir_name: Some("shared".into()),
        ..env.clone()
    };
    assert_eq!(Home::longhaul(&set).unwrap().root(), Path::new("/ours"));
    let claude = Home::claude(&set).unwrap();
    assert_eq!(
        claude.project_folder(Path::new("/work")),
        Path::new("/theirs/projects/shared")
    );
    let blank = Env {
        longhaul_home: Some(OsString::new()),
        ..env
    };
    assert_eq!(
        Home::longhaul(&blank).unwrap(),
        longhaul,
        "empty is not set"
    );
}

#[test]
fn g2_homes_that_cannot_be_used_are_refused() {
    let nothing = Env::default();
    assert!(matches!(
        Home::longhaul(&nothing),
        Err(HomeError::Unknown { .. })
    ));
    assert!(matches!(
        Home::claude(&nothing),
        Err(HomeError::Unknown { .. })
    ));
    let one_folder = Env {
        longhaul_home: Some("/home/me/.claude".into()),
        user_home: Some("/home/me".into()),
        ..Env::default()
    };
    assert!(matches!(
        Home::longhaul(&one_folder),
        Err(HomeError::NotOurs { .. })
    ));
    for name in ["../x", "a/b", "..", "/"] {
        let hostile = Env {
            claude_project_dir_name: Some(name.into()),
            user_home: Some("/home/me".into()),
            ..Env::default()
        };
        let error = Home::claude(&hostile).unwrap_err();
        assert!(matches!(error, HomeError::BadProjectName { .. }), "{name}");
    }
}

#[test]
fn m3_sessions_of_a_project_are_listed_newest_first() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("projects/-work");
    let tags = said(r#""<command-name>/clear</command-name>""#);
    let meta = r#"{"type":"user","isMeta":true,"message":{"content":"hidden"}}"#;
    let blocks = said(
        r#"[{"type":"tool_result","content":"no"},{"type":"text","text":" Fix \"it\"\nnow"}]"#,
    );
    file_at(
        &folder.join("old.jsonl"),
        &format!("{tags}\n{meta}\n{{bad\n{blocks}\n"),
        100,
    );
    file_at(
        &folder.join("new.jsonl"),
        &said(&format!("\"{}\"", "x".repeat(500))),
        200,
    );
    file_at(&folder.join("empty.jsonl"), "", 150);
    file_at(&folder.join("agent-a1.jsonl"), "", 300);
    file_at(&folder.join("notes.txt"), "", 300);
    let old_agents = subagents_folder(&folder.join("old.jsonl"));
    file_at(&old_agents.join("agent-1.jsonl"), "", 1);
    file_at(&old_agents.join("agent-2.jsonl"), "", 1);
    file_at(&old_agents.join("agent-2.meta.json"), "", 1);

    let list = sessions(&folder);
    assert!(list.problems.is_empty());
    let ids: Vec<&str> = list.sessions.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["new", "empty", "old"]);
    let [new, empty, old] = &list.sessions[..] else {
        unreachable!()
    };
    assert_eq!(old.title.as_deref(), Some("Fix \"it\""));
    assert_eq!((old.subagents, old.modified), (2, at(100)));
    assert_eq!(old.size, old.path.metadata().unwrap().len());
    assert_eq!(
        new.title.as_ref().map(|title| title.chars().count()),
        Some(101)
    );
    assert_eq!((empty.title.as_ref(), empty.size), (None, 0));
    assert!(sessions(&folder.join("none")).sessions.is_empty());
}

#[test]
#[cfg(unix)]
fn m3_links_in_a_circle_are_reported_and_do_not_stop_a_list() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("projects/-work");
    file_at(&folder.join("a.jsonl"), &entry("a", None), 100);
    symlink("loop.jsonl", folder.join("loop.jsonl")).unwrap();
    symlink(root.path(), folder.join("up")).unwrap();
    let list = sessions(&folder);
    assert_eq!(list.sessions.len(), 1);
    assert_eq!(list.problems.len(), 1);
    assert!(list.problems[0].to_string().contains("loop.jsonl"));
    let found = transcripts_under(root.path());
    assert_eq!(found.paths, [folder.join("a.jsonl")]);
    assert_eq!(found.problems.len(), 1);
}

#[test]
fn m3_transcripts_under_a_folder_are_found_at_any_depth_and_sorted() {
    let root = tempfile::tempdir().unwrap();
    let names = [
        "a.jsonl",
        "b/c.jsonl",
        "b/c/subagents/agent-1.jsonl",
        "d.jsonl",
    ];
    for name in names.iter().rev() {
        file_at(&root.path().join(name), "", 1);
    }
    file_at(&root.path().join("b/e.json"), "", 1);
    let mut expected: Vec<PathBuf> = names.iter().map(|name| root.path().join(name)).collect();
    expected.sort();
    assert_eq!(transcripts_under(root.path()).paths, expected);
    let missing = transcripts_under(&root.path().join("none"));
    assert_eq!((missing.paths.len(), missing.problems.len()), (0, 1));
    let Some(corpora) = corpora() else { return };
    assert_eq!(
        transcripts_under(&corpora.join("claude-code")).paths.len(),
        18
    );
}

#[test]
fn m3_the_sessions_of_the_corpora_are_listed_with_their_sub_agents() {
    let Some(corpora) = corpora() else { return };
    let list = sessions(&corpora.join("claude-code/spotter"));
    assert!(list.problems.is_empty());
    let long = list
        .sessions
        .iter()
        .find(|s| s.id.as_str().starts_with("fa812bfe"));
    assert_eq!(long.unwrap().subagents, 3);
    assert!(list.sessions.iter().filter(|s| s.title.is_some()).count() >= 3);
}

#[test]
fn m3_a_session_is_found_by_its_id_or_by_the_beginning_of_it() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ours = our_home(one.path());
    let theirs = Home::at(two.path(), HomeOwner::ClaudeCode).unwrap();
    let path = |home: &Home, id: &str| home.transcript("-work", &SessionId::parse(id).unwrap());
    for (home, id) in [
        (&ours, "abc"),
        (&ours, "abcd"),
        (&theirs, "xyz1"),
        (&theirs, "xyz2"),
    ] {
        file_at(&path(home, id), "", 1);
    }
    file_at(&path(&ours, "both"), "", 1);
    file_at(&path(&theirs, "both"), "", 1);
    let find = |id: &str| find_session(&[&ours, &theirs], id);

    assert_eq!(find("abc").unwrap(), path(&ours, "abc"), "a whole id wins");
    assert_eq!(find("abcd").unwrap(), path(&ours, "abcd"));
    assert_eq!(find("xyz2").unwrap(), path(&theirs, "xyz2"));
    let Err(FindError::Ambiguous { candidates, .. }) = find("xyz") else {
        panic!("two sessions begin like this");
    };
    assert_eq!(candidates, [path(&theirs, "xyz1"), path(&theirs, "xyz2")]);
    let both = find("both").unwrap_err();
    assert!(both.to_string().contains("give more of the id"), "{both}");
    let none = find("nope").unwrap_err();
    assert!(matches!(none, FindError::NotFound { .. }));
    assert!(none.to_string().contains("nope"), "{none}");
}

#[test]
fn m3_ids_that_lead_elsewhere_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let home = our_home(root.path());
    for hostile in [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "/etc/passwd",
        "a\0b",
        "a..b",
        ".x",
        "a\nb",
        "C:x",
    ] {
        let error = find_session(&[&home], hostile).unwrap_err();
        assert!(matches!(error, FindError::BadId(_)), "{hostile:?}");
    }
    assert!(SessionId::parse(&"a".repeat(300)).is_err());
    assert!(SessionId::parse("4d5611e5-241a-462a-8d15-5122611a9569").is_ok());
}

#[test]
fn m3_a_long_project_path_is_recognized_by_what_its_entries_say() {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path(), HomeOwner::ClaudeCode).unwrap();
    let working_folder = PathBuf::from(format!("/{}/project", "deep".repeat(60)));
    let other = PathBuf::from(format!("/{}/other", "deep".repeat(60)));
    let cut = &folder_name(&working_folder)[..200];
    let cwd = |path: &Path| {
        format!(
            "{{\"type\":\"mode\"}}\n{{\"cwd\":{:?}}}\n",
            path.display().to_string()
        )
    };
    let right = home.projects().join(format!("{cut}-k3j9x"));
    file_at(&right.join("s.jsonl"), &cwd(&working_folder), 1);
    file_at(
        &home.projects().join(format!("{cut}-zzz/s.jsonl")),
        &cwd(&other),
        1,
    );
    assert_eq!(
        home.find_project(&working_folder).0,
        std::slice::from_ref(&right)
    );

    let own = home.project_folder(&working_folder);
    file_at(&own.join("s.jsonl"), "", 1);
    assert_eq!(home.find_project(&working_folder).0.len(), 2);
    let short = Path::new("/short");
    assert!(home.find_project(short).0.is_empty());
    file_at(&home.project_folder(short).join("s.jsonl"), "", 1);
    assert_eq!(home.find_project(short).0, [home.projects().join("-short")]);
}

#[test]
fn s1_notes_lie_in_the_folder_of_their_session() {
    let files = NotesFiles::of_transcript(Path::new("/h/projects/-p/aaaa.jsonl"));
    let folder = Path::new("/h/projects/-p/aaaa/session-memory");
    assert_eq!(files.notes(), folder.join("summary.md"));
    assert_eq!(files.progress(), folder.join("progress.json"));
    assert_eq!(files.template(), folder.join("config/template.md"));
    assert_eq!(files.prompt(), folder.join("config/prompt.md"));
}
