//! Which crate depends on which, according to `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::workspace::{CargoWorkspace, array, text};

/// How a crate depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DependencyKind {
    Normal,
    Build,
    Dev,
}

/// The dependencies of the workspace.
#[derive(Debug, Default)]
pub(super) struct DependencyGraph {
    /// Direct dependencies of each crate of the workspace, as its manifest declares them.
    pub(super) members: BTreeMap<String, BTreeSet<(String, DependencyKind)>>,
    /// Normal dependencies of every package in the build, as resolved for this platform.
    pub(super) normal: BTreeMap<String, BTreeSet<String>>,
}

impl DependencyGraph {
    pub(super) fn of(workspace: &CargoWorkspace) -> Self {
        let mut graph = Self::default();
        for package in workspace.members() {
            let declared = array(&package["dependencies"]).iter().map(|dependency| {
                let kind = match text(&dependency["kind"]) {
                    "dev" => DependencyKind::Dev,
                    "build" => DependencyKind::Build,
                    _ => DependencyKind::Normal,
                };
                (text(&dependency["name"]).to_owned(), kind)
            });
            graph
                .members
                .insert(text(&package["name"]).to_owned(), declared.collect());
        }
        let names: BTreeMap<&str, &str> = array(&workspace.metadata["packages"])
            .iter()
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        for node in array(&workspace.metadata["resolve"]["nodes"]) {
            let Some(name) = names.get(text(&node["id"])) else {
                continue;
            };
            // Two versions of one crate are merged here; the check needs only names.
            let needs = graph.normal.entry((*name).to_owned()).or_default();
            for dependency in array(&node["deps"]) {
                let normal = array(&dependency["dep_kinds"])
                    .iter()
                    .any(|kind| kind["kind"] == Value::Null);
                needs.extend(
                    names
                        .get(text(&dependency["pkg"]))
                        .filter(|_| normal)
                        .map(|name| (*name).to_owned()),
                );
            }
        }
        graph
    }

    /// The shortest path from one crate to each of its transitive dependencies, excluding the crate itself.
    pub(super) fn ways_down(&self, from: &str) -> BTreeMap<String, Vec<String>> {
        let mut ways: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut open = vec![vec![from.to_owned()]];
        while !open.is_empty() {
            let mut next = Vec::new();
            for way in &open {
                let here = way.last().map_or(from, String::as_str);
                for need in self.normal.get(here).into_iter().flatten() {
                    if need != from && !ways.contains_key(need) {
                        let way: Vec<String> = way.iter().cloned().chain([need.clone()]).collect();
                        ways.insert(need.clone(), way.clone());
                        next.push(way);
                    }
                }
            }
            open = next;
        }
        ways
    }
}
