//! What tests and benches need and a plain clone must bring along: transcripts made up from a seed, ways to damage
//! them, transcripts of any size, and the path to the recorded corpora where those exist.
//!
//! Everything here is generated from the code in this crate; no recorded text is copied. It is a dev-dependency
//! only (`cargo xtask arch` checks that), is never published, and knows nothing of the other crates, so that a
//! test's expectation cannot share a bug with what it tests.
//!
//! ```
//! use longhaul_testkit::{SessionSpec, damage};
//!
//! let session = SessionSpec::new(7, 20).generate();
//! assert_eq!(session.truth.rounds, 20);
//! let torn = damage::tear_last_line(&session.bytes);
//! assert_eq!(torn.lines, [session.truth.lines]);
//! ```

pub mod big;
#[cfg(feature = "browser")]
pub mod browser;
pub mod corpora;
pub mod damage;
pub mod forgery;
mod ids;
mod json;
#[cfg(feature = "postgres")]
pub mod postgres;
mod rng;
pub mod session;
#[cfg(feature = "terminal")]
pub mod terminal;
mod timestamp;
mod words;

pub use session::{Feature, GeneratedSession, SessionSpec, Truth};
