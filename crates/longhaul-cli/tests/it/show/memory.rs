//! However long a file is, the next request is shown from its tail (M5).

#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use longhaul_testkit::big::{BigFileBoundaries, BigSpec};

use crate::support::{Finish, World};

/// Address space for the program, in KB: less than the file.
const ROOM: u64 = 100_000;

#[test]
fn m5_a_file_larger_than_memory_is_shown_from_its_tail() {
    let megabytes = std::env::var("LONGHAUL_BIG_MB").ok();
    let megabytes: u64 = megabytes.and_then(|size| size.parse().ok()).unwrap_or(150);
    let world = World::new();
    let path = world.root().join("big.jsonl");
    let spec = BigSpec {
        seed: 1,
        min_bytes: megabytes * 1_000_000,
        boundaries: BigFileBoundaries::LastBefore(1_000_000),
    };
    spec.write_file(&path).unwrap();
    for more in ["--json", "--request"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {ROOM}; exec \"$0\" \"$@\"")]);
        shell.arg(env!("CARGO_BIN_EXE_longhaul"));
        shell.args(["show", "--say", "Go on.", more]).arg(&path);
        let run = shell
            .env("HOME", world.root())
            .stdin(Stdio::null())
            .finish();
        let body = run.ends(0).json();
        assert!(
            body["messages"]
                .as_array()
                .is_none_or(|messages| !messages.is_empty())
        );
    }
}
