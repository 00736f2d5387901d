//! What the agent does, from outside.

mod agent;
mod files_and_search;
mod joined;
mod offline;
mod permission;
mod print;
mod screen;
mod services;
mod settings;
