//! Integration tests of the simulator, one binary.

mod faults;
mod house;
mod openai;
mod server;
