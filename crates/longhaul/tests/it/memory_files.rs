//! Memory files on a real disk (A4).

use std::fs;
use std::path::{Path, PathBuf};

use longhaul::ReadPolicy;
use longhaul::memory_files::{SessionFolders, load, load_with, places};
use longhaul_core::prompt::memory::{FoundMemoryFiles, MemoryFileKind, MemoryFileNotice};
use longhaul_core::prompt::{ContextBudget, ContextSources, UserContext};
use longhaul_store::Env;
use tempfile::TempDir;

/// A home and a project in it, and a folder beside both.
struct Disk {
    folder: TempDir,
}

impl Disk {
    fn new() -> Self {
        let disk = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(disk.at("home/project/.git")).unwrap();
        fs::create_dir_all(disk.at("home/project/part")).unwrap();
        fs::create_dir_all(disk.at("elsewhere")).unwrap();
        disk
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn places(&self) -> SessionFolders {
        let env = Env {
            user_home: Some(self.at("home")),
            data_folder: Some(self.at("home/data")),
            ..Env::default()
        };
        places(&env, &self.at("home/project/part"))
    }

    fn load(&self) -> FoundMemoryFiles {
        load(&self.places())
    }

    /// The files that were found, by their paths on this disk.
    fn paths(&self, found: &FoundMemoryFiles) -> Vec<String> {
        let below = |path: &Path| path.strip_prefix(self.folder.path()).unwrap().to_owned();
        let files = found.files.iter().map(|file| below(&file.path));
        files.map(|path| path.display().to_string()).collect()
    }
}

#[test]
fn a4_files_are_found_where_people_keep_them() {
    let disk = Disk::new();
    disk.write("home/.claude/CLAUDE.md", "user")
        .write("home/data/longhaul/AGENTS.md", "ours")
        .write("home/project/AGENTS.md", "project, see @docs/a.md")
        .write("home/project/docs/a.md", "\u{feff}imported")
        .write("home/project/part/CLAUDE.local.md", "local");
    let found = disk.load();
    assert_eq!(
        disk.paths(&found),
        [
            "home/.claude/CLAUDE.md",
            "home/data/longhaul/AGENTS.md",
            "home/project/AGENTS.md",
            "home/project/docs/a.md",
            "home/project/part/CLAUDE.local.md",
        ]
    );
    assert_eq!(
        found.files[3].text, "imported",
        "without the byte order mark"
    );
    assert_eq!(found.files[4].kind, MemoryFileKind::Local);
    assert!(found.notices.is_empty(), "{:?}", found.notices);
}

#[test]
fn a4_no_files_is_no_context() {
    let found = Disk::new().load();
    assert!(found.files.is_empty() && found.notices.is_empty());
}

#[test]
fn a4_what_cannot_be_used_is_told_and_the_rest_is_there() {
    let disk = Disk::new();
    disk.write(
        "home/project/CLAUDE.md",
        "Rules @gone.md @part @/dev/zero @picture.png @latin.md",
    )
    .write("home/project/picture.png", b"\x89PNG\0\0")
    .write("home/project/latin.md", b"caf\xe9");
    let found = disk.load();
    assert_eq!(
        disk.paths(&found),
        ["home/project/CLAUDE.md", "home/project/latin.md"]
    );
    assert_eq!(found.files[1].text, "caf\u{fffd}");
    let told: Vec<_> = found
        .notices
        .iter()
        .map(MemoryFileNotice::to_string)
        .collect();
    let wanted = [
        "does not exist",
        "a folder",
        "a device",
        "not a text",
        "not UTF-8",
    ];
    assert_eq!(told.len(), wanted.len(), "{told:#?}");
    for (told, wanted) in told.iter().zip(wanted) {
        assert!(told.contains(wanted), "{told}");
    }
}

#[cfg(unix)]
#[test]
fn a4_a_pipe_is_not_waited_for() {
    let disk = Disk::new();
    let pipe = disk.at("home/project/AGENTS.md");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let found = disk.load();
    assert!(found.files.is_empty());
    assert!(
        matches!(&found.notices[..], [MemoryFileNotice::Unusable { path, .. }] if *path == pipe)
    );
}

#[cfg(unix)]
#[test]
fn a4_a_link_is_the_file_it_leads_to() {
    use std::os::unix::fs::symlink;
    let disk = Disk::new();
    disk.write("home/project/AGENTS.md", "rules");
    symlink("AGENTS.md", disk.at("home/project/CLAUDE.md")).unwrap();
    symlink("nowhere.md", disk.at("home/project/part/AGENTS.md")).unwrap();
    symlink("CLAUDE.md", disk.at("home/project/part/CLAUDE.md")).unwrap();
    let found = disk.load();
    assert_eq!(disk.paths(&found), ["home/project/CLAUDE.md"]);
    assert!(
        matches!(&found.notices[..], [MemoryFileNotice::Unusable { path, .. }] if path.ends_with("part/CLAUDE.md")),
        "a link to itself: {:?}",
        found.notices
    );
}

#[cfg(unix)]
#[test]
fn a4_what_comes_from_outside_is_not_read_on_the_projects_word_however_it_gets_in() {
    use std::os::unix::fs::symlink;
    let disk = Disk::new();
    let elsewhere = disk.at("elsewhere/secret.md");
    disk.write("elsewhere/secret.md", "secret")
        .write("elsewhere/linked.md", "linked")
        .write("home/notes.md", "of the home")
        .write(
            "home/project/CLAUDE.md",
            format!(
                "@{} @~/notes.md @../../home/project/in.md",
                elsewhere.display()
            ),
        )
        .write("home/project/in.md", "in the project after all");
    symlink(
        disk.at("elsewhere/linked.md"),
        disk.at("home/project/AGENTS.md"),
    )
    .unwrap();
    let found = disk.load();
    assert_eq!(
        disk.paths(&found),
        [
            "home/project/CLAUDE.md",
            "home/project/../../home/project/in.md"
        ]
    );
    let told: Vec<_> = found
        .notices
        .iter()
        .map(MemoryFileNotice::to_string)
        .collect();
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told[0].contains("secret.md") && told[1].contains("notes.md"));
    assert!(told[2].contains("is a link to"));
    assert!(told.iter().all(|it| it.contains("nobody has agreed to it")));
    // The user agreed to one of them.
    let agreed = fs::canonicalize(&elsewhere).unwrap();
    let policy = ReadPolicy::default().agreeing(move |real| real == agreed);
    let found = load_with(&disk.places(), &policy);
    assert!(found.files.iter().any(|file| file.text == "secret"));
    assert_eq!(found.files.len(), 3);
}

#[cfg(unix)]
#[test]
fn a4_no_chain_of_links_and_parents_leads_out_of_the_project() {
    use std::os::unix::fs::symlink;
    let disk = Disk::new();
    disk.write("home/.ssh/id_rsa", "KEY")
        .write("elsewhere/deep/x.md", "KEY")
        .write("home/project/docs/ok.md", "@link/../../.ssh/id_rsa @out/x.md @hop.md")
        .write(
            "home/project/CLAUDE.md",
            "@docs/../../.ssh/id_rsa @docs/ok.md @~/.ssh/id_rsa @./docs/./../docs/up/id_rsa @/proc/self/environ",
        );
    symlink(disk.at("elsewhere/deep"), disk.at("home/project/docs/out")).unwrap();
    symlink(disk.at("home/.ssh"), disk.at("home/project/docs/up")).unwrap();
    symlink(".", disk.at("home/project/docs/link")).unwrap();
    symlink("out/x.md", disk.at("home/project/docs/hop.md")).unwrap();
    symlink(
        disk.at("home/.ssh/id_rsa"),
        disk.at("home/project/part/CLAUDE.local.md"),
    )
    .unwrap();
    symlink(disk.at("home/.ssh"), disk.at("home/project/.claude")).unwrap();
    disk.write("home/.ssh/CLAUDE.md", "KEY");
    let found = disk.load();
    assert!(
        found.files.iter().all(|file| !file.text.contains("KEY")),
        "{:?}",
        found.files
    );
    assert_eq!(found.files.len(), 2, "{:?}", found.files);
    // What the user's own file imports counts as the user's wish.
    disk.write("home/.claude/CLAUDE.md", "@~/.ssh/id_rsa");
    assert!(disk.load().files.iter().any(|file| file.text == "KEY"));
}

#[test]
fn a4_no_memory_file_is_read_past_a_rule_that_forbids_it() {
    let disk = Disk::new();
    disk.write("home/.claude/CLAUDE.md", "mine @secret.md")
        .write("home/.claude/secret.md", "secret")
        .write("home/project/CLAUDE.md", "rules @keys/secret.md")
        .write("home/project/keys/secret.md", "secret too");
    let policy = ReadPolicy::default().denying(|path| path.ends_with("secret.md"));
    let found = load_with(&disk.places(), &policy);
    assert_eq!(found.files.len(), 2, "{:?}", found.files);
    let denied = |notice: &MemoryFileNotice| matches!(notice, MemoryFileNotice::Denied { .. });
    assert!(found.notices.len() == 2 && found.notices.iter().all(denied));
}

#[test]
fn a4_a_repository_that_holds_the_whole_home_is_nobodys_project() {
    let disk = Disk::new();
    fs::create_dir_all(disk.at("home/.git")).unwrap();
    disk.write("home/loose/CLAUDE.md", "@~/.ssh/id_rsa")
        .write("home/.ssh/id_rsa", "KEY");
    let env = Env {
        user_home: Some(disk.at("home")),
        ..Env::default()
    };
    let found = load(&places(&env, &disk.at("home/loose")));
    assert_eq!(found.files.len(), 1, "{:?}", found.files);
}

#[test]
fn a4_of_a_huge_file_only_what_fits_is_read() {
    let disk = Disk::new();
    disk.write(
        "home/project/AGENTS.md",
        "Ein Satz über Öl.\n".repeat(30_000),
    );
    let file = fs::OpenOptions::new()
        .write(true)
        .open(disk.at("home/project/AGENTS.md"));
    file.unwrap().set_len(100_000_000).unwrap();
    let found = disk.load();
    let [file] = &found.files[..] else {
        panic!("{:?}", found.notices)
    };
    let most = ContextBudget::FULL.most_bytes_of_a_file();
    assert!(file.text.len() as u64 <= most && file.text.len() as u64 + 4 > most);
    assert_eq!(file.unread_bytes, 100_000_000 - most);
    assert!(matches!(
        found.notices[..],
        [MemoryFileNotice::ReadInPart { .. }]
    ));
    let sources = ContextSources {
        memory: &found.files,
        ..ContextSources::default()
    };
    let context = UserContext::new(&sources, ContextBudget::FULL).unwrap();
    assert_eq!(context.cuts.len(), 1);
    assert!(context.memory_weight.padded() <= 40_000);
}

#[test]
fn a4_a_project_is_the_repository_around_a_folder_or_the_folder() {
    let disk = Disk::new();
    assert_eq!(disk.places().project_root, disk.at("home/project"));
    let alone = places(&Env::default(), &disk.at("elsewhere"));
    assert_eq!(alone.project_root, disk.at("elsewhere"));
}
