//! Git, run so that a repository cannot make it run programs.
//!
//! A repository's configuration can name programs: file monitors, hooks, diff drivers, filters, pagers. Whoever gave
//! the user a folder may have written it, so opening and exploring the folder must not start any of them. `guard.rs`
//! runs git in this way, for Longhaul itself and in the model's shell; `hazard.rs` finds the cases where even this is
//! not enough, so that git is not run without asking; `repository.rs`, `index.rs` and `config.rs` read the necessary
//! facts as data, without git. `permission::read_only` lists the git commands that are read-only.

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
