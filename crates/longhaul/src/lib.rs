//! Context management for LLM agents, for people who write agents in Rust.
//!
//! `longhaul-core` decides, `longhaul-store` keeps, `longhaul-provider` speaks to models; this crate performs what the
//! core decides.

pub mod cache_breaks;
mod clock;
mod head;
pub mod hooks;
mod keeper;
pub mod memory_files;
mod model;
pub mod session;
mod telemetry;
pub mod undo;
mod workspace;

pub use clock::{Clock, SystemClock};
pub use head::{Prompt, System};
pub use keeper::{FileKeeper, Keeper, MemoryKeeper, NotKept};
pub use model::{Boxed, Model, OnStream};
pub use session::{Session, recorded};
pub use undo::undo;
pub use workspace::{Files, NoWorkspace, Wanted, Workspace};
