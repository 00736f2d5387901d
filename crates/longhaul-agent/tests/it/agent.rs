//! Tests of agent.
