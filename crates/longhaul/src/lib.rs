//! Context management for LLM agents, for people who write agents in Rust.
//!
//! `longhaul-core` decides, `longhaul-store` keeps, `longhaul-provider` speaks to models; this crate performs what the
//! core decides.

pub mod memory_files;
