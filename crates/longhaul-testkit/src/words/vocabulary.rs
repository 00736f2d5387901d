//! The words that generated text is made of.

/// Nouns.
#[rustfmt::skip]
pub(super) const NOUNS: &[&str] = &[
    "anchor", "ballast", "beacon", "berth", "cargo", "chart", "compass", "crane", "current",
    "deck", "dock", "ferry", "fleet", "galley", "gauge", "harbor", "hatch", "hull", "keel",
    "lantern", "ledger", "lock", "manifest", "mast", "mooring", "pilot", "port", "quay",
    "rigging", "route", "rudder", "signal", "sonar", "tide", "tug", "vessel", "voyage", "wake",
    "warehouse", "winch",
];

/// Verbs.
#[rustfmt::skip]
pub(super) const VERBS: &[&str] = &[
    "assign", "board", "bring", "check", "clear", "count", "derive", "drop", "fetch", "fold",
    "hoist", "join", "keep", "load", "measure", "merge", "move", "open", "parse", "plan", "push",
    "read", "release", "resolve", "seal", "send", "settle", "sort", "split", "track", "update",
    "verify", "weigh", "write",
];

/// Adjectives.
#[rustfmt::skip]
pub(super) const ADJECTIVES: &[&str] = &[
    "busy", "calm", "cold", "deep", "early", "empty", "fresh", "full", "heavy", "late", "local",
    "loose", "narrow", "next", "old", "open", "quiet", "rough", "safe", "shallow", "slow",
    "spare", "stale", "steady", "tight", "wide",
];

/// Words that join two clauses.
#[rustfmt::skip]
pub(super) const GLUE: &[&str] = &[
    "after", "because", "before", "beside", "from", "into", "once", "over", "through", "under",
    "unless", "until", "when", "while", "with", "without",
];

/// Characters and emoji of two, three and four bytes.
#[rustfmt::skip]
pub(super) const ACCENTS: &[&str] = &[
    "→", "—", "café", "naïve", "Größe", "港口", "船は着いた", "🚢", "⚓️", "✓", "≥", "Ærø", "порт",
];
