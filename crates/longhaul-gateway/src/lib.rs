//! The gateway: a model API's address for clients in any language, behind which their conversations never outgrow the window.
//!
//! It recognises conversations by what is said in them (`line/`), reads bodies without taking them apart (`body/`), sends
//! something shorter for their beginning where they grow too long (`manage/`), places cache markers if asked (`marks/`), keeps
//! books and watches the prompt cache (`watch/`, `store/`), as the policy says (`policy/`). What needs no change is passed on
//! byte for byte. `front/` is HTTP on both sides, `memory/` how much of it all may be held at once; `own/` is what it answers
//! itself: health, metrics, the sessions as JSON, the page.

pub mod body;
pub mod branch;
pub mod breakpoints;
pub mod front;
mod limits;
pub mod manage;
pub mod memory;
mod options;
pub mod own;
mod own_body;
mod peer_sync;
pub mod policy;
mod refusal;
mod state;
pub mod store;
mod upstream;
pub mod watch;
