//! `cargo xtask package`: packages every publishable crate and builds the packages together.
//!
//! Cargo (since 1.90) can verify a workspace's packages against each other, but it unpacks the siblings into its own
//! home once per version and never updates them: with unchanged versions, the second run verifies against the crates of
//! the first. So Cargo only packages here (`--no-verify`), and this task verifies: it unpacks the packages into a
//! workspace of their own, with the lock file of this one, and checks that workspace. It works without a network once
//! the dependencies have been fetched.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::TaskResult;
use crate::workspace::{CargoWorkspace, array, cargo, output, text};

/// A crate that is published to the registry.
struct PublishableCrate {
    name: String,
    version: String,
}

/// Packages the crates, unpacks the packages and checks them.
#[expect(clippy::print_stderr, reason = "says what was packaged")]
pub(crate) fn run(workspace: &CargoWorkspace) -> TaskResult {
    let (publishable, private): (Vec<_>, Vec<_>) =
        workspace.members().into_iter().partition(|package| {
            package["publish"].is_null() || !array(&package["publish"]).is_empty()
        });
    let missing: Vec<String> = publishable
        .iter()
        .flat_map(|package| missing_metadata(package))
        .collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let crates: Vec<PublishableCrate> = publishable
        .iter()
        .map(|package| PublishableCrate {
            name: text(&package["name"]).to_owned(),
            version: text(&package["version"]).to_owned(),
        })
        .collect();

    let mut package = cargo();
    // Uncommitted changes are fine: this proves that packaging works and does not release anything.
    package.current_dir(&workspace.root).args([
        "package",
        "--workspace",
        "--no-verify",
        "--allow-dirty",
        "--quiet",
    ]);
    for one in &private {
        package.args(["--exclude", text(&one["name"])]);
    }
    output(&mut package)?;

    let folder = workspace.target.join("package-check");
    unpack(workspace, &crates, &folder)?;
    let mut check = cargo();
    check
        .current_dir(&folder)
        .args(["check", "--workspace", "--quiet"]);
    check.env("CARGO_TARGET_DIR", folder.join("target"));
    output(&mut check)?;
    for one in &crates {
        eprintln!("packaged and checked: {} {}", one.name, one.version);
    }
    Ok(())
}

/// Metadata that the registry requires and the manifest lacks.
fn missing_metadata(package: &serde_json::Value) -> Vec<String> {
    let name = text(&package["name"]);
    ["description", "license", "repository"]
        .into_iter()
        .filter(|key| matches!(text(&package[*key]), "" | "placeholder"))
        .map(|key| format!("{name} has no {key}: publishable crates need one"))
        .collect()
}

/// Creates a workspace that consists of the packages alone.
fn unpack(workspace: &CargoWorkspace, crates: &[PublishableCrate], folder: &Path) -> TaskResult {
    let failed = |error: std::io::Error| vec![format!("{}: {error}", folder.display())];
    fs::create_dir_all(folder).map_err(failed)?;
    let mut manifest = String::from("[workspace]\nresolver = \"3\"\nmembers = [\n");
    let mut patch = String::from("]\n\n[patch.crates-io]\n");
    for PublishableCrate { name, version } in crates {
        let package = format!("{name}-{version}");
        if folder.join(&package).exists() {
            fs::remove_dir_all(folder.join(&package)).map_err(failed)?;
        }
        let archive = workspace
            .target
            .join("package")
            .join(format!("{package}.crate"));
        // `-m`: all files in a package carry one fixed date, so Cargo would take changed files for old ones.
        output(
            Command::new("tar")
                .current_dir(folder)
                .arg("-xzmf")
                .arg(archive),
        )?;
        manifest.push_str(&format!("  \"{package}\",\n"));
        patch.push_str(&format!("{name} = {{ path = \"{package}\" }}\n"));
    }
    fs::write(folder.join("Cargo.toml"), manifest + &patch).map_err(failed)?;
    fs::copy(workspace.root.join("Cargo.lock"), folder.join("Cargo.lock")).map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_without_metadata_is_named() {
        let package = serde_json::json!({"name": "a", "description": "placeholder", "license": "MIT", "repository": null});
        assert_eq!(
            missing_metadata(&package),
            [
                "a has no description: publishable crates need one",
                "a has no repository: publishable crates need one"
            ]
        );
    }
}
