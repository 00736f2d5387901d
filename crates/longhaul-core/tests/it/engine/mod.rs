//! The engine, one effect at a time.

mod compacting;
mod desk;
mod failing;
mod native;
mod turns;
