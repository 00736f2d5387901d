//! The gateway: a model API's address for clients in any language, which passes on what they send, byte for byte.
//!
//! It recognises conversations by what is said in them (`line/`), reads bodies without taking them apart (`body/`), keeps
//! books and watches the prompt cache (`watch/`, `store/`), as the policy says (`policy/`). `front/` is HTTP on both sides;
//! `own/` is what it answers itself: health, metrics, the sessions as JSON, the page.
//!
//! In this stage nothing that is sent is ever changed: policies are `observe` and `off`.

pub mod body;
pub mod front;
pub mod line;
pub mod manage;
pub mod marks;
pub mod own;
pub mod policy;
pub mod store;
pub mod watch;
