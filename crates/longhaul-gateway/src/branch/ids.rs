//! Ids of branches and sessions: 64 bits, written as 16 hexadecimal digits.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use longhaul_core::xxh3::xxh3_64_with_seed;

macro_rules! id {
    ($name:ident, $what:literal) => {
        #[doc = $what]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:016x}", self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                u64::from_str_radix(text, 16).map(Self)
            }
        }
    };
}

id!(
    BranchId,
    "One line of a conversation: a history that was gone on with."
);
id!(
    GatewaySessionId,
    "What belongs together: a line with its branches, or what a client groups."
);

/// The source of new ids: a seed drawn at startup, and a counter.
#[derive(Debug)]
pub struct BranchIds {
    seed: u64,
    next: AtomicU64,
}

impl BranchIds {
    /// Ids from a seed. Two processes with different seeds generate different ids.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            next: AtomicU64::new(0),
        }
    }

    /// The next id.
    pub(crate) fn next_id(&self) -> BranchId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        BranchId(xxh3_64_with_seed(&number.to_le_bytes(), self.seed))
    }
}
