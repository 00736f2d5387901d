//! The policies of a replay by the names under which they are shown and summed.

use longhaul_core::replay::{HindsightKind, ReplayedPolicy, ReplayedWindow};

/// The name of the policy that removes nothing.
pub(super) const APPEND_ONLY: &str = "append-only";

/// The policies of a window with the best in hindsight, by name, in the order in which they are shown.
pub(super) fn policies(window: &ReplayedWindow) -> Vec<(&'static str, &ReplayedPolicy)> {
    let policies = window.policies.iter();
    let best = window.best.iter().map(|(kind, policy)| match kind {
        HindsightKind::Clear => ("best clear", policy),
        HindsightKind::Full => ("best", policy),
    });
    policies
        .map(|(policy, replayed)| (policy.as_str(), replayed))
        .chain(best)
        .collect()
}
