//! Behavior of the gateway, by SPEC number: bodies and branches by themselves, and the whole gateway on sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may fail loudly and say what they measured"
)]

mod bodies;
mod books;
mod callers;
mod chat_cache;
mod client_breakpoints;
mod client_token;
mod credentials;
mod damaged;
mod dialects;
mod drafts;
mod echo;
mod economy;
mod endless;
mod gate;
mod going_back;
mod held_back;
mod hostile;
mod limits;
mod line_laws;
mod lines;
mod long;
mod managed;
mod marks;
mod memory;
mod notes;
mod once;
mod out_of_room;
mod own;
mod own_breaks;
mod packed;
mod page;
mod pass_through;
mod patience;
mod policies;
mod postgres;
mod promises;
mod recall;
mod recorded;
mod reduced;
mod remembered;
mod secrets;
mod shutdown;
mod soak;
mod sockets;
mod store_file;
mod store_laws;
mod streams;
mod support;
mod telemetry;
mod tenants;
mod thrift;
mod tls;
mod together;
mod tool_loop;
mod unread;
mod world;
mod worth;
