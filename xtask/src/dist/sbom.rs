//! The list of what the program was built of, in CycloneDX 1.5 (JSON): every crate that is compiled into it, with its
//! version, license, checksum and what it depends on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{PROGRAM, PackageFacts};
use crate::workspace::{CargoWorkspace, array, text};

/// The packages that a crate of the workspace is compiled from, itself and the workspace's others included.
pub(super) fn crates_of<'w>(workspace: &'w CargoWorkspace, root: &str) -> Vec<&'w Value> {
    let packages: BTreeMap<&str, &Value> = array(&workspace.metadata["packages"])
        .iter()
        .map(|package| (text(&package["id"]), package))
        .collect();
    let links = links(&workspace.metadata);
    let root = packages
        .values()
        .find(|package| text(&package["name"]) == root && package["source"].is_null());
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = root.map(|root| text(&root["id"])).into_iter().collect();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(links.get(id).into_iter().flatten());
        }
    }
    let mut crates: Vec<&Value> = found
        .iter()
        .filter_map(|id| packages.get(id))
        .copied()
        .collect();
    crates.sort_by_key(|package| (text(&package["name"]), text(&package["version"])));
    crates
}

/// What each package is compiled with: not what its tests or its build script need.
fn links(metadata: &Value) -> BTreeMap<&str, Vec<&str>> {
    let nodes = array(&metadata["resolve"]["nodes"]);
    nodes
        .iter()
        .map(|node| {
            let needed = array(&node["deps"])
                .iter()
                .filter(|dep| {
                    array(&dep["dep_kinds"])
                        .iter()
                        .any(|kind| kind["kind"].is_null())
                })
                .map(|dep| text(&dep["pkg"]));
            (text(&node["id"]), needed.collect())
        })
        .collect()
}

/// The name of a crate in every such list in the world.
fn purl(package: &Value) -> String {
    format!(
        "pkg:cargo/{}@{}",
        text(&package["name"]),
        text(&package["version"])
    )
}

/// The document.
pub(super) fn document(
    workspace: &CargoWorkspace,
    crates: &[&Value],
    facts: &PackageFacts,
) -> Result<Vec<u8>, Vec<String>> {
    let sums = checksums(&workspace.text("Cargo.lock")?);
    let links = links(&workspace.metadata);
    let by_id: BTreeMap<&str, &Value> = crates
        .iter()
        .map(|package| (text(&package["id"]), *package))
        .collect();
    let components: Vec<Value> = crates
        .iter()
        .map(|package| component(package, &sums))
        .collect();
    let dependencies: Vec<Value> = crates
        .iter()
        .map(|package| {
            let needed = links.get(text(&package["id"])).into_iter().flatten();
            let needed: BTreeSet<String> = needed
                .filter_map(|id| by_id.get(id))
                .map(|package| purl(package))
                .collect();
            json!({"ref": purl(package), "dependsOn": needed})
        })
        .collect();
    let document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": PROGRAM,
                "name": PROGRAM,
                "version": facts.version,
                "licenses": [{"expression": facts.license}],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{document:#}\n").into_bytes())
}

fn component(package: &Value, sums: &BTreeMap<(String, String), String>) -> Value {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let purl = purl(package);
    let mut component = json!({
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "scope": "required",
    });
    // An older way to write "or".
    let license = text(&package["license"]).replace('/', " OR ");
    if !license.is_empty() {
        component["licenses"] = json!([{"expression": license}]);
    }
    if let Some(sum) = sums.get(&(name.to_owned(), version.to_owned())) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    if let Some(repository) = package["repository"].as_str() {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

/// The checksums in a lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let field = |block: &str, name: &str| {
        let line = block
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""));
        line.and_then(|value| value.strip_suffix('"'))
            .map(str::to_owned)
    };
    lock.split("[[package]]")
        .filter_map(|block| {
            let key = (field(block, "name")?, field(block, "version")?);
            Some((key, field(block, "checksum")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> CargoWorkspace {
        let package = |name: &str, source: Value| json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0", "source": source});
        let dep = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        CargoWorkspace {
            root: ".".into(),
            target: "target".into(),
            metadata: json!({
                "packages": [package("app", Value::Null), package("lib", json!("registry")), package("tests", json!("registry"))],
                "resolve": {"nodes": [
                    {"id": "app", "deps": [dep("lib", Value::Null), dep("tests", json!("dev"))]},
                    {"id": "lib", "deps": []},
                ]},
            }),
        }
    }

    #[test]
    fn what_only_tests_need_is_not_in_the_program() {
        let workspace = workspace();
        let crates = crates_of(&workspace, "app");
        let names: Vec<&str> = crates.iter().map(|one| text(&one["name"])).collect();
        assert_eq!(names, ["app", "lib"]);
    }

    #[test]
    fn a_component_has_its_license_and_its_checksum() {
        let lock = "[[package]]\nname = \"lib\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n\n[[package]]\nname = \"app\"\nversion = \"1.0.0\"\n";
        let workspace = workspace();
        let crates = crates_of(&workspace, "app");
        let component = component(crates[1], &checksums(lock));
        assert_eq!(component["purl"], "pkg:cargo/lib@1.0.0");
        assert_eq!(component["hashes"][0]["content"], "abc");
        assert_eq!(component["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
