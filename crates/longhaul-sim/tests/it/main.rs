//! Behaviour of the offline world, by SPEC number.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may fail loudly and read files"
)]

mod anything;
mod recorded;
mod support;
mod thinking;
mod threads;
mod validate;
