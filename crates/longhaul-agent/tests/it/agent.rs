//! Tests of the agent loop.

mod cancelling;
mod deleted_results;
mod fragments;
mod heads;
mod hooks;
pub(crate) mod house;
mod looping;
mod reduced_results;
mod sessions;
mod sub_agents;
mod window;
