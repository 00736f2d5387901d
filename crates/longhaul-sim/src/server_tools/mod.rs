//! Tools that the API runs itself, in the middle of a reply. Only the web search is simulated; `invented` makes up what
//! it finds. The world samples the model again after each call (`world/searching.rs`).

mod domains;
mod invented;
mod web_search;

pub(crate) use domains::is_domain;
pub(crate) use invented::cited_text;
pub use web_search::SearchError;
pub(crate) use web_search::{WebSearch, is_web_search};
