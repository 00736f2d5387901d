//! One request of a client and the model's replies to it, of which the client sees one.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_provider::{Dialect, Reply, StopReason, ToolCall};

use super::answer::{RecallSource, answers};
use super::expand::{ExpandedRequest, extended};
use super::hidden_rounds::{HiddenRound, HiddenRounds};
use super::latched_tool::LatchedTool;
use super::recall_records::RecallRecords;
use super::{MOST_ROUNDS, ReplacedBeginning};
use crate::branch::Tenant;
use crate::memory::MemoryBudget;

/// What follows a reply.
#[derive(Debug)]
pub(crate) enum AfterReply {
    /// The client's reply ends as this one does.
    End,
    /// The client's reply ends, and the model believes that it waits for a tool which the client does not know.
    EndTurn,
    /// The model has its answer: this request is sent next.
    Again(Bytes),
}

/// A request that was expanded, and what became of it so far.
#[derive(Debug)]
pub(crate) struct RecallTurn {
    records: Arc<RecallRecords>,
    tenant: Tenant,
    /// The hash of the client's history.
    at: u128,
    dialect: Dialect,
    tool: LatchedTool,
    body: Bytes,
    source: RecallSource,
    hidden: HiddenRounds,
    /// What the model has written in all replies so far, in tokens.
    output: u64,
}

impl RecallTurn {
    pub(super) fn new(
        records: &Arc<RecallRecords>,
        (tenant, at): (Tenant, u128),
        (dialect, model): (Dialect, String),
        tool: LatchedTool,
        expanded: ExpandedRequest,
    ) -> Self {
        Self {
            records: Arc::clone(records),
            tenant,
            at,
            dialect,
            hidden: HiddenRounds {
                name: tool.name.clone(),
                ..HiddenRounds::default()
            },
            tool,
            body: expanded.body,
            source: RecallSource {
                dialect,
                model,
                elements: expanded.history,
                replaced: ReplacedBeginning::default(),
            },
            output: 0,
        }
    }

    /// The request as it is sent first.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// The API that is spoken.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The name of the tool.
    pub(crate) fn tool(&self) -> &str {
        &self.tool.name
    }

    /// What the model has written in all replies so far, in tokens.
    pub(crate) fn output(&self) -> u64 {
        self.output
    }

    /// Takes a whole reply: answers its calls of the tool, stores what the client will not see, and says what follows.
    /// When this returns, the rest of the reply may be passed on.
    pub(crate) async fn take(
        &mut self,
        reply: &Reply,
        replaced: ReplacedBeginning,
        budget: &MemoryBudget,
    ) -> AfterReply {
        self.output += reply.usage.output;
        let is_ours = |call: &ToolCall<'_>| call.name == self.tool.name;
        let calls: Vec<(String, String)> = (reply.tool_calls().filter(is_ours))
            .map(|call| {
                let input = String::from_utf8_lossy(call.input_json);
                (call.id.into_owned(), input.into_owned())
            })
            .collect();
        // A call that was cut off is not made.
        if calls.is_empty() || reply.stop != Some(StopReason::ToolUse) {
            return AfterReply::End;
        }
        let is_shared = reply.tool_calls().any(|call| !is_ours(&call));
        let is_too_often = self.hidden.rounds.len() >= MOST_ROUNDS;
        let answers = if is_too_often {
            let refusal = include_str!("fragments/too_often.md").trim_end();
            vec![refusal.to_owned(); calls.len()]
        } else {
            self.source.replaced = replaced;
            self.look_up(calls.iter().map(|(_, input)| input.clone()).collect())
                .await
        };
        let ids = calls.into_iter().map(|(id, _)| id);
        let answers: Vec<(String, String)> = ids.zip(answers).collect();
        let round = HiddenRound::new(self.dialect, reply, &answers);
        if is_shared || is_too_often {
            self.hidden.open = Some(round);
            self.store().await;
            return match is_shared {
                true => AfterReply::End,
                false => AfterReply::EndTurn,
            };
        }
        let longer = extended(&self.body, &round.elements(self.dialect));
        let longer = longer.and_then(|longer| budget.hold(longer).ok());
        let Some(longer) = longer else {
            // There is no room to go on: the model goes on with the client's next request.
            self.hidden.open = Some(round);
            self.store().await;
            return AfterReply::EndTurn;
        };
        self.body = longer;
        self.hidden.rounds.push(round);
        self.store().await;
        AfterReply::Again(self.body.clone())
    }

    async fn look_up(&self, inputs: Vec<String>) -> Vec<String> {
        let (source, name, many) = (self.source.clone(), self.tool.name.clone(), inputs.len());
        let looking = tokio::task::spawn_blocking(move || answers(&source, &name, &inputs));
        let mut found = looking.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "recall behind the gateway");
            let unavailable = include_str!("fragments/unavailable.md").trim_end();
            vec![unavailable.to_owned(); many]
        });
        if self.hidden.rounds.len() + 1 == MOST_ROUNDS
            && let Some(last) = found.last_mut()
        {
            let notice = include_str!("fragments/last.md").trim_end();
            *last = format!("{last}\n{notice}");
        }
        found
    }

    /// Stores what the client does not see. If that fails, later requests go on without it.
    async fn store(&self) {
        let stored = self
            .records
            .put_rounds(self.tenant, self.at, self.dialect, &self.hidden);
        if let Err(error) = stored.await {
            tracing::warn!(%error, "what the model looked up is not stored, and will be missing from later requests");
        }
    }
}
