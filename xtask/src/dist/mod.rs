//! `cargo xtask dist`: the packages that people install without building anything.
//!
//! It builds the command with the profile `dist` and all features, and makes of it a tarball, a Python wheel and npm
//! packages, each with the same files where its format has a place for them (`contents.rs`). `--binary FILE` packs a program
//! that is already built, whatever its size; `--try` installs each package into a folder of its own and runs it from
//! there (`trial.rs`). The container recipe in `packaging/` builds by itself, and is only read here (`recipe.rs`).

mod archive;
mod contents;
mod npm;
mod platform;
mod recipe;
mod sbom;
mod third_party;
mod trial;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use crate::TaskResult;
use crate::workspace::{CargoWorkspace, cargo, output, text};
use archive::PackedFile;
use contents::PackageContents;
use platform::PackagePlatform;

/// The crate with the program, and the program's name.
const COMMAND: &str = "longhaul-cli";
const PROGRAM: &str = "longhaul";
/// The program that people download is smaller than this.
const MOST_BYTES: u64 = 50_000_000;

pub(crate) const USAGE: &str = "\
  dist         build the command for release and pack it: tarball, wheel, npm packages, checksums, below target/packages
                 --binary FILE   pack this program instead of building one
                 --out FOLDER    put the packages here
                 --try           install each package into a folder of its own and run it";

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct DistRequest {
    binary: Option<PathBuf>,
    out: Option<PathBuf>,
    is_trial: bool,
}

impl DistRequest {
    fn parse(words: &[&str]) -> Result<Self, Vec<String>> {
        let mut request = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .map(PathBuf::from)
                    .ok_or_else(|| vec![format!("{word} needs a path")])
            };
            match *word {
                "--binary" => request.binary = Some(value()?),
                "--out" => request.out = Some(value()?),
                "--try" => request.is_trial = true,
                other => return Err(vec![format!("dist does not know {other}\n\n{USAGE}")]),
            }
        }
        Ok(request)
    }
}

/// What all packages say about the program.
struct PackageFacts {
    version: String,
    description: String,
    license: String,
    homepage: String,
}

/// Builds the program, packs it and says what came out.
#[expect(clippy::print_stdout, reason = "the packages are the result")]
pub(crate) fn run(workspace: &CargoWorkspace, words: &[&str]) -> TaskResult {
    let request = DistRequest::parse(words)?;
    let facts = facts(workspace)?;
    let platform = PackagePlatform::of_this_machine()?;
    let (program, is_release) = match &request.binary {
        Some(path) => (path.clone(), false),
        None => (build(workspace)?, true),
    };
    let program = read(&program)?;
    let size = program.len() as u64;
    if is_release && size > MOST_BYTES {
        return Err(vec![format!(
            "the program has {size} bytes, and at most {MOST_BYTES} are allowed: is the profile `dist` still stripped?"
        )]);
    }
    if is_release && has_symbols(&program) {
        return Err(vec![
            "the program has a table of symbols: is it still stripped in the profile `dist`?"
                .to_owned(),
        ]);
    }
    recipe::check(workspace)?;

    let out = request.out.unwrap_or(workspace.target.join("packages"));
    fs::create_dir_all(&out).map_err(|error| vec![format!("{}: {error}", out.display())])?;
    let contents = PackageContents::gather(workspace, program, &facts)?;
    let name = format!("{PROGRAM}-{}-{}", facts.version, platform.triple);
    let packages = [
        (
            format!("{name}.tar.gz"),
            archive::tar_gz(&name, &contents.tarball())?,
        ),
        wheel::pack(&contents, &facts, &platform)?,
        npm::pack_program(&contents, &facts, &platform)?,
        npm::pack_launcher(&contents, &facts)?,
        (format!("{name}.cdx.json"), contents.sbom().to_vec()),
    ];
    let mut sums = String::new();
    let mut paths = Vec::new();
    for (name, bytes) in &packages {
        let path = out.join(name);
        fs::write(&path, bytes).map_err(|error| vec![format!("{}: {error}", path.display())])?;
        sums.push_str(&format!("{}  {name}\n", archive::sha256_hex(bytes)));
        println!(
            "{:>6.1} MB  {}",
            bytes.len() as f64 / 1_000_000.0,
            path.display()
        );
        paths.push(path);
    }
    let path = out.join("SHA256SUMS");
    fs::write(&path, sums).map_err(|error| vec![format!("{}: {error}", path.display())])?;
    println!("the program has {:.1} MB", size as f64 / 1_000_000.0);
    if request.is_trial {
        trial::install_and_run(&paths, &facts.version)?;
    }
    Ok(())
}

fn facts(workspace: &CargoWorkspace) -> Result<PackageFacts, Vec<String>> {
    let members = workspace.members();
    let package = members
        .iter()
        .find(|package| text(&package["name"]) == COMMAND)
        .ok_or_else(|| vec![format!("there is no crate {COMMAND}")])?;
    let field = |name: &str| text(&package[name]).to_owned();
    Ok(PackageFacts {
        version: field("version"),
        description: field("description"),
        license: field("license"),
        homepage: field("homepage"),
    })
}

/// Builds the program as people download it.
fn build(workspace: &CargoWorkspace) -> Result<PathBuf, Vec<String>> {
    let mut build = cargo();
    build
        .current_dir(&workspace.root)
        .args(["build", "--locked", "--profile", "dist"])
        .args(["--package", COMMAND, "--features", "full"]);
    output(&mut build)?;
    let program = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    Ok(workspace.target.join("dist").join(program))
}

/// Whether a program for Linux still has the names of its functions; nobody who installs it needs them.
fn has_symbols(program: &[u8]) -> bool {
    const SECTION: &[u8] = b"\0.symtab\0";
    program.starts_with(b"\x7fELF") && program.windows(SECTION.len()).any(|part| part == SECTION)
}

fn read(path: &Path) -> Result<Vec<u8>, Vec<String>> {
    fs::read(path).map_err(|error| vec![format!("cannot read {}: {error}", path.display())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_a_table_of_symbols_is_known() {
        assert!(has_symbols(b"\x7fELF...\0.symtab\0.strtab\0"));
        assert!(!has_symbols(b"\x7fELF...\0.shstrtab\0.text\0"));
        assert!(!has_symbols(b"MZ \0.symtab\0"));
    }

    #[test]
    fn flags_are_read_and_unknown_ones_refused() {
        let request = DistRequest::parse(&["--binary", "a", "--try", "--out", "b"]).unwrap();
        assert_eq!(request.binary, Some("a".into()));
        assert_eq!(request.out, Some("b".into()));
        assert!(request.is_trial);
        assert!(DistRequest::parse(&["--binary"]).is_err());
        assert!(DistRequest::parse(&["--bin"]).is_err());
    }
}
