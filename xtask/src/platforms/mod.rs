//! `cargo xtask platforms`: the workspace for the other systems that it is written for, checked with the lints of this one.
//!
//! Nothing is linked or run. The standard library of each target is added with rustup where that can be. Some
//! dependencies are compiled from C: with a C compiler for the target where there is one, and otherwise they are left out
//! (`without_c.rs`), which a check cannot tell from the real ones. What could not be checked is said, and fails only where
//! it was asked for by name.

mod without_c;

use std::path::Path;
use std::process::Command;

use crate::TaskResult;
use crate::workspace::{CargoWorkspace, cargo, output};

pub(crate) use without_c::run as pretend_to_compile;

/// What this task calls itself with, to stand in for a C compiler.
pub(crate) const WITHOUT_C: &str = "pretend-to-compile-c";

/// A system, and the target that stands for it.
struct CheckedPlatform {
    system: &'static str,
    target: &'static str,
    /// Its name as a host.
    os: &'static str,
    /// The C compiler that build scripts look for on the PATH.
    compiler: Option<&'static str>,
}

const PLATFORMS: [CheckedPlatform; 2] = [
    CheckedPlatform {
        system: "Windows",
        target: "x86_64-pc-windows-gnu",
        os: "windows",
        compiler: Some("x86_64-w64-mingw32-gcc"),
    },
    CheckedPlatform {
        system: "macOS",
        target: "aarch64-apple-darwin",
        os: "macos",
        compiler: None,
    },
];

/// The usage of the command.
pub(crate) const USAGE: &str = "\
  platforms    check the workspace for the other systems it is written for, as far as that can be done here
    TARGET           check only this one, and fail if that cannot be done: x86_64-pc-windows-gnu, aarch64-apple-darwin";

/// Checks the workspace for each of the other systems, or for those that were named.
#[expect(clippy::print_stderr, reason = "says what was checked")]
pub(crate) fn run(workspace: &CargoWorkspace, targets: &[&str]) -> TaskResult {
    let mut wrong = Vec::new();
    for target in targets {
        if !PLATFORMS.iter().any(|it| it.target == *target) {
            wrong.push(format!(
                "{target} is none of the targets that are checked; `cargo xtask help` lists them"
            ));
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let is_wanted =
        |platform: &&CheckedPlatform| targets.is_empty() || targets.contains(&platform.target);
    for platform in PLATFORMS.iter().filter(is_wanted) {
        let CheckedPlatform { system, target, .. } = platform;
        match standard_library(target) {
            Err(why) if targets.is_empty() => {
                eprintln!("{system} ({target}) is NOT checked: {why}");
            }
            Err(why) => wrong.push(format!("{system} ({target}) cannot be checked: {why}")),
            Ok(()) => match check(workspace, platform) {
                Ok(how) => eprintln!("checked for {system} ({target}){how}"),
                Err(sentences) => wrong.extend(sentences),
            },
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Adds the target's standard library, if it is missing.
fn standard_library(target: &str) -> Result<(), String> {
    let mut add = Command::new("rustup");
    add.args(["target", "add", target]);
    let added = add
        .output()
        .map_err(|error| format!("its standard library is added with rustup ({error})"))?;
    if added.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&added.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    let last = last.unwrap_or("it did not say why");
    Err(format!("`rustup target add {target}` failed: {last}"))
}

/// Checks the crates, and says what that leaves out.
fn check(
    workspace: &CargoWorkspace,
    platform: &CheckedPlatform,
) -> Result<&'static str, Vec<String>> {
    let mut check = cargo();
    check
        .current_dir(&workspace.root)
        .args(["clippy", "--workspace", "--locked", "--quiet"])
        // Nothing of it runs.
        .args(["--profile", "features", "--target", platform.target])
        .args(["--", "-D", "warnings"]);
    let underscored = platform.target.replace('-', "_");
    let given = format!("CC_{underscored}");
    let has_compiler = platform.os == std::env::consts::OS
        || std::env::var_os(&given).is_some()
        || platform.compiler.is_some_and(is_on_path);
    if has_compiler {
        output(&mut check)?;
        return Ok("");
    }
    let this = std::env::current_exe()
        .map_err(|error| vec![format!("the path of this program: {error}")])?;
    let stand_in = format!("{} {WITHOUT_C}", this.display());
    check
        .env(given, &stand_in)
        .env(format!("AR_{underscored}"), &stand_in);
    output(&mut check)?;
    Ok(
        ", without what is compiled from C (SQLite, ring, tree-sitter): there is no C compiler for it",
    )
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).is_file())
}
