//! Proofs over whole sessions: endurance, kill −9, oddities, cache reads of summaries, resume to the byte.

mod fork;
#[cfg(unix)]
pub(crate) mod killed;
mod machine;
mod modes;
mod oddities;
mod person;
pub(crate) mod place;
mod resume;
mod soak;
