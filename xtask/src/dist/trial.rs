//! Installs each package into a folder of its own, as a user would but without a network, and runs the program from
//! there. What has no installer on this machine is said and left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::PROGRAM;
use crate::TaskResult;
use crate::workspace::output;

/// Tries every package.
#[expect(clippy::print_stdout, reason = "says what was tried")]
pub(super) fn install_and_run(packages: &[PathBuf], version: &str) -> TaskResult {
    let scratch = std::env::temp_dir().join(format!("longhaul-packages-{}", std::process::id()));
    let failed = |error: std::io::Error| vec![format!("{}: {error}", scratch.display())];
    let mut tried = Vec::new();
    let mut wrong = Vec::new();
    for (kind, try_it) in [
        ("tarball", tarball as TryPackage),
        ("wheel", wheel),
        ("wheel through uvx", uvx),
        ("npm packages", npm),
    ] {
        let folder = scratch.join(kind.replace(' ', "-"));
        fs::create_dir_all(&folder).map_err(failed)?;
        match try_it(packages, &folder) {
            Ok(Some(program)) => match runs(&program, version) {
                Ok(()) => tried.push(kind),
                Err(why) => wrong.extend(why),
            },
            Ok(None) => println!("not tried: the {kind} (its installer is not on this machine)"),
            Err(why) => wrong.extend(why.into_iter().map(|why| format!("{kind}: {why}"))),
        }
    }
    fs::remove_dir_all(&scratch).map_err(failed)?;
    println!("installed and run: {}", tried.join(", "));
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Installs one kind of package into a folder; `None` if that cannot be done here, or the program.
type TryPackage = fn(&[PathBuf], &Path) -> Result<Option<PathBuf>, Vec<String>>;

fn is_there(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").output();
    asked.is_ok_and(|output| output.status.success())
}

fn with_ending<'p>(packages: &'p [PathBuf], ending: &str) -> impl Iterator<Item = &'p PathBuf> {
    packages
        .iter()
        .filter(move |path| path.to_string_lossy().ends_with(ending))
}

fn tarball(packages: &[PathBuf], folder: &Path) -> Result<Option<PathBuf>, Vec<String>> {
    if !is_there("tar") {
        return Ok(None);
    }
    let Some(package) = with_ending(packages, ".tar.gz").next() else {
        return Err(vec!["there is none".to_owned()]);
    };
    let mut tar = Command::new("tar");
    output(tar.current_dir(folder).arg("-xzf").arg(absolute(package)?))?;
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    let inside = folder.join(name.trim_end_matches(".tar.gz"));
    for file in [
        "man/man1/longhaul.1",
        "completions/_longhaul",
        "LICENSE-MIT",
        "THIRD-PARTY-LICENSES.txt",
        "sbom.cdx.json",
    ] {
        if !inside.join(file).is_file() {
            return Err(vec![format!("{file} is missing")]);
        }
    }
    Ok(Some(inside.join(program_name())))
}

fn wheel(packages: &[PathBuf], folder: &Path) -> Result<Option<PathBuf>, Vec<String>> {
    if !is_there("python3") {
        return Ok(None);
    }
    let mut venv = Command::new("python3");
    let made = venv.args(["-m", "venv"]).arg(folder).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return Ok(None);
    }
    let python = folder.join("bin/python");
    for package in with_ending(packages, ".whl") {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--no-index"])
            .args(["--disable-pip-version-check", "--no-deps"])
            .arg(absolute(package)?);
        output(&mut pip)?;
    }
    Ok(Some(folder.join("bin").join(program_name())))
}

/// `uvx` runs a wheel from a folder of its own, which it makes.
fn uvx(packages: &[PathBuf], folder: &Path) -> Result<Option<PathBuf>, Vec<String>> {
    if !is_there("uv") {
        return Ok(None);
    }
    let Some(package) = with_ending(packages, ".whl").next() else {
        return Err(vec!["there is none".to_owned()]);
    };
    let mut uv = Command::new("uv");
    uv.args(["tool", "install", "--quiet", "--offline"])
        .arg(absolute(package)?)
        .env("UV_CACHE_DIR", folder.join("cache"))
        .env("UV_TOOL_DIR", folder.join("tools"))
        .env("UV_TOOL_BIN_DIR", folder.join("bin"));
    output(&mut uv)?;
    Ok(Some(folder.join("bin").join(program_name())))
}

fn npm(packages: &[PathBuf], folder: &Path) -> Result<Option<PathBuf>, Vec<String>> {
    if !is_there("npm") {
        return Ok(None);
    }
    let mut npm = Command::new("npm");
    npm.current_dir(folder)
        .args([
            "install",
            "--global",
            "--offline",
            "--no-audit",
            "--no-fund",
            "--silent",
        ])
        .arg("--prefix")
        .arg(folder)
        .env("npm_config_cache", folder.join("cache"));
    // What is installed first is not looked for elsewhere.
    for package in with_ending(packages, ".tgz") {
        npm.arg(absolute(package)?);
    }
    output(&mut npm)?;
    // Where npm puts what is installed for everybody.
    let is_unix = cfg!(unix);
    Ok(Some(if is_unix {
        folder.join("bin").join(PROGRAM)
    } else {
        folder.join(format!("{PROGRAM}.cmd"))
    }))
}

fn absolute(path: &Path) -> Result<PathBuf, Vec<String>> {
    path.canonicalize()
        .map_err(|error| vec![format!("{}: {error}", path.display())])
}

fn program_name() -> String {
    format!("longhaul{}", std::env::consts::EXE_SUFFIX)
}

/// Runs the program: its version, one command that reads settings, and a prompt that the simulated model answers.
fn runs(program: &Path, version: &str) -> TaskResult {
    let said = output(Command::new(program).arg("--version"))?;
    if said.trim() != format!("longhaul {version}") {
        return Err(vec![format!("{} says {said:?}", program.display())]);
    }
    let settings = output(Command::new(program).args(["config", "--explain"]))?;
    if !settings.contains("window.") {
        return Err(vec![format!(
            "{} cannot show its settings",
            program.display()
        )]);
    }
    let home = std::env::temp_dir().join(format!("longhaul-trial-{}", std::process::id()));
    fs::create_dir_all(&home).map_err(|error| vec![format!("{}: {error}", home.display())])?;
    let answer = output(
        Command::new(program)
            .args(["chat", "-p", "What is in this folder?"])
            .current_dir(&home)
            .env("LONGHAUL_HOME", home.join("home"))
            .env_remove("ANTHROPIC_API_KEY"),
    );
    let _ = fs::remove_dir_all(&home);
    if answer?.trim().is_empty() {
        return Err(vec![format!("{} does not answer", program.display())]);
    }
    Ok(())
}
