//! Tests the engine, one effect at a time.

mod ahead;
mod anew;
mod compacting;
mod counted;
mod desk;
mod failing;
mod folding;
mod kept;
mod native;
mod notes;
mod once;
mod turns;
mod worth;
