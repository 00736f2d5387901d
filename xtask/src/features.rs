//! `cargo xtask features`: the library without its default features, and with each of them alone; the command without
//! the features that packages have.
//!
//! With none, a session with a model of one's own must need neither a C compiler nor TLS, and few crates: they are
//! counted, and what only compiles C is refused by name. Then everything is checked without warnings, and the tests of
//! `crates/longhaul/tests/small` run against the library without features. Builds use the profile `features`, which
//! optimizes nothing.

use std::collections::BTreeSet;

use crate::TaskResult;
use crate::workspace::{CargoWorkspace, cargo, output};

/// The crate with the features, and their names.
const LIBRARY: &str = "longhaul";
const FEATURES: [&str; 5] = ["hooks", "http", "otel", "sqlite", "tools"];

/// The command, which is built from source without features.
const COMMAND: &str = "longhaul-cli";

/// How many crates the library may need without features, itself and the other crates of the workspace included.
const MOST_CRATES: usize = 60;

/// Crates that compile C or find a C library, and the TLS that brings them.
const NEEDS_C: [&str; 9] = [
    "bindgen",
    "cc",
    "cmake",
    "libsqlite3-sys",
    "pkg-config",
    "ring",
    "rustls",
    "tree-sitter",
    "vcpkg",
];

/// Counts, checks and tests the library.
#[expect(clippy::print_stderr, reason = "says what was counted")]
pub(crate) fn run(workspace: &CargoWorkspace) -> TaskResult {
    let mut tree = cargo_alone(workspace);
    tree.args(["tree", "--locked", "--package", LIBRARY])
        .args(["--no-default-features", "--edges", "normal,build"])
        .args(["--prefix", "none", "--format", "{p}"]);
    let crates = crates_in(&output(&mut tree)?);
    let wrong = wrong_crates(&crates);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    eprintln!(
        "{LIBRARY} without features: {} crates, none of them with C",
        crates.len()
    );

    let each = FEATURES.iter().map(|feature| vec!["--features", feature]);
    for features in std::iter::once(Vec::new()).chain(each) {
        let mut check = cargo_alone(workspace);
        check
            .args(["check", "--locked", "--quiet", "--profile", "features"])
            .args(["--package", LIBRARY, "--no-default-features"])
            .args(&features)
            .env("RUSTFLAGS", "-D warnings");
        output(&mut check)?;
        let name = features.last().copied().unwrap_or("no feature");
        eprintln!("checked with {name}");
    }

    let mut check = cargo_alone(workspace);
    check
        .args(["check", "--locked", "--quiet", "--profile", "features"])
        .args(["--package", COMMAND])
        .env("RUSTFLAGS", "-D warnings");
    output(&mut check)?;
    eprintln!("checked {COMMAND} without features");

    let mut test = cargo_alone(workspace);
    test.args(["test", "--locked", "--quiet", "--profile", "features"])
        .args(["--package", LIBRARY, "--no-default-features"])
        .args(["--test", "small"])
        // The same as above, so that what was compiled there is used again.
        .env("RUSTFLAGS", "-D warnings");
    output(&mut test)?;
    eprintln!("tested without features");
    Ok(())
}

/// Cargo in the workspace's root. Somebody may have told it to build every crate with the features that the whole
/// workspace needs, which would turn on here what must be off.
fn cargo_alone(workspace: &CargoWorkspace) -> std::process::Command {
    let mut cargo = cargo();
    cargo
        .current_dir(&workspace.root)
        .env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION");
    cargo
}

/// The names and versions in the output of `cargo tree`, each once.
fn crates_in(tree: &str) -> BTreeSet<String> {
    let lines = tree.lines().map(|line| {
        let words = line.split_whitespace().take(2);
        words.collect::<Vec<_>>().join(" ")
    });
    lines.filter(|name| !name.is_empty()).collect()
}

/// What is wrong with the crates that the library needs without features.
fn wrong_crates(crates: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for name in crates {
        let bare = name.split(' ').next().unwrap_or(name);
        if NEEDS_C.contains(&bare) {
            wrong.push(format!(
                "{LIBRARY} without features needs {name}, which needs a C compiler or is TLS: put it behind a feature \
                 (see `cargo tree -p {LIBRARY} --no-default-features -e normal,build -i {bare}`)"
            ));
        }
    }
    if crates.len() > MOST_CRATES {
        wrong.push(format!(
            "{LIBRARY} without features needs {} crates, and {MOST_CRATES} are allowed: put what is new behind a \
             feature. They are: {}",
            crates.len(),
            crates.iter().cloned().collect::<Vec<_>>().join(", ")
        ));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_counts_once_however_often_the_tree_names_it() {
        let tree = "longhaul v0.1.0 (/a/b)\nbytes v1.12.1\nbytes v1.12.1 (*)\nserde_derive v1.0.229 (proc-macro)\n";
        assert_eq!(crates_in(tree).len(), 3);
    }

    #[test]
    fn crates_with_c_and_too_many_crates_are_refused() {
        let few = crates_in("longhaul v0.1.0\nbytes v1.12.1\n");
        assert!(wrong_crates(&few).is_empty());
        let with_c = crates_in("longhaul v0.1.0\nring v0.17.14\ncc v1.2.0\n");
        assert_eq!(wrong_crates(&with_c).len(), 2);
        let many: String = (0..=MOST_CRATES)
            .map(|n| format!("a{n} v1.0.0\n"))
            .collect();
        assert_eq!(wrong_crates(&crates_in(&many)).len(), 1);
    }
}
