//! Recall for all conversations of a gateway: decides which of them are offered the tool, and expands their requests.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::json::ObjectReader;
use longhaul_provider::Dialect;

use super::expand::expand;
use super::hidden_rounds::StoredRecall;
use super::latched_tool::{LatchedTool, tool_names};
use super::recall_records::RecallRecords;
use super::recall_turn::RecallTurn;
use crate::body::BodyRole;
use crate::branch::{RecognizedBody, SealKey, Tenant};
use crate::memory::MemoryBudget;
use crate::policy::RecallMode;
use crate::store::RecallStore;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecallDemand {
    /// It continues a conversation, or begins one.
    Reply,
    /// It only counts tokens: nothing begins with it.
    Counting,
}

/// Recall for all conversations of a gateway.
#[derive(Debug)]
pub(crate) struct HistoryRecall {
    records: Arc<RecallRecords>,
    /// Where no rule says otherwise.
    pub(crate) default_mode: RecallMode,
}

impl HistoryRecall {
    pub(crate) fn new(
        store: Arc<dyn RecallStore>,
        seal: SealKey,
        default_mode: RecallMode,
    ) -> Self {
        Self {
            records: Arc::new(RecallRecords::new(store, seal)),
            default_mode,
        }
    }

    /// Expands a request whose conversation is offered the tool. `None` for any other: it is sent as it is. The tenant
    /// is the one of the key: the store knows its organization as soon as the records belong to that, and the gateway
    /// knows it a little earlier.
    pub(crate) async fn prepare(
        &self,
        demand: RecallDemand,
        (tenant, dialect): (Tenant, Dialect),
        body: &Bytes,
        recognized: &RecognizedBody,
        budget: &MemoryBudget,
    ) -> Option<RecallTurn> {
        let outline = &recognized.outline;
        let tools = outline
            .members
            .tools
            .clone()
            .and_then(|place| body.get(place));
        let taken = tool_names(dialect, tools?)?;
        if dialect == Dialect::OpenAi && ObjectReader::new(body).count("n").unwrap_or(1) > 1 {
            // Of several replies side by side none can go on alone.
            return None;
        }
        let first_reply = recognized
            .roles
            .iter()
            .position(|role| *role == BodyRole::Assistant);
        let asked = first_reply.unwrap_or(recognized.roles.len());
        let is_spoken = |role: &BodyRole| *role != BodyRole::System;
        if !recognized.roles.get(..asked)?.iter().any(is_spoken) {
            return None;
        }
        let root = *recognized.hashes.get(asked.checked_sub(1)?)?;
        let stored = match self.records.stored(tenant, dialect, root, recognized).await {
            Ok(stored) => stored,
            Err(error) => {
                tracing::warn!(%error, "recall is not offered: the store cannot be read");
                return None;
            }
        };
        let tool = match stored.tool {
            Some(tool) => tool.unless_taken(dialect, &taken),
            // The tool was not there when the conversation began: adding it now would change every prefix.
            None if first_reply.is_some() => return None,
            None => {
                let tool = LatchedTool::beside(dialect, &taken);
                let latch = StoredRecall::Tool(dialect.into(), tool.clone());
                if demand == RecallDemand::Reply
                    && let Err(error) = self.records.put(tenant, root, &latch).await
                {
                    tracing::warn!(%error, "recall is not offered: the store cannot be written");
                    return None;
                }
                tool
            }
        };
        let mut expanded = expand(dialect, body, recognized, &tool, &stored.rounds)?;
        expanded.body = budget.hold(expanded.body).ok()?;
        let at = *recognized.hashes.last()?;
        let model = outline.model(body).into_owned();
        let of = ((tenant, at), (dialect, model));
        Some(RecallTurn::new(&self.records, of.0, of.1, tool, expanded))
    }
}
