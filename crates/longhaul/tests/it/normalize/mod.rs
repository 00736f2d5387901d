//! Rendered conversations, checked by the offline world (Z, B1, N2).

mod accepted;
mod bound;
mod corpus;
mod examples;
pub(crate) mod hostile;
mod pictures;
mod pure;
mod world;
