//! Groups of modules that use one another, directly or through others.

use std::collections::{BTreeMap, BTreeSet};

/// Which modules each module uses, and in which file it does.
pub(super) type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// A finding for each group of one folder's modules that use one another.
pub(super) fn findings(folder: &str, uses: &Uses) -> Vec<String> {
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
            .flat_map(|from| uses.get(*from).into_iter().flatten())
            .filter(|(to, _)| group.contains(to.as_str()))
            .map(|(to, file)| format!("{file} uses {to}"))
            .collect();
        let names: Vec<&str> = group.iter().copied().collect();
        found.push(format!(
            "in {folder} the modules {} use one another: move what they share into a module that all of them may use ({})",
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
        for used in uses.get(next).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(used.as_str()) {
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
        for (from, to) in edges {
            let file = format!("{from}.rs");
            let known = uses.entry((*from).to_owned()).or_default();
            known.insert((*to).to_owned(), file);
        }
        uses
    }

    #[test]
    fn modules_that_use_one_another_are_found_however_far_apart() {
        let found = findings(
            "a house",
            &uses(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]),
        );
        assert_eq!(
            found,
            [
                "in a house the modules a, b, c use one another: move what they share into a module that all of them \
                 may use (a.rs uses b; b.rs uses c; c.rs uses a)"
            ]
        );
    }

    #[test]
    fn modules_that_point_one_way_are_fine() {
        let found = findings("a house", &uses(&[("a", "b"), ("a", "c"), ("b", "c")]));
        assert_eq!(found, [""; 0]);
    }
}
