//! The binary, run in a world of its own: a temporary folder that is its home, and no environment but what is given.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use longhaul_testkit::{GeneratedSession, SessionSpec};
use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder with a home for Longhaul and one for Claude Code. Commands start in it.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// LONGHAUL_HOME.
    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// CLAUDE_CONFIG_DIR.
    pub(crate) fn claude(&self) -> PathBuf {
        self.root().join("claude")
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The binary, with arguments.
    pub(crate) fn longhaul<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.root())
            .env("LONGHAUL_HOME", self.home())
            .env("CLAUDE_CONFIG_DIR", self.claude())
            .current_dir(self.root())
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        self.longhaul(args).finish()
    }

    /// `inspect FILE --json` of a file that is written first.
    pub(crate) fn inspect(&self, bytes: &[u8]) -> Run {
        let path = self.write("session.jsonl", bytes);
        self.run([
            OsStr::new("inspect"),
            path.as_os_str(),
            OsStr::new("--json"),
        ])
    }

    /// `inspect FILE` of a file that is written first.
    pub(crate) fn page(&self, bytes: &[u8]) -> Run {
        let path = self.write("session.jsonl", bytes);
        self.run([OsStr::new("inspect"), path.as_os_str()])
    }
}

/// Runs a command to its end.
pub(crate) trait Finish {
    fn finish(&mut self) -> Run;
    fn finish_with(&mut self, stdin: &[u8]) -> Run;
}

impl Finish for Command {
    fn finish(&mut self) -> Run {
        Run::of(self.output().unwrap())
    }

    fn finish_with(&mut self, stdin: &[u8]) -> Run {
        let pipes = self
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        // The child may close its input early; that is fine.
        let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        let run = Run::of(child.wait_with_output().unwrap());
        writer.join().unwrap();
        run
    }
}

/// How a run ended and what it said.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    fn of(output: Output) -> Self {
        let run = Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!run.err.contains("panicked"), "{}", run.err);
        run
    }

    /// It ended with this code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }

    /// It failed: exit code 2, nothing on stdout, one sentence on stderr that says all of this.
    #[track_caller]
    pub(crate) fn fails(self, says: &[&str]) -> Self {
        let run = self.ends(2);
        assert_eq!(run.out, "");
        let first = run.err.lines().next().unwrap_or_default();
        assert!(first.starts_with("error: "), "{}", run.err);
        for words in says {
            assert!(
                run.err.contains(words),
                "{words:?} is not said in:\n{}",
                run.err
            );
        }
        run
    }

    /// What it printed, as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {:?}", self))
    }

    /// It printed this.
    #[track_caller]
    pub(crate) fn prints(self, words: &str) -> Self {
        assert!(
            self.out.contains(words),
            "{words:?} is not in:\n{}",
            self.out
        );
        self
    }

    /// It said this on stderr.
    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(
            self.err.contains(words),
            "{words:?} is not in:\n{}",
            self.err
        );
        self
    }
}

/// A session with everything in it, compacted a few times.
pub(crate) fn rich_session() -> GeneratedSession {
    use longhaul_testkit::session::{CompactionSchedule, KeptRounds};
    SessionSpec::new(11, 70)
        .compaction(CompactionSchedule::EveryRounds(20))
        .kept(KeptRounds::AfterSummary)
        .generate()
}

/// A session long enough to be compacted as the real ones are, and cleared before that.
pub(crate) fn long_session() -> GeneratedSession {
    SessionSpec::new(3, 130).generate()
}

/// A boundary whose summary was folded, with its origin, and a run of the notes agent; to be put before a session.
pub(crate) fn folded() -> Vec<u8> {
    let usage = serde_json::json!({"input_tokens": 9, "output_tokens": 800, "cache_read_input_tokens": 90_000});
    let lines = [
        serde_json::json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "uuid": "b-folded", "parentUuid": null, "timestamp": "2026-03-01T07:00:00Z", "sessionId": "s",
            "compactMetadata": {"trigger": "auto", "preTokens": 165_000,
                "folds": {"version": 1, "spans": [{"text": "a", "messages": 3}, {"text": "b", "messages": 4}]},
                "made": {"by": "fold", "ahead": false, "waitedMs": 2_500, "tookMs": 14_000, "costUsd": 0.125, "usage": usage}}}),
        serde_json::json!({"type": "user", "isCompactSummary": true, "uuid": "s-folded", "parentUuid": "b-folded",
            "sessionId": "s", "message": {"role": "user", "content": "Part 1, part 2."}}),
        serde_json::json!({"type": "notes-taken", "timestamp": "2026-03-01T07:30:00Z", "usage": usage, "costUsd": 0.5,
            "changed": 2, "refused": 0}),
    ];
    lines.map(|line| format!("{line}\n")).concat().into_bytes()
}

/// A small session without anything unusual.
pub(crate) fn plain_session() -> GeneratedSession {
    SessionSpec::new(5, 12).plain().generate()
}

/// A text without color.
pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
