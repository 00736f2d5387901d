//! Decisions by price behind the gateway (V5, V6, V9).

mod expected_size;
mod explained;
mod justified;
mod policies;
pub(crate) mod script;
mod shared;
mod threshold;
