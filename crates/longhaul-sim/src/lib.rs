//! The offline world: a simulator of the Messages API that is as strict as the real one.
//!
//! [`World`](world::World) is the whole simulator without a network: a call goes in, an outcome comes out, and time is
//! virtual and passes only on request. The HTTP server around it is thin. All randomness comes from a seed.
//!
//! Flow of a call: `request/` reads the body → `validate/` refuses what the API would refuse → `threads`, `manage/`
//! (server-side clearing and compaction) → `prompt/` lays the request out as positions with hashes and token counts →
//! `cache/` decides what is read and written → `model/` drafts a reply, `server_tools/` what the API runs within it → `reply/` turns it into a message or events →
//! `usage_log/` records the usage.

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
pub mod server_tools;
pub mod thinking;
pub mod threads;
pub mod tokens;
pub mod usage_log;
pub mod validate;
pub mod world;
