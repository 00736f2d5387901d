//! What is packed: the program, its manual pages and completions, the licenses, and what it was built of.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::process::Command;

use super::{COMMAND, PROGRAM, PackageFacts, PackedFile, read, sbom, third_party};
use crate::workspace::{CargoWorkspace, output};

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// The shells that completions are made for, and the names of the files that they look for.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "longhaul.bash"),
    ("zsh", "_longhaul"),
    ("fish", "longhaul.fish"),
    ("powershell", "_longhaul.ps1"),
    ("elvish", "longhaul.elv"),
];

/// The files that a package may hold.
pub(super) struct PackageContents {
    pub(super) program: PackedFile,
    pub(super) manual_pages: Vec<PackedFile>,
    pub(super) completions: Vec<PackedFile>,
    pub(super) licenses: Vec<PackedFile>,
    pub(super) readme: PackedFile,
    sbom: PackedFile,
}

impl PackageContents {
    /// Gathers the files. Manual pages and completions are printed by the program itself.
    pub(super) fn gather(
        workspace: &CargoWorkspace,
        program: Vec<u8>,
        facts: &PackageFacts,
    ) -> Result<Self, Vec<String>> {
        let scratch = workspace.target.join("packages-scratch");
        let failed = |error: std::io::Error| vec![format!("{}: {error}", scratch.display())];
        if scratch.exists() {
            std::fs::remove_dir_all(&scratch).map_err(failed)?;
        }
        std::fs::create_dir_all(&scratch).map_err(failed)?;
        let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
        let path = scratch.join(&name);
        std::fs::write(&path, &program).map_err(failed)?;
        system::make_executable(&path).map_err(failed)?;

        let pages = scratch.join("man");
        output(Command::new(&path).args(["man", "--dir"]).arg(&pages))?;
        let mut manual_pages = Vec::new();
        for entry in std::fs::read_dir(&pages).map_err(failed)? {
            let page = entry.map_err(failed)?;
            let name = page.file_name().to_string_lossy().into_owned();
            manual_pages.push(PackedFile::data(name, read(&page.path())?));
        }
        manual_pages.sort_by(|one, other| one.path.cmp(&other.path));
        let mut completions = Vec::new();
        for (shell, file) in SHELLS {
            let script = output(Command::new(&path).args(["completions", shell]))?;
            completions.push(PackedFile::data(file, script));
        }
        let of_root = |name: &str| {
            let bytes = read(&workspace.root.join(name))?;
            Ok::<_, Vec<String>>(PackedFile::data(name, bytes))
        };
        let crates = sbom::crates_of(workspace, COMMAND);
        Ok(Self {
            program: PackedFile::program(name, program),
            manual_pages,
            completions,
            licenses: vec![
                of_root("LICENSE-APACHE")?,
                of_root("LICENSE-MIT")?,
                PackedFile::data("THIRD-PARTY-LICENSES.txt", third_party::texts(&crates)),
            ],
            readme: PackedFile::data(
                "README.md",
                with_whole_links(
                    &text(&read(&workspace.root.join("README.md"))?),
                    &facts.homepage,
                ),
            ),
            sbom: PackedFile::data("sbom.cdx.json", sbom::document(workspace, &crates, facts)?),
        })
    }

    /// The list of what the program was built of.
    pub(super) fn sbom(&self) -> &[u8] {
        &self.sbom.bytes
    }

    /// Licenses and the list of what the program was built of: the files that every package holds.
    pub(super) fn legal(&self) -> Vec<PackedFile> {
        let mut files = self.licenses.clone();
        files.push(self.sbom.clone());
        files
    }

    /// The files of the tarball.
    pub(super) fn tarball(&self) -> Vec<PackedFile> {
        let mut files = vec![self.program.clone(), self.readme.clone()];
        files.extend(self.legal());
        files.extend(below("man/man1", &self.manual_pages));
        files.extend(below("completions", &self.completions));
        files
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A document of the repository as it is read elsewhere: its links lead to the repository, and its pictures come from there.
fn with_whole_links(document: &str, homepage: &str) -> String {
    let mut whole = String::with_capacity(document.len());
    let mut rest = document;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at + "](".len());
        whole.push_str(before);
        let is_link_here = !after.starts_with("http") && !after.starts_with('#');
        let is_picture = before
            .rfind('[')
            .is_some_and(|open| before[..open].ends_with('!'));
        match (is_link_here, is_picture) {
            (false, _) => {}
            (true, false) => whole.push_str(&format!("{homepage}/blob/main/")),
            (true, true) => whole.push_str(&format!("{homepage}/raw/main/")),
        }
        rest = after;
    }
    whole.push_str(rest);
    whole
}

/// The same files in a folder.
pub(super) fn below<'f>(
    folder: &'f str,
    files: &'f [PackedFile],
) -> impl Iterator<Item = PackedFile> + 'f {
    files.iter().map(move |file| PackedFile {
        path: format!("{folder}/{}", file.path),
        ..file.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_packed_document_lead_to_the_repository() {
        let document = "![a](docs/a.svg) [b](docs/b.md#c), [d](https://x/y) and [e](#here)";
        assert_eq!(
            with_whole_links(document, "https://h"),
            "![a](https://h/raw/main/docs/a.svg) [b](https://h/blob/main/docs/b.md#c), [d](https://x/y) and [e](#here)"
        );
    }
}
