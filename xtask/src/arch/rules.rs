//! The plan: which crate may use which, and what the core must never depend on.
//!
//! Dependencies point one way: core ← {provider, store} ← longhaul ← {agent, gateway} ← cli. The simulator sits on
//! the core; the programs may use it, the library only in its tests. The exporter of telemetry sits on the provider, for
//! its certificates; it is apart from the command because most builds leave its dependencies out.

/// One crate of the workspace and the workspace crates it may use.
pub(super) struct CrateRule {
    pub(super) name: &'static str,
    /// Allowed as normal and build dependencies, and therefore in tests too.
    pub(super) may_use: &'static [&'static str],
    /// Allowed in tests only.
    pub(super) tests_may_use: &'static [&'static str],
}

const CORE: &str = "longhaul-core";
const PROVIDER: &str = "longhaul-provider";
const STORE: &str = "longhaul-store";
const LIBRARY: &str = "longhaul";
const SIM: &str = "longhaul-sim";
const AGENT: &str = "longhaul-agent";
const GATEWAY: &str = "longhaul-gateway";
const TELEMETRY: &str = "longhaul-telemetry";

/// The crate whose transitive dependencies are checked against [`BANNED_FROM_CORE`].
pub(super) const PURE: &str = CORE;

/// The crate that any crate may use in tests, and none otherwise.
pub(super) const TESTKIT: &str = "longhaul-testkit";

/// Every crate of the workspace, present or planned. A crate that is not listed fails the check.
pub(super) const ROOMS: &[CrateRule] = &[
    CrateRule {
        name: CORE,
        may_use: &[],
        tests_may_use: &[],
    },
    CrateRule {
        name: PROVIDER,
        may_use: &[CORE],
        tests_may_use: &[],
    },
    CrateRule {
        name: STORE,
        may_use: &[CORE],
        tests_may_use: &[],
    },
    CrateRule {
        name: LIBRARY,
        may_use: &[CORE, PROVIDER, STORE],
        tests_may_use: &[SIM],
    },
    CrateRule {
        name: SIM,
        may_use: &[CORE],
        tests_may_use: &[],
    },
    CrateRule {
        name: AGENT,
        may_use: &[CORE, PROVIDER, STORE, LIBRARY, SIM],
        tests_may_use: &[],
    },
    CrateRule {
        name: GATEWAY,
        may_use: &[CORE, PROVIDER, STORE, LIBRARY, SIM],
        tests_may_use: &[],
    },
    CrateRule {
        name: TELEMETRY,
        may_use: &[PROVIDER],
        tests_may_use: &[],
    },
    CrateRule {
        name: "longhaul-cli",
        may_use: &[
            CORE, PROVIDER, STORE, LIBRARY, SIM, AGENT, GATEWAY, TELEMETRY,
        ],
        tests_may_use: &[],
    },
    CrateRule {
        name: TESTKIT,
        may_use: &[],
        tests_may_use: &[],
    },
    CrateRule {
        name: "xtask",
        may_use: &[],
        tests_may_use: &[],
    },
];

const RUNTIME: &str = "the core asks for effects and performs none: it needs no runtime";
const NETWORK: &str = "the core has no network";
const CHANCE: &str = "the core has no randomness: seeds and ids come in as arguments";
const CLOCK: &str = "the core has no clock: time comes in as an argument";
const DISK: &str = "the core has no file system: bytes come in as arguments";
const SYSTEM: &str = "the core makes no system calls";

/// Crates that must not be among the core's normal dependencies, direct or transitive, with the reason.
pub(super) const BANNED_FROM_CORE: &[(&str, &str)] = &[
    ("tokio", RUNTIME),
    ("async-std", RUNTIME),
    ("smol", RUNTIME),
    ("async-io", RUNTIME),
    ("mio", RUNTIME),
    ("rayon", "the core starts no threads"),
    ("hyper", NETWORK),
    ("reqwest", NETWORK),
    ("ureq", NETWORK),
    ("axum", NETWORK),
    ("rustls", NETWORK),
    ("socket2", NETWORK),
    ("rand", CHANCE),
    ("rand_core", CHANCE),
    ("rand_chacha", CHANCE),
    ("fastrand", CHANCE),
    ("getrandom", CHANCE),
    ("uuid", CHANCE),
    // Not jiff: without its `std` feature it only knows timestamps that are given to it, and clippy.toml of the core
    // disallows its `now`.
    ("chrono", CLOCK),
    ("time", CLOCK),
    ("web-time", CLOCK),
    ("iana-time-zone", CLOCK),
    ("memmap2", DISK),
    ("tempfile", DISK),
    ("fs4", DISK),
    ("fs-err", DISK),
    ("walkdir", DISK),
    ("directories", DISK),
    ("rusqlite", DISK),
    ("sqlx", DISK),
    ("libc", SYSTEM),
    ("rustix", SYSTEM),
    ("nix", SYSTEM),
    ("windows-sys", SYSTEM),
];
