//! The gateway: a model API endpoint for clients in any language. Their conversations never outgrow the window.
//!
//! It recognizes conversations by their messages (`branch/`), reads bodies without parsing them fully (`body/`), sends
//! a shorter beginning where they grow too long (`manage/`), sets cache breakpoints if asked (`breakpoints/`), keeps a
//! usage log and watches the prompt cache (`watch/`, `store/`), according to the policy (`policy/`). What needs no
//! change is passed on byte for byte. `front/` is HTTP on the clients' side, `upstream/` on the model API's side,
//! `memory/` limits how much is held at once; `own/` has the gateway's own responses: health, metrics, the sessions as
//! JSON, the page.

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
