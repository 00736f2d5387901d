//! The licenses of everything that is compiled into the program, each text once.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::workspace::text;

/// How the names of files with a license begin.
const NAMES: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "NOTICE",
    "UNLICENSE",
    "COPYRIGHT",
];

/// The texts, each below the crates that it belongs to.
pub(super) fn texts(crates: &[&Value]) -> String {
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for package in crates.iter().filter(|package| !package["source"].is_null()) {
        let name = format!(
            "{} {} ({})",
            text(&package["name"]),
            text(&package["version"]),
            text(&package["license"])
        );
        let folder = Path::new(text(&package["manifest_path"])).parent();
        let found = folder.map(licenses_in).unwrap_or_default();
        if found.is_empty() {
            without.push(name.clone());
        }
        for license in found {
            let names = by_text.entry(license).or_default();
            if !names.contains(&name) {
                names.push(name.clone());
            }
        }
    }
    let mut written =
        String::from("Longhaul contains the following libraries, under these licences.\n");
    let line = "=".repeat(80);
    for (license, names) in by_text {
        written.push_str(&format!(
            "\n{line}\n{}\n{line}\n\n{license}\n",
            names.join("\n")
        ));
    }
    if !without.is_empty() {
        written.push_str(&format!(
            "\n{line}\nThese name their licence and come without its text:\n{line}\n\n{}\n",
            without.join("\n")
        ));
    }
    written
}

fn licenses_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.to_uppercase();
            path.is_file() && NAMES.iter().any(|begin| name.starts_with(begin))
        })
        .collect();
    paths.sort();
    let texts = paths.iter().filter_map(|path| std::fs::read(path).ok());
    texts
        .map(|bytes| {
            String::from_utf8_lossy(&bytes)
                .replace("\r\n", "\n")
                .trim()
                .to_owned()
        })
        .filter(|text| !text.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_crate_without_a_text_is_named() {
        let one = json!({"name": "a", "version": "1.0.0", "license": "MIT", "source": "registry", "manifest_path": "/nowhere/Cargo.toml"});
        let ours = json!({"name": "b", "version": "1.0.0", "license": "MIT", "source": null, "manifest_path": "/nowhere/Cargo.toml"});
        let text = texts(&[&one, &ours]);
        assert!(text.contains("a 1.0.0 (MIT)"), "{text}");
        assert!(!text.contains("b 1.0.0"), "{text}");
    }
}
