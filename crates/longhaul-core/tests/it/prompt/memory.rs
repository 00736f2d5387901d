//! Tests the search for memory files (A4), on a disk that is a table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longhaul_core::prompt::memory::{
    ContentUnavailable, FileReach, FoundMemoryFiles, MemoryFileContent, MemoryFileKind,
    MemoryFileNotice, MemoryFileSearch, ReadAuthority, SessionFolders, TextEncoding,
    is_memory_file,
};
use proptest::prelude::*;

fn places() -> SessionFolders {
    SessionFolders {
        user_home: Some("/u".into()),
        claude_home: Some("/u/.claude".into()),
        longhaul_home: Some("/u/data/longhaul".into()),
        project_root: "/p".into(),
        cwd: "/p/a/b".into(),
    }
}

/// Searches a disk, given as paths and texts. A text `-> path` is a link.
fn find(disk: &[(&str, &str)]) -> FoundMemoryFiles {
    let disk: BTreeMap<_, _> = disk.iter().copied().collect();
    find_in(&places(), |path| {
        disk.get(path.to_str().unwrap())
            .map(|text| match text.strip_prefix("-> ") {
                Some(to) => (disk[to].to_owned(), PathBuf::from(to)),
                None => ((*text).to_owned(), path.to_owned()),
            })
    })
}

fn find_in(
    places: &SessionFolders,
    read: impl Fn(&Path) -> Option<(String, PathBuf)>,
) -> FoundMemoryFiles {
    let mut search = MemoryFileSearch::new(places);
    for _ in 0..20 {
        for wanted in search.wanted() {
            let content = read(&wanted.path).map(|(text, real)| content(text, real));
            search.supply(&wanted, content.ok_or(ContentUnavailable::Missing));
        }
    }
    assert!(search.wanted().is_empty(), "it comes to an end");
    search.finish()
}

fn content(text: String, real: PathBuf) -> MemoryFileContent {
    MemoryFileContent {
        text,
        encoding: TextEncoding::Exact,
        unread_bytes: 0,
        reach: match () {
            () if real.starts_with("/p") => FileReach::Project,
            () if real.starts_with("/u") => FileReach::Home,
            () => FileReach::Elsewhere,
        },
        real,
    }
}

fn paths(found: &FoundMemoryFiles) -> Vec<&str> {
    found
        .files
        .iter()
        .map(|file| file.path.to_str().unwrap())
        .collect()
}

#[test]
fn a4_files_are_sent_from_the_user_to_the_project_to_the_users_own_for_it() {
    let names = [
        "/u/.claude/CLAUDE.md",
        "/u/data/longhaul/CLAUDE.md",
        "/u/data/longhaul/AGENTS.md",
        "/p/CLAUDE.md",
        "/p/.claude/CLAUDE.md",
        "/p/AGENTS.md",
        "/p/a/CLAUDE.md",
        "/p/a/b/AGENTS.md",
        "/p/CLAUDE.local.md",
        "/p/a/b/CLAUDE.local.md",
    ];
    let mut disk: Vec<_> = names.iter().map(|name| (*name, *name)).collect();
    disk.extend([("/CLAUDE.md", "above"), ("/p/c/CLAUDE.md", "beside")]);
    let found = find(&disk);
    assert_eq!(paths(&found), names);
    let kinds: Vec<_> = found.files.iter().map(|file| file.kind).collect();
    assert_eq!(
        kinds[..4],
        [
            MemoryFileKind::User,
            MemoryFileKind::User,
            MemoryFileKind::User,
            MemoryFileKind::Project
        ]
    );
    assert_eq!(kinds[8..], [MemoryFileKind::Local, MemoryFileKind::Local]);
    assert!(found.notices.is_empty());
    assert!(names.iter().all(|name| is_memory_file(Path::new(name))));
    assert!(!is_memory_file(Path::new("/p/CLAUDE.md/README.md")));
}

#[test]
fn a4_an_import_stands_behind_the_file_that_imports_it() {
    let found = find(&[
        ("/p/CLAUDE.md", "See @docs/one.md and @~/two.md."),
        ("/p/docs/one.md", "One imports @./deeper.md"),
        ("/p/docs/deeper.md", "Deeper"),
        ("/u/two.md", "Two"),
        ("/p/AGENTS.md", "Last"),
    ]);
    assert_eq!(
        paths(&found),
        [
            "/p/CLAUDE.md",
            "/p/docs/one.md",
            "/p/docs/deeper.md",
            "/u/two.md",
            "/p/AGENTS.md"
        ]
    );
    let by = found.files[2].imported_by.as_deref();
    assert_eq!(by, Some(Path::new("/p/docs/one.md")));
}

#[test]
fn a4_a_file_that_another_one_imports_or_links_to_is_not_sent_twice() {
    let imported = find(&[("/p/CLAUDE.md", "@AGENTS.md"), ("/p/AGENTS.md", "rules")]);
    assert_eq!(paths(&imported), ["/p/CLAUDE.md", "/p/AGENTS.md"]);
    let importing = find(&[
        ("/p/CLAUDE.md", "rules"),
        ("/p/AGENTS.md", "and @CLAUDE.md"),
    ]);
    assert_eq!(paths(&importing), ["/p/CLAUDE.md", "/p/AGENTS.md"]);
    let link = find(&[
        ("/p/CLAUDE.md", "-> /p/AGENTS.md"),
        ("/p/AGENTS.md", "rules"),
    ]);
    assert_eq!(paths(&link), ["/p/CLAUDE.md"]);
    let name = find(&[("/p/CLAUDE.md", "AGENTS.md\n"), ("/p/AGENTS.md", "rules")]);
    assert_eq!(paths(&name), ["/p/AGENTS.md"], "a link that became a text");
    let copy = find(&[("/p/CLAUDE.md", "rules\n"), ("/p/AGENTS.md", "rules")]);
    assert_eq!(paths(&copy), ["/p/CLAUDE.md"]);
    assert!(matches!(
        copy.notices[..],
        [MemoryFileNotice::SameText { .. }]
    ));
    for found in [&imported, &importing, &link, &name] {
        assert!(found.notices.is_empty(), "{:?}", found.notices);
    }
}

#[test]
fn a4_imports_go_round_in_circles_once_and_five_deep() {
    let circle = find(&[
        ("/p/CLAUDE.md", "1 @b.md"),
        ("/p/b.md", "2 @c.md @b.md"),
        ("/p/c.md", "3 @CLAUDE.md"),
    ]);
    assert_eq!(paths(&circle), ["/p/CLAUDE.md", "/p/b.md", "/p/c.md"]);
    let chain: Vec<_> = (0..8)
        .map(|n| (format!("/p/{n}.md"), format!("@{}.md {n}", n + 1)))
        .collect();
    let mut disk = vec![("/p/CLAUDE.md", "@0.md")];
    disk.extend(
        chain
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let found = find(&disk);
    assert_eq!(found.files.len(), 6);
    let [notice @ MemoryFileNotice::TooDeep { path, .. }] = &found.notices[..] else {
        panic!("{:?}", found.notices)
    };
    assert_eq!(path, Path::new("/p/5.md"));
    assert!(notice.to_string().contains("5 files deep"));
}

#[test]
fn a4_what_is_missing_or_from_outside_is_told_and_a_mere_name_is_not() {
    let found = find(&[
        ("/u/.claude/CLAUDE.md", "@~/mine.md @/etc/motd.md"),
        ("/u/mine.md", "mine"),
        ("/etc/motd.md", "elsewhere"),
        (
            "/p/CLAUDE.md",
            "Ask @alice about @gone.md and @~/.ssh/key, `@code.md` aside.",
        ),
        ("/u/.ssh/key", "secret"),
    ]);
    let told: Vec<_> = found
        .notices
        .iter()
        .map(MemoryFileNotice::to_string)
        .collect();
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told[0].contains("/etc/motd.md"));
    assert!(told[1].contains("/p/gone.md, which does not exist"));
    assert!(told[2].contains("/p/CLAUDE.md imports /u/.ssh/key"));
    assert_eq!(found.files.len(), 5, "told, and sent all the same");
}

#[test]
fn a4_a_thousand_imports_are_not_followed() {
    let text: String = (0..1000).map(|n| format!("@{n}.md\n")).collect();
    let found = find_in(&places(), |path| match path.file_name()?.to_str()? {
        "CLAUDE.md" => (path.starts_with("/p/a/b/CLAUDE.md")).then(|| (text.clone(), path.into())),
        name if is_memory_file(path) && name != "CLAUDE.md" => None,
        name => Some((name.to_owned(), path.into())),
    });
    assert_eq!(found.files.len(), 101);
    assert!(matches!(
        found.notices[..],
        [MemoryFileNotice::TooMany { most: 100, .. }]
    ));
}

#[test]
fn a4_front_matter_is_not_sent_and_imports_nothing() {
    let found = find(&[
        (
            "/p/CLAUDE.md",
            "---\ndescription: see @no.md\n---\nText @yes.md",
        ),
        ("/p/yes.md", "yes"),
    ]);
    assert_eq!(found.files[0].text, "Text @yes.md");
    assert_eq!(paths(&found), ["/p/CLAUDE.md", "/p/yes.md"]);
}

#[test]
fn a4_a_working_directory_outside_the_project_adds_its_own_files() {
    let outside = SessionFolders {
        cwd: "/q/r".into(),
        ..places()
    };
    let found = find_in(&outside, |path| {
        let text = path.display().to_string();
        (path.ends_with("AGENTS.md") && !path.starts_with("/u")).then(|| (text, path.into()))
    });
    assert_eq!(paths(&found), ["/p/AGENTS.md", "/q/r/AGENTS.md"]);
}

#[test]
fn a4_it_is_known_on_whose_word_a_file_is_read() {
    let disk = [
        ("/u/.claude/CLAUDE.md", "@~/mine.md @/p/shared.md"),
        ("/u/mine.md", "@~/deep.md"),
        ("/u/deep.md", "Deep"),
        ("/p/shared.md", "Shared @~/taken.md"),
        ("/u/taken.md", "Taken"),
        // The project asks for `deep.md` in an earlier round than the user's own files.
        ("/p/CLAUDE.md", "Rules @~/deep.md @~/key"),
        ("/p/CLAUDE.local.md", "Local @~/other"),
    ];
    let disk: BTreeMap<_, _> = disk.into_iter().collect();
    let mut search = MemoryFileSearch::new(&places());
    let mut asked = BTreeMap::new();
    for _ in 0..10 {
        for wanted in search.wanted() {
            let path = wanted.path.to_str().unwrap().to_owned();
            let known = disk.get(&*path).copied();
            let outside = wanted.authority == ReadAuthority::Project && !path.starts_with("/p");
            let supplied = match known {
                _ if outside => Err(ContentUnavailable::NotAgreed {
                    real: wanted.path.clone(),
                }),
                Some(text) => Ok(content(text.to_owned(), wanted.path.clone())),
                None => Err(ContentUnavailable::Missing),
            };
            search.supply(&wanted, supplied);
            asked.insert((path, wanted.authority == ReadAuthority::User), ());
        }
    }
    let by_user = |path: &str| asked.contains_key(&(path.to_owned(), true));
    let by_project = |path: &str| asked.contains_key(&(path.to_owned(), false));
    assert!(by_user("/u/mine.md") && by_user("/u/deep.md"));
    assert!(
        by_project("/u/taken.md") && !by_user("/u/taken.md"),
        "the project's file speaks for the project"
    );
    assert!(by_project("/u/key") && by_project("/u/other"));
    let found = search.finish();
    assert_eq!(
        paths(&found),
        [
            "/u/.claude/CLAUDE.md",
            "/u/mine.md",
            "/u/deep.md",
            "/p/shared.md",
            "/p/CLAUDE.md",
            "/p/CLAUDE.local.md"
        ],
        "what the user imports is sent although the project may not have it"
    );
    let refused = found
        .notices
        .iter()
        .filter(|it| matches!(it, MemoryFileNotice::NotAgreed { .. }));
    assert_eq!(refused.count(), 3, "{:?}", found.notices);
}

#[test]
fn a4_what_was_never_supplied_is_told() {
    let found = MemoryFileSearch::new(&places()).finish();
    assert!(found.files.is_empty() && found.notices.len() == 15);
}

#[test]
fn a4_a_file_that_is_imported_often_counts_once() {
    let often = "@one.md\n".repeat(2_000) + "@two.md\n";
    let found = find(&[
        ("/p/CLAUDE.md", &often),
        ("/p/one.md", "One."),
        ("/p/two.md", "Two."),
    ]);
    assert_eq!(paths(&found), ["/p/CLAUDE.md", "/p/one.md", "/p/two.md"]);
    assert!(found.notices.is_empty(), "{:?}", found.notices);
}

#[test]
fn a4_what_was_repaired_or_read_in_part_is_told() {
    let found = |encoding: TextEncoding, unread_bytes: u64| {
        let mut search = MemoryFileSearch::new(&places());
        for wanted in search.wanted() {
            let is_file = wanted.path == Path::new("/p/CLAUDE.md");
            let content = is_file.then(|| MemoryFileContent {
                encoding,
                unread_bytes,
                ..content("Use tabs.".into(), wanted.path.clone())
            });
            search.supply(&wanted, content.ok_or(ContentUnavailable::Missing));
        }
        search.finish().notices
    };
    let path = PathBuf::from("/p/CLAUDE.md");
    assert_eq!(found(TextEncoding::Exact, 0), []);
    assert_eq!(
        found(TextEncoding::Repaired, 0),
        [MemoryFileNotice::Repaired { path: path.clone() }]
    );
    assert_eq!(
        found(TextEncoding::Exact, 7),
        [MemoryFileNotice::ReadInPart {
            path,
            unread_bytes: 7
        }]
    );
}

#[test]
fn c1_a_file_that_is_read_brings_the_memory_files_of_its_own_folders_only() {
    let search = MemoryFileSearch::nested(&places(), Path::new("/p/a/c/d/x.rs"));
    let wanted: Vec<PathBuf> = search.wanted().into_iter().map(|one| one.path).collect();
    for own in ["/p/a/c/CLAUDE.md", "/p/a/c/d/CLAUDE.md"] {
        assert!(wanted.contains(&PathBuf::from(own)), "{wanted:?}");
    }
    // Every session has the files of the folders above.
    let mut wanted = wanted.iter();
    assert!(wanted.all(|path| path.starts_with("/p/a/c")), "{wanted:?}");
}

proptest! {
    #[test]
    fn a4_any_web_of_imports_ends_and_the_order_of_reading_does_not_matter(
        links in prop::collection::vec(prop::collection::vec(0usize..12, 0..5), 12),
        reversed in any::<bool>(),
    ) {
        let name = |n: usize| match n {
            0 => "/p/CLAUDE.md".to_owned(),
            1 => "/p/AGENTS.md".to_owned(),
            _ => format!("/p/{n}.md"),
        };
        let disk: BTreeMap<_, _> = links.iter().enumerate().map(|(n, to)| {
            let text: String = to.iter().map(|to| format!("@{}\n", name(*to))).collect();
            (PathBuf::from(name(n)), format!("{n}\n{text}"))
        }).collect();
        let read = |path: &Path| disk.get(path).map(|text| (text.clone(), path.to_owned()));
        let found = find_in(&places(), read);
        let mut search = MemoryFileSearch::new(&places());
        while let Some(wanted) = if reversed { search.wanted().pop() } else { search.wanted().into_iter().next() } {
            let content = read(&wanted.path).map(|(text, real)| content(text, real));
            search.supply(&wanted, content.ok_or(ContentUnavailable::Missing));
        }
        prop_assert_eq!(&search.finish(), &found);
        let mut sent = paths(&found);
        sent.sort_unstable();
        sent.dedup();
        prop_assert_eq!(sent.len(), found.files.len(), "none twice");
    }

    #[test]
    fn a4_any_text_can_be_a_memory_file(text in "[@`#\\-<!>~\\n a-c./\\\\\u{e9}\u{1f600}]{0,200}") {
        let found = find_in(&places(), |path| path.ends_with("p/CLAUDE.md").then(|| (text.clone(), path.into())));
        prop_assert!(found.files.len() <= 1);
        if let Some(section) = longhaul_core::prompt::memory::compact_instructions(&text) {
            prop_assert!(text.contains(section));
        }
    }
}
