//! `longhaul chat` as people use it: the binary in a pseudo-terminal, against a strict provider.
//!
//! `house` is where it runs, `actor` the model that does what a prompt's first word says, `wire` what went over the network.

mod actor;
mod house;
mod wire;

mod asking;
mod bad_input;
mod blocking;
mod cancelling;
mod commands;
mod consent;
mod day;
mod hooks;
mod killing;
mod lines;
mod own_commands;
mod permissions;
mod pictures;
mod resuming;
mod tools;
mod weather;
