//! A change of a file, as people read it.

use std::time::Duration;

use similar::TextDiff;

/// A diff that takes longer is shown in less detail.
const PATIENCE: Duration = Duration::from_millis(500);

/// The change as a unified diff.
pub(super) fn unified(name: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(before, after);
    let (old, new) = (format!("a/{name}"), format!("b/{name}"));
    diff.unified_diff()
        .context_radius(3)
        .header(&old, &new)
        .to_string()
}
