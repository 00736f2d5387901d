//! The terminal agent (`longhaul chat`): the reference host of a Longhaul session.
//!
//! [`tool`] defines what the model may call and [`tools`] holds the built-in tools; [`permission`] decides which calls
//! may run; [`agent`] is the loop around a [`longhaul::Session`]; [`event`] is what the loop reports while it works;
//! [`EffortSetting`] says how hard the model thinks; [`screen`] shows the work in a terminal and [`mod@print`] in a
//! pipe; [`offline`] is the model that answers when there is no key. [`project_setup`] joins them for a project and
//! [`host`] for a screen.

pub mod agent;
mod agent_kind;
mod effort;
pub mod event;
pub mod files;
mod git;
pub mod host;
mod mention;
pub mod offline;
mod own_command;
pub mod permission;
pub mod picture;
pub mod print;
pub mod project_setup;
mod retry_words;
pub mod screen;
pub mod session_paths;
pub mod settings;
mod simulated_model;
pub mod tool;
pub mod tools;
mod typed_text;

pub use effort::EffortSetting;
pub use own_command::{CommandPart, OwnCommand};
