//! Git, run so that a repository cannot make it run programs.
//!
//! A repository's configuration can name programs: file monitors, hooks, diff drivers, filters, pagers. Whoever gave the user
//! a folder may have written it, so opening the folder and looking around in it must not start any of them. `guard.rs` is how
//! git is run for that, by Longhaul itself and in the model's shell; `hazard.rs` says where even this is not enough, so that
//! git is not run unasked; `repository.rs`, `index.rs` and `config.rs` read what it needs to know as data, without git. Which git commands
//! only look is in `permission::read_only`.

mod config;
mod guard;
mod hazard;
mod index;
mod repository;

#[cfg(test)]
pub(crate) use guard::is_guarded;
pub(crate) use guard::{looking, shell_function};
pub(crate) use hazard::hazard;
pub(crate) use index::{tracked_files, tracked_names};
pub(crate) use repository::{branch, root};
