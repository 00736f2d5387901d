//! Checks that the modules of each folder depend on each other in one direction, without direct or indirect cycles.
//!
//! A file is a module, and so is a folder with everything in it. What a file names is followed to the module that has it,
//! also through what other modules import or export again: a folder that passes on its own parts hides no cycle. Uses in
//! tests do not count. A folder's own file (`mod.rs`) may use the modules of the folder, and they may use its items.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::cycles::{self, Uses};
use super::named_paths::{code, imports, rooted, test_modules};
use crate::workspace::CargoWorkspace;

/// The place of a module in its crate: the names of the folders that it is in, then its own.
type ModulePath = Vec<String>;

/// A finding for each group of modules that use one another.
pub(super) fn findings(workspace: &CargoWorkspace) -> Result<Vec<String>, Vec<String>> {
    let mut crates: BTreeMap<String, CrateModules> = BTreeMap::new();
    for path in workspace.sources(&["src"]) {
        let Some((source, module)) = module_of(&path) else {
            continue;
        };
        let text = workspace.text(&path)?;
        let modules = crates.entry(source).or_default();
        modules.add(module, &path.display().to_string(), &text);
    }
    let mut found = Vec::new();
    for (source, modules) in &crates {
        for (folder, uses) in modules.uses() {
            let name = [source.as_str()].into_iter();
            let name = name.chain(folder.iter().map(String::as_str));
            let name = name.collect::<Vec<_>>().join("/");
            found.extend(cycles::findings(&name, &uses));
        }
    }
    Ok(found)
}

/// The source folder that a file is in, and the module that the file is; a crate's root has an empty path.
fn module_of(path: &Path) -> Option<(String, ModulePath)> {
    let text = path.to_string_lossy().replace('\\', "/");
    let (name, below) = text.split_once("/src/")?;
    let mut module: ModulePath = below
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    let is_root = module.len() == 1 && matches!(&*module[0], "lib" | "main") || module[0] == "bin";
    if is_root {
        module.clear();
    }
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    Some((format!("{name}/src"), module))
}

/// The modules of one crate.
#[derive(Default)]
struct CrateModules {
    modules: BTreeMap<ModulePath, SourceModule>,
    tests: BTreeSet<ModulePath>,
}

/// One module: its file, and what it names.
#[derive(Default)]
struct SourceModule {
    file: String,
    /// The imported paths, by the names that they have in the module.
    imports: Vec<(String, Vec<String>)>,
    /// The paths that stand in the code.
    paths: Vec<Vec<String>>,
}

impl CrateModules {
    fn add(&mut self, module: ModulePath, file: &str, text: &str) {
        for name in test_modules(text) {
            self.tests.insert(child(&module, name));
        }
        let code = code(text);
        let known = self.modules.entry(module).or_default();
        known.file = file.to_owned();
        let imports = imports(&code).into_iter();
        (known.imports).extend(imports.map(|import| (import.name, import.path)));
        known.paths.extend(rooted(&code));
    }

    /// Which modules of each folder use which others of it.
    fn uses(&self) -> BTreeMap<ModulePath, Uses> {
        let mut folders: BTreeMap<ModulePath, Uses> = BTreeMap::new();
        for (module, source) in &self.modules {
            if (1..=module.len()).any(|end| self.tests.contains(&module[..end])) {
                continue;
            }
            let imported = source.imports.iter().map(|(_, path)| path);
            for path in imported.chain(&source.paths) {
                let Some(used) = self.absolute(module, path) else {
                    continue;
                };
                let used = self.followed(used);
                let shared = module.iter().zip(&used);
                let shared = shared.take_while(|(one, other)| one == other).count();
                let (Some(from), Some(to)) = (module.get(shared), used.get(shared)) else {
                    continue;
                };
                if self.modules.contains_key(&used[..=shared]) {
                    let uses = folders.entry(module[..shared].to_vec()).or_default();
                    let uses = uses.entry(from.clone()).or_default();
                    uses.entry(to.clone())
                        .or_insert_with(|| source.file.clone());
                }
            }
        }
        folders
    }

    /// A path as seen from the crate's root; `None` if it leads out of the crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let (mut from, mut rest) = (module, path);
        match rest.first()?.as_str() {
            "crate" => (from, rest) = (&[], &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    from = from.split_last()?.1;
                    rest = &rest[1..];
                }
            }
            name if self.modules.contains_key(&child(module, name)) => {}
            _ => return None,
        }
        Some([from, rest].concat())
    }

    /// Follows a path through what modules import: to the module that has the item itself.
    fn followed(&self, mut path: Vec<String>) -> Vec<String> {
        // A name that is imported in a circle leads nowhere.
        for _ in 0..16 {
            let Some(next) = self.next(&path) else { break };
            path = next;
        }
        path
    }

    /// The path that stands for this one, if a name in it is imported.
    fn next(&self, path: &[String]) -> Option<Vec<String>> {
        let known = (0..path.len()).find(|end| !self.modules.contains_key(&path[..=*end]))?;
        let (module, rest) = path.split_at(known);
        let imports = &self.modules.get(module)?.imports;
        let (_, imported) = imports.iter().find(|(name, _)| *name == rest[0])?;
        let next = [self.absolute(module, imported)?, rest[1..].to_vec()].concat();
        (next != path).then_some(next)
    }
}

fn child(module: &[String], name: &str) -> ModulePath {
    [module, &[name.to_owned()]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let mut modules = CrateModules::default();
        for (file, text) in files {
            let path = format!("house/src/{file}");
            let (_, module) = module_of(Path::new(&path)).unwrap();
            modules.add(module, file, text);
        }
        let folders = modules.uses().into_iter();
        let found = folders.flat_map(|(folder, uses)| cycles::findings(&folder.join("/"), &uses));
        found.collect()
    }

    #[track_caller]
    fn assert_names(files: &[(&str, &str)], group: &str) {
        let found = found(files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(group), "{found:?}");
    }

    #[test]
    fn files_are_modules_wherever_they_are() {
        for (file, module) in [
            ("lib.rs", ""),
            ("bin/tool.rs", ""),
            ("a.rs", "a"),
            ("a/mod.rs", "a"),
            ("a/b/c.rs", "a/b/c"),
        ] {
            let (source, path) = module_of(&Path::new("crates/house/src").join(file)).unwrap();
            assert_eq!(
                (source.as_str(), path.join("/")),
                ("crates/house/src", module.into())
            );
        }
    }

    #[test]
    fn modules_that_use_one_another_are_found_at_every_depth() {
        assert_names(
            &[
                ("a.rs", "use crate::b::B;"),
                ("b/mod.rs", "fn f() { crate::c::g() }"),
                ("c.rs", "use crate::{\n    a::{A, Aa},\n    d,\n};"),
                (
                    "d.rs",
                    "// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}",
                ),
            ],
            "in  the modules a, b, c use",
        );
        assert_names(
            &[
                ("x/y/a.rs", "use super::b::B;"),
                ("x/y/b.rs", "fn f() { crate::x::y::a::g() }"),
            ],
            "in x/y the modules a, b use",
        );
    }

    #[test]
    fn a_folder_counts_with_everything_in_it() {
        assert_names(
            &[
                ("x/a/mod.rs", "mod one;\nmod two;"),
                ("x/a/one.rs", "use super::super::b::B;"),
                ("x/a/two.rs", ""),
                ("x/b.rs", "use super::a::two::Two;"),
            ],
            "in x the modules a, b use",
        );
    }

    #[test]
    fn what_a_folder_passes_on_belongs_to_the_module_that_has_it() {
        assert_names(
            &[
                (
                    "x/mod.rs",
                    "mod a;\nmod b;\npub use a::A;\npub(crate) use self::b::B as C;",
                ),
                ("x/a.rs", "use super::C;"),
                ("x/b.rs", "fn f(a: &super::A) {}"),
            ],
            "in x the modules a, b use",
        );
    }

    #[test]
    fn modules_that_point_one_way_are_fine() {
        let files = [
            ("lib.rs", "pub mod a;\nmod b;\npub use a::A;\nuse b::Gone;"),
            (
                "a/mod.rs",
                "mod part;\npub use part::Part;\npub struct A;\nuse crate::b;",
            ),
            ("a/part.rs", "use super::A;\nuse crate::b::B;"),
            ("b.rs", "use std::fmt;\n#[cfg(test)]\nmod trial;"),
            ("b/trial.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
