//! Checks that the modules of a crate depend on each other in one direction, without direct or indirect cycles.
//!
//! A module is a file or folder directly in `src`. Its uses are taken from the paths that begin with `crate::`; uses in
//! tests do not count. In the folders of [`STRICT`], the same holds for the files, by the paths that begin with
//! `super::`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::workspace::CargoWorkspace;

/// Which modules each module uses, and in which file it does.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// Folders whose files point one way, too: many files work on one thing there.
const STRICT: [&str; 2] = [
    "crates/longhaul-gateway/src/front",
    "crates/longhaul-gateway/src/manage",
];

/// A finding for each group of modules that use one another.
pub(super) fn findings(workspace: &CargoWorkspace) -> Result<Vec<String>, Vec<String>> {
    let mut found = between_modules(workspace)?;
    found.extend(between_files(workspace)?);
    Ok(found)
}

/// A finding for each group of files in a strict folder that use one another.
fn between_files(workspace: &CargoWorkspace) -> Result<Vec<String>, Vec<String>> {
    let mut folders: BTreeMap<&str, Uses> = BTreeMap::new();
    for path in workspace.sources(&["src"]) {
        let Some((folder, file)) = strict_file(&path) else {
            continue;
        };
        let uses = folders.entry(folder).or_default().entry(file).or_default();
        for used in used_modules(&workspace.text(&path)?, "super::") {
            uses.entry(used)
                .or_insert_with(|| path.display().to_string());
        }
    }
    let found = folders.iter();
    Ok(found
        .flat_map(|(name, uses)| in_crate(name, uses))
        .collect())
}

/// The strict folder that a file is directly in, and the file's module.
fn strict_file(path: &Path) -> Option<(&'static str, String)> {
    let text = path.to_string_lossy();
    let folder = STRICT.into_iter().find(|folder| text.contains(folder))?;
    let (_, below) = text.split_once(folder)?;
    let file = below.trim_start_matches('/').strip_suffix(".rs")?;
    (file != "mod" && !file.contains('/')).then(|| (folder, file.to_owned()))
}

fn between_modules(workspace: &CargoWorkspace) -> Result<Vec<String>, Vec<String>> {
    let mut crates: BTreeMap<String, Uses> = BTreeMap::new();
    for path in workspace.sources(&["src"]) {
        let Some((name, module)) = module_of(&path) else {
            continue;
        };
        let text = workspace.text(&path)?;
        let uses = crates.entry(name).or_default().entry(module).or_default();
        for used in used_modules(&text, "crate::") {
            uses.entry(used)
                .or_insert_with(|| path.display().to_string());
        }
    }
    let found = crates.iter().flat_map(|(name, uses)| in_crate(name, uses));
    Ok(found.collect())
}

/// The crate and the module that a file belongs to; `None` for the crate's root file.
fn module_of(path: &Path) -> Option<(String, String)> {
    let text = path.to_string_lossy();
    let (name, below) = text.split_once("/src/")?;
    let name = name.rsplit('/').next()?;
    let module = below.split('/').next()?.trim_end_matches(".rs");
    let is_root = matches!(module, "lib" | "main" | "bin");
    (!is_root).then(|| (name.to_owned(), module.to_owned()))
}

/// The modules whose paths a file names after `root`, outside comments and tests.
fn used_modules(text: &str, root: &str) -> BTreeSet<String> {
    let text = text
        .find("#[cfg(test)]\nmod ")
        .map_or(text, |tests| &text[..tests]);
    let code: Vec<&str> = (text.lines())
        .map(|line| line.find("//").map_or(line, |comment| &line[..comment]))
        .collect();
    let code = code.join("\n");
    let mut used = BTreeSet::new();
    for (at, path) in code.match_indices(root) {
        if code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let rest = &code[at + path.len()..];
        match rest.strip_prefix('{') {
            Some(group) => used.extend(first_names(group)),
            None => used.extend(name(rest)),
        }
    }
    used
}

/// The first names of the paths in a group, up to its closing brace.
fn first_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let mut is_start = true;
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => is_start = true,
            _ if letter.is_whitespace() => {}
            _ if is_start => {
                names.extend(name(&group[at..]));
                is_start = false;
            }
            _ => {}
        }
    }
    names
}

/// The name that a path begins with, if it can be the name of a module.
fn name(path: &str) -> Option<String> {
    let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let name = &path[..end.unwrap_or(path.len())];
    name.starts_with(|first: char| first.is_ascii_lowercase())
        .then(|| name.to_owned())
}

/// The groups of one crate's modules that use one another.
fn in_crate(name: &str, uses: &Uses) -> Vec<String> {
    let reach: BTreeMap<&str, BTreeSet<&str>> = (uses.keys())
        .map(|module| (module.as_str(), reached(module, uses)))
        .collect();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for (module, reached) in &reach {
        if !reached.contains(module) || told.contains(module) {
            continue;
        }
        let group: BTreeSet<&str> = (reached.iter().copied())
            .filter(|other| reach.get(other).is_some_and(|back| back.contains(module)))
            .collect();
        let edges: Vec<String> = (group.iter())
            .flat_map(|from| {
                let uses = uses.get(*from).into_iter().flatten();
                uses.filter(move |(to, _)| to != from)
            })
            .filter(|(to, _)| group.contains(to.as_str()))
            .map(|(to, file)| format!("{file} uses {to}"))
            .collect();
        let names: Vec<&str> = group.iter().copied().collect();
        found.push(format!(
            "in {name} the modules {} use one another: move what they share into a module that all of them may use ({})",
            names.join(", "),
            edges.join("; ")
        ));
        told.extend(group);
    }
    found
}

/// All modules that a module uses, directly or indirectly.
fn reached<'a>(module: &str, uses: &'a Uses) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![module];
    while let Some(next) = open.pop() {
        let own = |used: &&String| used.as_str() != next;
        for used in uses
            .get(next)
            .into_iter()
            .flat_map(BTreeMap::keys)
            .filter(own)
        {
            if uses.contains_key(used) && reached.insert(used.as_str()) {
                open.push(used.as_str());
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(edges: &[(&str, &str)]) -> Uses {
        let mut uses = Uses::new();
        for (from, text) in edges {
            let used = used_modules(text, "crate::").into_iter();
            let used = used.map(|used| (used, format!("{from}.rs"))).collect();
            uses.insert((*from).to_owned(), used);
        }
        uses
    }

    #[test]
    fn modules_that_use_one_another_are_found_however_far_apart() {
        let found = in_crate(
            "house",
            &uses(&[
                ("a", "use crate::b::B;"),
                ("b", "fn f() { crate::c::g() }"),
                ("c", "use crate::{\n    a::{A, Aa},\n    d,\n};"),
                (
                    "d",
                    "use crate::d::own;\n// crate::a\n#[cfg(test)]\nmod tests { use crate::a; }",
                ),
            ]),
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("the modules a, b, c use one another"),
            "{found:?}"
        );
        assert!(found[0].contains("c.rs uses a"), "{found:?}");
    }

    #[test]
    fn files_of_a_strict_folder_are_its_modules() {
        let file = strict_file(Path::new("crates/longhaul-gateway/src/front/answer.rs"));
        assert_eq!(file, Some((STRICT[0], "answer".to_owned())));
        for other in ["front/mod.rs", "front/files/unix.rs", "own/mod.rs"] {
            let path = format!("crates/longhaul-gateway/src/{other}");
            assert_eq!(strict_file(Path::new(&path)), None, "{other}");
        }
        let used = used_modules(
            "use super::pass::Pass;\nfn f() { super::own::g() }",
            "super::",
        );
        assert_eq!(used.into_iter().collect::<Vec<_>>(), ["own", "pass"]);
    }

    #[test]
    fn modules_that_point_one_way_are_fine() {
        let found = in_crate(
            "house",
            &uses(&[
                ("a", "use crate::{b, c::C};"),
                ("b", "use crate::c;"),
                ("c", ""),
            ]),
        );
        assert!(found.is_empty(), "{found:?}");
    }
}
