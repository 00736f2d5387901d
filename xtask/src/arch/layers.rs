//! Checks the dependency graph against the plan. It is pure, so its tests need no workspace.

use super::graph::{DependencyGraph, DependencyKind};
use super::rules::{BANNED_FROM_CORE, PURE, ROOMS, TESTKIT};

/// The plan's file, as named in findings.
const PLAN: &str = "xtask/src/arch/rules.rs";

/// Lists what is wrong with the graph, one sentence per problem.
pub(super) fn findings(graph: &DependencyGraph) -> Vec<String> {
    let mut found = Vec::new();
    for (name, dependencies) in &graph.members {
        let Some(room) = ROOMS.iter().find(|room| room.name == name) else {
            found.push(format!(
                "crate {name} is not in the plan: add it to {PLAN} with the crates it may use"
            ));
            continue;
        };
        for (used, kind) in dependencies
            .iter()
            .filter(|(used, _)| graph.members.contains_key(used))
        {
            if used == TESTKIT {
                if *kind != DependencyKind::Dev {
                    found.push(format!(
                        "{name} uses {TESTKIT} outside tests: make it a dev-dependency"
                    ));
                }
            } else if *kind == DependencyKind::Dev && room.tests_may_use.contains(&used.as_str()) {
                continue;
            } else if !room.may_use.contains(&used.as_str()) {
                found.push(format!(
                    "{name} may not use {used}: {}",
                    allowed(room.may_use)
                ));
            }
        }
    }
    found.extend(impurities(graph));
    found
}

fn allowed(may_use: &[&str]) -> String {
    match may_use {
        [] => format!("the plan ({PLAN}) allows no crate of the workspace"),
        some => format!("the plan ({PLAN}) allows {}", some.join(", ")),
    }
}

/// Banned crates among the core's dependencies, each with the path by which it came in.
fn impurities(graph: &DependencyGraph) -> Vec<String> {
    let ways = graph.ways_down(PURE);
    BANNED_FROM_CORE
        .iter()
        .filter_map(|(banned, reason)| {
            let way = ways.get(*banned)?;
            Some(format!(
                "{PURE} may not depend on {banned}: {reason} (it comes in by {})",
                way.join(" → ")
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a graph with one crate per line, `name: used, used (dev), …`; resolved dependencies follow a `>`.
    fn graph(lines: &[&str]) -> DependencyGraph {
        let mut graph = DependencyGraph::default();
        for line in lines {
            if let Some((name, needs)) = line.split_once(" > ") {
                graph
                    .normal
                    .entry(name.to_owned())
                    .or_default()
                    .extend(needs.split(' ').map(str::to_owned));
                continue;
            }
            let (name, uses) = line.split_once(':').unwrap();
            let uses = uses
                .split(',')
                .map(str::trim)
                .filter(|used| !used.is_empty())
                .map(|used| match used.split_once(' ') {
                    Some((used, "(dev)")) => (used.to_owned(), DependencyKind::Dev),
                    Some((used, "(build)")) => (used.to_owned(), DependencyKind::Build),
                    _ => (used.to_owned(), DependencyKind::Normal),
                });
            graph.members.insert(name.to_owned(), uses.collect());
        }
        graph
    }

    #[test]
    fn the_plan_itself_is_fine_when_followed_to_the_letter() {
        let mut graph = DependencyGraph::default();
        for room in ROOMS {
            let mut uses: Vec<_> = room
                .may_use
                .iter()
                .map(|used| ((*used).to_owned(), DependencyKind::Normal))
                .collect();
            uses.push((TESTKIT.to_owned(), DependencyKind::Dev));
            graph
                .members
                .insert(room.name.to_owned(), uses.into_iter().collect());
        }
        assert_eq!(findings(&graph), [""; 0]);
    }

    #[test]
    fn the_plan_points_one_way() {
        for (at, room) in ROOMS.iter().enumerate() {
            for used in room.may_use {
                let below = ROOMS.iter().position(|other| other.name == *used);
                assert!(
                    below.is_some_and(|below| below < at),
                    "{} uses {used}",
                    room.name
                );
            }
        }
    }

    #[test]
    fn looking_up_is_refused() {
        let found = findings(&graph(&[
            "longhaul-core: longhaul-store",
            "longhaul-store: longhaul-core, serde",
        ]));
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("longhaul-core may not use longhaul-store"),
            "{found:?}"
        );
    }

    #[test]
    fn looking_up_is_refused_in_tests_and_build_scripts_too() {
        for kind in ["(dev)", "(build)"] {
            let found = findings(&graph(&[
                &format!("longhaul-store: longhaul-cli {kind}"),
                "longhaul-cli:",
            ]));
            assert_eq!(found.len(), 1, "{kind}");
        }
    }

    #[test]
    fn the_library_does_not_use_the_simulator_but_programs_do() {
        let sim = "longhaul-sim: longhaul-core";
        for (name, findings_expected) in [
            ("longhaul", 1),
            ("longhaul-store", 1),
            ("longhaul-provider", 1),
            ("longhaul-agent", 0),
            ("longhaul-gateway", 0),
            ("longhaul-cli", 0),
        ] {
            let found = findings(&graph(&[
                "longhaul-core:",
                sim,
                &format!("{name}: longhaul-sim"),
            ]));
            assert_eq!(found.len(), findings_expected, "{name}: {found:?}");
        }
    }

    #[test]
    fn the_library_is_tested_against_the_simulator() {
        let found = findings(&graph(&[
            "longhaul-core:",
            "longhaul-sim: longhaul-core",
            "longhaul: longhaul-sim (dev)",
        ]));
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn the_testkit_is_for_tests() {
        let kit = "longhaul-testkit:";
        assert_eq!(
            findings(&graph(&[kit, "longhaul-core: longhaul-testkit (dev)"])),
            [""; 0]
        );
        let found = findings(&graph(&[kit, "longhaul-core: longhaul-testkit"]));
        assert_eq!(
            found,
            ["longhaul-core uses longhaul-testkit outside tests: make it a dev-dependency"]
        );
    }

    #[test]
    fn a_crate_nobody_planned_fails() {
        let found = findings(&graph(&["longhaul-utils: longhaul-core", "longhaul-core:"]));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("longhaul-utils is not in the plan"));
    }

    #[test]
    fn nobody_uses_the_chores() {
        assert_eq!(
            findings(&graph(&["longhaul-cli: xtask", "xtask: serde_json"])).len(),
            1
        );
    }

    #[test]
    fn what_the_core_pulls_in_from_afar_is_found_with_the_way() {
        let found = findings(&graph(&[
            "longhaul-core: toml",
            "longhaul-store: tokio",
            "longhaul-core > toml memchr",
            "toml > winnow",
            "winnow > getrandom toml",
            "longhaul-store > tokio longhaul-core",
        ]));
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains("may not depend on getrandom"),
            "{found:?}"
        );
        assert!(
            found[0].contains("longhaul-core → toml → winnow → getrandom"),
            "{found:?}"
        );
    }
}
