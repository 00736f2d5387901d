//! Installs packages from their registries, each client into a folder of its own that later runs reuse.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::CheckContext;
use super::catalog::{PackageRegistry, PinnedPackage, TestedClient};
use crate::workspace::text;

/// Which versions to install.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedVersions {
    /// The versions that were tested last.
    Tried,
    /// The newest versions.
    Latest,
}

/// A client that is ready to run.
pub(super) struct InstalledClient {
    /// The folder with its packages.
    pub(super) folder: PathBuf,
    /// The client's version, as it reports it.
    pub(super) version: String,
}

impl InstalledClient {
    /// The path of a program that a package installed.
    pub(super) fn program(&self, registry: PackageRegistry, name: &str) -> PathBuf {
        match registry {
            PackageRegistry::PyPi => self.folder.join("bin").join(name),
            PackageRegistry::Npm => self.folder.join("node_modules/.bin").join(name),
        }
    }
}

/// Returns a client with its packages, and installs them if necessary.
pub(super) fn client(
    setting: &CheckContext<'_>,
    client: &TestedClient,
    versions: WantedVersions,
) -> Result<InstalledClient, String> {
    let suffix = match versions {
        WantedVersions::Tried => "",
        WantedVersions::Latest => "-latest",
    };
    let folder = setting.folder.join(format!("{}{suffix}", client.name));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let wanted: Vec<String> = client
        .packages
        .iter()
        .map(|package| requirement(package, client.registry, versions))
        .collect();
    let note = folder.join("installed.txt");
    // The newest version may have changed since the last run.
    let there = versions == WantedVersions::Tried
        && fs::read_to_string(&note).is_ok_and(|text| text == wanted.join("\n"));
    if !there {
        match client.registry {
            PackageRegistry::PyPi => python(&folder, &wanted)?,
            PackageRegistry::Npm => javascript(&folder, &wanted)?,
        }
        fs::write(&note, wanted.join("\n")).map_err(|error| error.to_string())?;
    }
    let version = match client.packages.first() {
        Some(package) => version(&folder, client.registry, package.name)?,
        None => String::new(),
    };
    Ok(InstalledClient { folder, version })
}

/// A package requirement in the syntax of its registry.
fn requirement(
    package: &PinnedPackage,
    registry: PackageRegistry,
    versions: WantedVersions,
) -> String {
    let PinnedPackage {
        name,
        version,
        bound,
    } = package;
    match (registry, versions) {
        (PackageRegistry::PyPi, WantedVersions::Tried) => format!("{name}=={version}"),
        (PackageRegistry::PyPi, WantedVersions::Latest) => format!("{name}{bound}"),
        (PackageRegistry::Npm, WantedVersions::Tried) => format!("{name}@{version}"),
        (PackageRegistry::Npm, WantedVersions::Latest) if bound.is_empty() => {
            format!("{name}@latest")
        }
        (PackageRegistry::Npm, WantedVersions::Latest) => format!("{name}@{bound}"),
    }
}

fn python(folder: &Path, wanted: &[String]) -> Result<(), String> {
    done(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade"]);
    done(pip.arg("--disable-pip-version-check").args(wanted))
}

fn javascript(folder: &Path, wanted: &[String]) -> Result<(), String> {
    // Scripts next to the packages are modules.
    let manifest = json!({ "name": "longhaul-clients", "private": true, "type": "module" });
    fs::write(folder.join("package.json"), manifest.to_string())
        .map_err(|error| error.to_string())?;
    let mut npm = Command::new("npm");
    npm.current_dir(folder)
        .args(["install", "--silent", "--no-audit", "--no-fund"]);
    done(npm.args(wanted))
}

fn version(folder: &Path, registry: PackageRegistry, package: &str) -> Result<String, String> {
    match registry {
        PackageRegistry::PyPi => {
            let ask =
                "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))";
            let mut python = Command::new(folder.join("bin/python"));
            let told = python.args(["-c", ask, package]).output();
            let told = told.map_err(|error| format!("python: {error}"))?;
            Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned())
        }
        PackageRegistry::Npm => {
            let manifest = folder
                .join("node_modules")
                .join(package)
                .join("package.json");
            let read = fs::read_to_string(manifest).map_err(|error| error.to_string())?;
            let manifest: Value = serde_json::from_str(&read).map_err(|error| error.to_string())?;
            Ok(text(&manifest["version"]).to_owned())
        }
    }
}

/// Runs a command to its end; if it fails, the error is its output.
fn done(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!(
            "{name} ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_as_its_registry_wants_it() {
        let package = PinnedPackage {
            name: "anthropic",
            version: "0.125.0",
            bound: "<1",
        };
        let named = |registry, versions| requirement(&package, registry, versions);
        assert_eq!(
            named(PackageRegistry::PyPi, WantedVersions::Tried),
            "anthropic==0.125.0"
        );
        assert_eq!(
            named(PackageRegistry::PyPi, WantedVersions::Latest),
            "anthropic<1"
        );
        assert_eq!(
            named(PackageRegistry::Npm, WantedVersions::Tried),
            "anthropic@0.125.0"
        );
        assert_eq!(
            named(PackageRegistry::Npm, WantedVersions::Latest),
            "anthropic@<1"
        );
    }
}
