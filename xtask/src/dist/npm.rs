//! The npm packages: one for each platform with the program in it, and `longhaul`, which depends on all of them and
//! starts the one that npm installed. No script runs while they are installed.

use serde_json::{Map, Value, json};

use super::archive::{self, PackedFile};
use super::contents::{PackageContents, below};
use super::platform::PackagePlatform;
use super::{PROGRAM, PackageFacts};

/// The platforms that packages are made for, as npm names them: `os-cpu`.
const PLATFORMS: [&str; 6] = [
    "linux-x64",
    "linux-arm64",
    "darwin-x64",
    "darwin-arm64",
    "win32-x64",
    "win32-arm64",
];
/// Starts the program of the installed platform package.
const LAUNCHER: &str = include_str!("launcher.js");

fn package_of(platform: &str) -> String {
    format!("@{PROGRAM}/{platform}")
}

fn manifest(name: &str, facts: &PackageFacts) -> Value {
    json!({
        "name": name,
        "version": facts.version,
        "description": facts.description,
        "license": facts.license,
        "homepage": facts.homepage,
        "repository": {"type": "git", "url": format!("git+{}.git", facts.homepage)},
    })
}

fn pack(
    name: &str,
    manifest: &Value,
    files: Vec<PackedFile>,
) -> Result<(String, Vec<u8>), Vec<String>> {
    let mut all = vec![PackedFile::data("package.json", format!("{manifest:#}\n"))];
    all.extend(files);
    Ok((format!("{name}.tgz"), archive::tar_gz("package", &all)?))
}

/// The package with the program for one platform.
pub(super) fn pack_program(
    contents: &PackageContents,
    facts: &PackageFacts,
    platform: &PackagePlatform,
) -> Result<(String, Vec<u8>), Vec<String>> {
    let name = format!("{}-{}", platform.npm_os, platform.npm_cpu);
    let mut manifest = manifest(&package_of(&name), facts);
    manifest["os"] = json!([platform.npm_os]);
    manifest["cpu"] = json!([platform.npm_cpu]);
    if platform.npm_os == "linux" {
        manifest["libc"] = json!(["glibc"]);
    }
    manifest["preferUnplugged"] = json!(true);
    let program = PackedFile {
        path: format!("bin/{}", contents.program.path),
        ..contents.program.clone()
    };
    let mut files = vec![program];
    files.extend(contents.legal());
    files.extend(below("man", &contents.manual_pages));
    pack(
        &format!("npm-{PROGRAM}-{name}-{}", facts.version),
        &manifest,
        files,
    )
}

/// The package that people name.
pub(super) fn pack_launcher(
    contents: &PackageContents,
    facts: &PackageFacts,
) -> Result<(String, Vec<u8>), Vec<String>> {
    let mut manifest = manifest(PROGRAM, facts);
    manifest["bin"] = json!({PROGRAM: "bin/longhaul.js"});
    manifest["engines"] = json!({"node": ">=16"});
    let platforms: Map<String, Value> = PLATFORMS
        .iter()
        .map(|platform| (package_of(platform), json!(facts.version)))
        .collect();
    manifest["optionalDependencies"] = Value::Object(platforms);
    let mut files = vec![
        PackedFile::program("bin/longhaul.js", LAUNCHER),
        contents.readme.clone(),
    ];
    files.extend(contents.licenses.iter().take(2).cloned());
    pack(
        &format!("npm-{PROGRAM}-{}", facts.version),
        &manifest,
        files,
    )
}
