//! Tests of agent.

pub(crate) mod house;
mod cancelling;
mod heads;
mod hooks;
mod looping;
mod sessions;
mod sub_agents;
mod window;
