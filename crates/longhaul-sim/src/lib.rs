//! The offline world: a simulator of the Messages API that is as strict as the real one.
//!
//! [`World`](world::World) is the whole of it without a network: a call goes in, an outcome comes out, time is virtual
//! and passes only when it is told to. The HTTP server around it is thin. Nothing here is random but by a seed.
//!
//! Flow of a call: `request/` reads the body → `validate/` refuses what the API would refuse → `threads`, `manage/`
//! (server-side clearing and compaction) → `prompt/` lays the request out as positions with hashes and token counts →
//! `cache/` says what is read and written → `model/` drafts a reply → `reply/` dresses it as a message or as events →
//! `books/` keeps account.

pub mod cache;
pub mod call;
pub mod faults;
pub mod manage;
pub mod model;
pub mod openai;
pub mod prompt;
pub mod reply;
pub mod request;
pub mod server;
pub mod thinking;
pub mod threads;
pub mod tokens;
pub mod usage_log;
pub mod validate;
pub mod world;
