//! Tests calibrated counting (X4): the shape of texts, what a ledger learns, and recorded sessions.

mod ledger;
mod recorded;
mod shape;
