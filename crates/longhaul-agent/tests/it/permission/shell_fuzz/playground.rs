//! A folder in which commands are run that were considered harmless, and what it detects: programs, changes, opened
//! files, texts that nobody should see.

use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use super::attacks::Attack;

/// The wrapper that the Bash tool runs commands in.
const WRAPPER: &str = include_str!("../../../../src/tools/bash/wrapper.sh");

/// Runs one case after the other, each in its own shell as far as a command can tell.
const DRIVER: &str = r#"
while IFS= read -r -d '' longhaul_folder && IFS= read -r -d '' longhaul_command; do
    ( builtin cd "$longhaul_folder" && set -- "$longhaul_command" /dev/null && eval "$LONGHAUL_WRAPPER" ) </dev/null
done <"$1"
"#;

/// Marks the contents and names of files outside, and of files that rules deny.
const OUTSIDE: &str = "CANARY-OUTSIDE";
const DENIED: &str = "CANARY-DENIED";

const LOOKING: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "find",
    "stat",
    "du",
    "file",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "which",
    "cut",
    "tr",
    "nl",
    "tac",
    "rev",
    "cmp",
    "diff",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "od",
    "hexdump",
    "strings",
    "sort",
    "uniq",
    "sed",
    "date",
    "whoami",
    "id",
    "uname",
    "hostname",
    "nproc",
    "tree",
    "git",
    "nice",
    "nohup",
    "timeout",
    "time",
    "sleep",
    "true",
    "false",
    "echo",
    "printf",
    "test",
    "[",
    "pwd",
];
const OTHERS: &[&str] = &[
    "pwn", "touch", "rm", "sh", "bash", "env", "xargs", "awk", "python3", "tee", "cp", "mv", "ln",
    "mkdir", "curl", "make", "pr",
];

/// Whether commands of this playground may write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writes {
    None,
    Inside,
}

/// Whether rules deny files in this playground.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Denies {
    Nothing,
    Files,
}

/// A command, and the folder that the shell is in.
pub(super) struct Case {
    pub(super) command: String,
    pub(super) folder: PathBuf,
}

pub(super) struct Playground {
    root: PathBuf,
    _folder: tempfile::TempDir,
    writes: Writes,
    denies: Denies,
}

pub(super) fn is_possible() -> bool {
    cfg!(target_os = "linux") && Path::new("/bin/bash").exists()
}

/// The playground that a folder of its project belongs to.
pub(super) fn root_of(folder: &Path) -> PathBuf {
    let project = folder.ancestors().find(|path| path.ends_with("project"));
    project.and_then(Path::parent).unwrap().to_owned()
}

impl Playground {
    pub(super) fn new(writes: Writes, denies: Denies) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self {
            root: folder.path().canonicalize().unwrap(),
            _folder: folder,
            writes,
            denies,
        };
        world.build();
        let bin = world.root.join("bin");
        fs::create_dir(&bin).unwrap();
        let log = world.root.join("log");
        for name in LOOKING.iter().chain(OTHERS) {
            let real = ["/usr/bin", "/bin", "/usr/local/bin"]
                .iter()
                .map(|folder| Path::new(folder).join(name))
                .find(|path| path.exists() && LOOKING.contains(name));
            let job = real.map_or("exit 0".to_owned(), |real| {
                format!("exec '{}' \"$@\"", real.display())
            });
            let text = format!("#!/bin/sh\necho '{name}' >>'{}'\n{job}\n", log.display());
            fs::write(bin.join(name), text).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        world
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(super) fn case(&self, attack: &Attack) -> Case {
        Case {
            command: attack.command.to_owned(),
            folder: self.project().join(attack.folder),
        }
    }

    /// Creates the folders again.
    fn build(&self) {
        for folder in ["project", "outside", "home"] {
            let _ = fs::remove_dir_all(self.root.join(folder));
        }
        let denied = format!("{DENIED}\n");
        let outside = format!("{OUTSIDE}\n");
        for (path, text) in [
            ("project/a.txt", "one\ntwo\n"),
            ("project/b.txt", "two\nthree\n"),
            ("project/n", "1\n"),
            ("project/locked.txt", "locked\n"),
            ("project/src/main.rs", "fn main() {}\n"),
            ("project/src/lib.rs", "// one\n"),
            ("project/docs/sub/x.txt", "x\n"),
            ("project/nest/y.txt", "y\n"),
            ("project/twin/a.txt", "one\n"),
            ("project/vault/key.txt", "other\n"),
            ("project/.env", denied.as_str()),
            ("project/secret/key.txt", denied.as_str()),
            ("outside/CANARY-OUTSIDE-name", outside.as_str()),
            ("outside/f", outside.as_str()),
            ("outside/a.txt", outside.as_str()),
            ("home/f", outside.as_str()),
        ] {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for (link, target) in [
            ("link", "../outside"),
            ("linkfile", "../outside/f"),
            ("docs/sub/up", "../../../outside"),
            ("nest/nest", "../../outside"),
            ("twin/b.txt", "../../outside/f"),
            ("deep", "docs/sub"),
            ("inner", "src"),
        ] {
            symlink(target, self.project().join(link)).unwrap();
        }
        fs::create_dir_all(self.root.join("project/odd")).unwrap();
        fs::write(self.root.join("project/odd/-delete"), "").unwrap();
    }

    /// Runs cases, and reports the forbidden things that they did.
    pub(super) fn run(&self, cases: &[Case]) -> Vec<String> {
        if cases.is_empty() || self.run_at_once(cases).is_empty() {
            return Vec::new();
        }
        cases
            .iter()
            .flat_map(|case| {
                let found = self.run_at_once(std::slice::from_ref(case));
                let about = format!("{:?} in {}", case.command, case.folder.display());
                found
                    .into_iter()
                    .map(move |what| format!("{what}: {about}"))
            })
            .collect()
    }

    fn run_at_once(&self, cases: &[Case]) -> Vec<String> {
        let before = self.state();
        let log = self.root.join("log");
        fs::write(&log, "").unwrap();
        let list: Vec<u8> = cases
            .iter()
            .flat_map(|case| {
                let folder = case.folder.to_str().unwrap();
                [folder, "\0", &case.command, "\0"].concat().into_bytes()
            })
            .collect();
        fs::write(self.root.join("cases"), list).unwrap();
        let watch = self.watch();
        let output = Command::new("/usr/bin/timeout")
            .args([
                "-k",
                "1",
                "30",
                "/bin/bash",
                "--norc",
                "--noprofile",
                "-c",
                DRIVER,
                "bash",
            ])
            .arg(self.root.join("cases"))
            .env_clear()
            .env("PATH", self.root.join("bin"))
            .env("HOME", self.root.join("home"))
            .env("LC_ALL", "C.UTF-8")
            .env("LONGHAUL_WRAPPER", WRAPPER.replace("{pwd}", "pwd -P"))
            .current_dir(self.project())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let mut found = opened(&watch);
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(124) {
            found.push("ran without an end".to_owned());
        }
        if text.contains(OUTSIDE) || self.denies == Denies::Files && text.contains(DENIED) {
            found.push("showed what is outside or denied".to_owned());
        }
        if text.contains("command not found") {
            found.push("ran a program that is not there".to_owned());
        }
        let log = fs::read_to_string(&log).unwrap();
        let mut others: Vec<&str> = log.lines().filter(|name| OTHERS.contains(name)).collect();
        others.dedup();
        found.extend(others.iter().map(|name| format!("ran {name}")));
        let after = self.state();
        let free = |path: &Path| {
            self.writes == Writes::Inside
                && path.starts_with("project")
                && !path.ends_with(".env")
                && !(self.denies == Denies::Files && path == Path::new("project/locked.txt"))
        };
        for path in before.keys().chain(after.keys()) {
            if before.get(path) != after.get(path) && !free(path) {
                found.push(format!("changed {}", path.display()));
            }
        }
        if before != after {
            self.build();
        }
        found.dedup();
        found
    }

    /// All files, with their contents or link targets.
    fn state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut state = BTreeMap::new();
        let mut open: Vec<PathBuf> = ["project", "outside", "home"]
            .iter()
            .map(|folder| self.root.join(folder))
            .collect();
        while let Some(path) = open.pop() {
            let about = fs::symlink_metadata(&path).unwrap();
            let content = if about.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else if about.is_dir() {
                open.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            let name = path.strip_prefix(&self.root).unwrap().to_owned();
            state.insert(name, content);
        }
        state
    }

    /// Watches the files that nobody may open.
    fn watch(&self) -> OwnedFd {
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        let mut paths = vec!["outside", "home"];
        if self.denies == Denies::Files {
            paths.extend(["project/.env", "project/secret/key.txt"]);
        }
        for path in paths {
            inotify::add_watch(&watch, self.root.join(path), WatchFlags::OPEN).unwrap();
        }
        watch
    }
}

/// The watched files that were opened.
fn opened(watch: &OwnedFd) -> Vec<String> {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(watch, &mut buffer);
    let mut found = Vec::new();
    while let Ok(event) = reader.next() {
        let name = event
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        found.push(format!(
            "opened {}",
            name.unwrap_or_else(|| "a folder or file that it may not".to_owned())
        ));
    }
    found.dedup();
    found
}
