//! The Python wheel: `pip install` and `uvx` put the program where scripts go. It holds no Python.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use super::archive::{self, PackedFile};
use super::contents::{PackageContents, below};
use super::platform::PackagePlatform;
use super::{PROGRAM, PackageFacts};

/// The wheel's name and bytes.
pub(super) fn pack(
    contents: &PackageContents,
    facts: &PackageFacts,
    platform: &PackagePlatform,
) -> Result<(String, Vec<u8>), Vec<String>> {
    let stem = format!("{PROGRAM}-{}", facts.version);
    let tag = format!("py3-none-{}", platform.wheel_tag(&contents.program.bytes));
    let data = format!("{stem}.data");
    let info = format!("{stem}.dist-info");
    let mut files = vec![PackedFile {
        path: format!("{data}/scripts/{}", contents.program.path),
        ..contents.program.clone()
    }];
    let shared = format!("{data}/data/share");
    files.extend(below(&format!("{shared}/man/man1"), &contents.manual_pages));
    for (from, to) in [
        ("longhaul.bash", "bash-completion/completions/longhaul"),
        ("_longhaul", "zsh/site-functions/_longhaul"),
        ("longhaul.fish", "fish/vendor_completions.d/longhaul.fish"),
    ] {
        let script = contents.completions.iter().find(|file| file.path == from);
        files.extend(script.map(|script| PackedFile {
            path: format!("{shared}/{to}"),
            ..script.clone()
        }));
    }
    files.extend(below(&format!("{info}/licenses"), &contents.legal()));
    files.push(PackedFile::data(
        format!("{info}/METADATA"),
        metadata(contents, facts),
    ));
    files.push(PackedFile::data(
        format!("{info}/WHEEL"),
        format!(
            "Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\nTag: {tag}\n"
        ),
    ));
    let record = record(&files, &format!("{info}/RECORD"));
    files.push(PackedFile::data(format!("{info}/RECORD"), record));
    Ok((format!("{stem}-{tag}.whl"), archive::zip(&files)?))
}

fn metadata(contents: &PackageContents, facts: &PackageFacts) -> String {
    let licenses: String = contents
        .legal()
        .iter()
        .map(|file| format!("License-File: {}\n", file.path))
        .collect();
    format!(
        "Metadata-Version: 2.4\nName: {PROGRAM}\nVersion: {}\nSummary: {}\nHome-page: {}\nLicense-Expression: {}\n{licenses}\
         Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{}",
        facts.version,
        facts.description,
        facts.homepage,
        facts.license,
        String::from_utf8_lossy(&contents.readme.bytes),
    )
}

/// The list of all files with their checksums and sizes, which an installer compares.
fn record(files: &[PackedFile], own_path: &str) -> String {
    let mut lines: Vec<String> = files
        .iter()
        .map(|file| {
            let sum = BASE64_URL_SAFE_NO_PAD.encode(archive::sha256(&file.bytes));
            format!("{},sha256={sum},{}\n", file.path, file.bytes.len())
        })
        .collect();
    lines.push(format!("{own_path},,\n"));
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_names_every_file_with_its_checksum_and_itself_without() {
        let files = [PackedFile::data("a/b", "abc")];
        assert_eq!(
            record(&files, "x/RECORD"),
            "a/b,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\nx/RECORD,,\n"
        );
    }
}
