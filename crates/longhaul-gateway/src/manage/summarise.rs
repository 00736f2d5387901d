//! stub
use std::sync::Arc;
use bytes::Bytes;
use longhaul_provider::{Dialect, Reply};
use super::{Draft, Settings, Talk};
#[derive(Debug, thiserror::Error)]
#[error("no")]
pub struct NotDrafted;
pub struct Given;
impl Given { pub fn of(_: Reply) -> Self { Self } }
pub fn fork_message(_: Dialect) -> Bytes { Bytes::new() }
pub async fn summarise(_: &Talk, _: Option<Given>, _: Option<Arc<dyn longhaul::Model>>, _: &Settings) -> Result<Draft, NotDrafted> { Err(NotDrafted) }
