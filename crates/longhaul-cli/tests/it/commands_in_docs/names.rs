//! Whether what a command of Cargo's names exists: crates, benches, tests, tasks, features, profiles, files.

use std::path::{Path, PathBuf};

use super::root;

/// What is wrong with the names in a line of Cargo's.
pub(super) fn wrong_names(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |flag: &str| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1).copied()
    };
    let package = after("-p").or_else(|| after("--package"));
    if let Some(package) = package.filter(|package| !package.starts_with('<')) {
        let folder = root().join("crates").join(package);
        if !folder.is_dir() {
            return Some(format!("no crate {package}"));
        }
        for (flag, below) in [
            ("--bench", "benches"),
            ("--example", "examples"),
            ("--test", "tests"),
        ] {
            let Some(name) = after(flag) else { continue };
            let file = folder.join(below).join(name);
            if !file.is_dir() && !file.with_extension("rs").is_file() {
                return Some(format!("no {flag} {name} in {package}"));
            }
        }
        if let Some(filter) = filter(&words)
            && !has_test(&folder, filter)
        {
            return Some(format!("no test {filter} in {package}"));
        }
    }
    if let Some(path) = after("--path").or_else(|| after("--manifest-path"))
        && !root().join(path).exists()
    {
        return Some(format!("no {path}"));
    }
    if words.get(1) == Some(&"xtask") {
        let task = words.get(2).copied().unwrap_or_default();
        let main = std::fs::read_to_string(root().join("xtask/src/main.rs")).unwrap();
        if !main.contains(&format!("[\"{task}\"")) {
            return Some(format!("no task {task}"));
        }
    }
    let features = after("--features").unwrap_or_default();
    let manifest = std::fs::read_to_string(root().join("crates/longhaul-cli/Cargo.toml")).unwrap();
    for feature in features.split(',').filter(|feature| !feature.is_empty()) {
        if !manifest.contains(&format!("\n{feature} = [")) {
            return Some(format!("no feature {feature}"));
        }
    }
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let profile = after("--profile").unwrap_or("release");
    (!manifest.contains(&format!("[profile.{profile}]"))).then(|| format!("no profile {profile}"))
}

/// The word of `cargo test` by which tests are chosen.
fn filter<'l>(words: &[&'l str]) -> Option<&'l str> {
    if words.get(1) != Some(&"test") {
        return None;
    }
    let mut words = words.iter().skip(2).copied();
    while let Some(word) = words.next() {
        match word {
            "--" => return None,
            "-p" | "--package" | "--test" | "--bench" | "--manifest-path" | "--target-dir" => {
                words.next();
            }
            flag if flag.starts_with('-') => {}
            filter => return Some(filter),
        }
    }
    None
}

/// Whether a test of the crate has this in its path: modules are files or folders, and the last part may be the beginning of
/// a test's name.
fn has_test(package: &Path, filter: &str) -> bool {
    let mut files = Vec::new();
    for below in ["src", "tests"] {
        collect(&package.join(below), &mut files);
    }
    let parts: Vec<&str> = filter.split("::").filter(|part| !part.is_empty()).collect();
    let is_module = |file: &Path, part: &str| {
        let mut names = file.iter().map(|name| name.to_string_lossy());
        names.any(|name| name == part || name == format!("{part}.rs"))
    };
    files.iter().any(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        parts.iter().all(|part| {
            is_module(file, part)
                || text.contains(&format!("fn {part}"))
                || text.contains(&format!("mod {part}"))
                || (parts.len() == 1 && text.contains("fn ") && text.contains(part))
        })
    })
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn a_name_that_does_not_exist_is_noticed() {
    for right in [
        "cargo test -p longhaul-gateway --test it worth::",
        "cargo test -p longhaul --test it proof::modes -- --nocapture",
        "cargo bench -p longhaul-gateway --bench bill",
        "cargo xtask dist",
    ] {
        assert_eq!(wrong_names(right), None, "{right}");
    }
    for wrong in [
        "cargo test -p longhaul-gate",
        "cargo test -p longhaul-gateway --test it worthless::",
        "cargo test -p longhaul --test it proof::modesty",
        "cargo bench -p longhaul-gateway --bench bills",
        "cargo xtask distance",
        "cargo install --path crates/longhaul-cli --features fuller",
    ] {
        assert!(wrong_names(wrong).is_some(), "{wrong}");
    }
}
