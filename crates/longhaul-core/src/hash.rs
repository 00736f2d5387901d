//! Hash maps without a random seed: the same input gives the same run.

use foldhash::fast::FixedState;

/// A map whose iteration order carries no meaning.
#[expect(
    clippy::disallowed_types,
    reason = "the one place where it is given a fixed hasher"
)]
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, FixedState>;

/// A set whose iteration order carries no meaning.
#[expect(
    clippy::disallowed_types,
    reason = "the one place where it is given a fixed hasher"
)]
pub(crate) type Set<K> = std::collections::HashSet<K, FixedState>;
