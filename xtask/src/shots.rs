//! `cargo xtask shots`: the pictures and captures in the documents, made from real runs of the program in a terminal.
//!
//! The runs are tests of the command (`crates/longhaul-cli/tests/it/shots.rs`), because tests have a terminal to run it in.

use crate::TaskResult;
use crate::workspace::{CargoWorkspace, cargo, output};

pub(crate) const USAGE: &str = "\
  shots        make the pictures and captures of the program in docs/ again, from real runs";

pub(crate) fn run(workspace: &CargoWorkspace) -> TaskResult {
    let mut test = cargo();
    test.current_dir(&workspace.root)
        .args([
            "test",
            "--quiet",
            "--package",
            "longhaul-cli",
            "--test",
            "it",
        ])
        .args(["shots::", "--", "--ignored"])
        .env("LONGHAUL_SHOTS", workspace.root.join("docs"));
    output(&mut test).map(drop)
}
