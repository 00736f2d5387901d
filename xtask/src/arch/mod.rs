//! `cargo xtask arch`: checks the workspace against its plan.
//!
//! `rules` holds the plan, `graph` the actual dependencies, and `layers` compares the two; `modules` looks for cycles
//! inside a crate, `files` checks sources and documents, `dependency_table` that each dependency has its reason in
//! ARCHITECTURE.md. Every finding is a sentence that says what to do.

mod cycles;
mod dependency_table;
mod files;
mod graph;
mod layers;
mod modules;
mod named_paths;
mod rules;

use crate::TaskResult;
use crate::workspace::CargoWorkspace;
use graph::DependencyGraph;

/// Runs all checks, so that one run shows everything there is to fix.
pub(crate) fn run(workspace: &CargoWorkspace) -> TaskResult {
    let graph = DependencyGraph::of(workspace);
    let mut found = layers::findings(&graph);
    found.extend(modules::findings(workspace)?);
    found.extend(files::sources(workspace)?);
    found.extend(files::documents(workspace)?);
    found.extend(files::walks(workspace)?);
    found.extend(files::machine_paths(workspace)?);
    found.extend(dependency_table::findings(workspace)?);
    if found.is_empty() { Ok(()) } else { Err(found) }
}
