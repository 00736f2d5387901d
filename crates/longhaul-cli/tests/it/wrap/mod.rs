//! `longhaul wrap`: agents through gateways. The agent of most tests is this test program itself, told by a variable what to
//! do (`agent.rs`); `house.rs` runs it.

mod agent;
mod bad_input;
mod finding;
mod house;
mod real;
mod running;
#[cfg(unix)]
mod signals;
