//! Hooks, with real processes.

mod answers;
mod endings;
mod events;
mod overflow;
mod privacy;
mod running;
mod rust_hooks;
mod settings;
mod support;
