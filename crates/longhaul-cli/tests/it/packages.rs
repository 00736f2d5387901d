//! The packages that `cargo xtask dist` makes, with the program of this build in them, installed and run.
//!
//! Packing takes a while and installing changes nothing but temporary folders, but it runs pip and npm: only where
//! `LONGHAUL_TEST_INSTALL` is set.

use std::process::Command;

#[test]
fn each_package_is_installed_and_runs() {
    if std::env::var_os("LONGHAUL_TEST_INSTALL").is_none() {
        longhaul_testkit::skipped::note(
            "packages are not installed and tried (set LONGHAUL_TEST_INSTALL=1)",
        );
        return;
    }
    let folder = tempfile::TempDir::new().unwrap();
    let program = folder.path().join("longhaul");
    // As in a package: without the names of functions and lines. Where there is no tool for that, with them.
    let stripped = Command::new("strip")
        .arg("-o")
        .arg(&program)
        .arg(env!("CARGO_BIN_EXE_longhaul"))
        .status();
    if !stripped.is_ok_and(|status| status.success()) {
        std::fs::copy(env!("CARGO_BIN_EXE_longhaul"), &program).unwrap();
    }
    let output = Command::new(env!("CARGO"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["xtask", "dist", "--try", "--binary"])
        .arg(&program)
        .arg("--out")
        .arg(folder.path().join("packages"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains("installed and run: tarball"), "{said}");
    for name in ["SHA256SUMS", ".whl", ".tgz", ".cdx.json", ".tar.gz"] {
        let mut files = std::fs::read_dir(folder.path().join("packages")).unwrap();
        let is_there = files.any(|file| {
            let file = file.unwrap().file_name();
            file.to_string_lossy().ends_with(name)
        });
        assert!(is_there, "{name}");
    }
}
