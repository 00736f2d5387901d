//! Compares texts that the model sees with files, so that a change to one is a visible diff.

use std::path::Path;

/// Compares a text with the file of this name; `LONGHAUL_UPDATE_SNAPSHOTS=1` writes the file instead.
pub(crate) fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/snapshots")
        .join(format!("{name}.txt"));
    if std::env::var_os("LONGHAUL_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, format!("{text}\n")).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        format!("{text}\n"),
        kept,
        "{name} differs from its snapshot; LONGHAUL_UPDATE_SNAPSHOTS=1 writes it anew"
    );
}
