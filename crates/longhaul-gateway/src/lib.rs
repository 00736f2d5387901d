//! The gateway: a model API endpoint for clients in any language. Their conversations never outgrow the window.
//!
//! It recognizes conversations by their messages (`branch/`), reads bodies without parsing them fully (`body/`), sends
//! a shorter beginning where they grow too long (`manage/`), sets cache breakpoints if asked (`breakpoints/`), keeps a
//! usage log and watches the prompt cache (`watch/`, `store/`), according to the policy (`policy/`). What needs no
//! change is passed on byte for byte. `front/` is HTTP on the clients' side, `upstream/` on the model API's side,
//! `recall/` lets the model look up what is no longer sent,
//! `memory/` limits how much is held at once; `own/` has the gateway's own responses: health, metrics, the sessions as
//! JSON, the page. `savings/` says what managing was worth, `calling_agent.rs` which agent made a call, `peer_user/`
//! whose a connection is, and `proof.rs` how a gateway proves whose it is.

pub mod body;
pub mod branch;
pub mod breakpoints;
pub mod calling_agent;
pub mod front;
mod limits;
pub mod manage;
pub mod memory;
mod options;
pub mod own;
mod own_body;
mod peer_sync;
pub mod peer_user;
pub mod policy;
pub mod proof;
pub mod recall;
mod refusal;
pub mod savings;
mod state;
pub mod store;
mod upstream;
pub mod watch;
