//! The engine, one effect at a time.

mod ahead;
mod compacting;
mod desk;
mod failing;
mod native;
mod notes;
mod turns;
