//! The request that is sent for a client's: with the tool after the client's own, and with the hidden rounds of earlier
//! replies. Every other byte is the client's.

use std::collections::HashMap;

use bytes::Bytes;
use longhaul_provider::Dialect;

use super::expand_messages::ExpandedElement;
use super::hidden_rounds::HiddenRounds;
use super::latched_tool::LatchedTool;
use super::{expand_chat, expand_messages};
use crate::body::{self, BodyRole};
use crate::branch::RecognizedBody;
use crate::manage::splice::Splices;

/// A client's request with everything that recall adds to it.
#[derive(Debug)]
pub(super) struct ExpandedRequest {
    pub(super) body: Bytes,
    /// The client's own messages, without those that lead a list of chat completions as its system prompt.
    pub(super) history: Vec<HistoryElement>,
}

/// One of the client's messages.
#[derive(Debug, Clone)]
pub(super) struct HistoryElement {
    pub(super) element: Bytes,
    /// The index of its last part in the list that is sent.
    pub(super) sent_at: usize,
}

/// Expands a request. `None` if its parts are not where they were read.
pub(super) fn expand(
    dialect: Dialect,
    body: &Bytes,
    recognized: &RecognizedBody,
    tool: &LatchedTool,
    rounds: &HashMap<u128, Vec<HiddenRounds>>,
) -> Option<ExpandedRequest> {
    let tools = recognized.outline.members.tools.clone()?;
    let end = tools.end.checked_sub(1)?;
    let mut edits = Splices::default();
    edits.replace(end..end, format!(",{}", tool.definition));
    let mut history = Vec::with_capacity(recognized.ends.len());
    let mut sent = 0;
    let mut results: Vec<String> = Vec::new();
    for index in 0..recognized.ends.len() {
        let element = recognized.message(index, |place| body.get(place))?;
        let until = *recognized.ends.get(index)? as usize;
        let place = until.checked_sub(element.len())?..until;
        let role = recognized.roles.get(index);
        let before = index
            .checked_sub(1)
            .and_then(|at| recognized.hashes.get(at));
        let variants = before.and_then(|hash| rounds.get(hash));
        let variants = variants.filter(|_| role == Some(&BodyRole::Assistant));
        let next = recognized.roles.get(index + 1);
        let expanded = variants.into_iter().flatten().find_map(|hidden| {
            let expanded = match dialect {
                Dialect::Anthropic => expand_messages::expand(element, hidden)?,
                Dialect::OpenAi => ExpandedElement {
                    elements: expand_chat::expand(element, hidden)?,
                    results: Vec::new(),
                },
            };
            // Answers belong into the message after the call; without one the call is left out.
            let has_place = expanded.results.is_empty() || next == Some(&BodyRole::User);
            has_place.then_some(expanded)
        });
        if let Some(expanded) = expanded {
            sent += expanded.elements.len();
            results = expanded.results;
            edits.replace(place, expanded.elements.join(&b","[..]));
        } else {
            sent += 1;
            let results = std::mem::take(&mut results);
            if !results.is_empty()
                && let Some(answered) = expand_messages::with_results(element, &results)
            {
                edits.replace(place, answered);
            }
        }
        if index >= recognized.lead {
            history.push(HistoryElement {
                element: body.slice_ref(element),
                sent_at: sent.saturating_sub(1),
            });
        }
    }
    Some(ExpandedRequest {
        body: edits.apply(body),
        history,
    })
}

/// A request with more elements at the end of its list.
pub(super) fn extended(body: &Bytes, elements: &[Vec<u8>]) -> Option<Bytes> {
    let end = body::read(body).ok()?.list.end.checked_sub(1)?;
    let mut edits = Splices::default();
    edits.replace(end..end, [b",".to_vec(), elements.join(&b","[..])].concat());
    Some(edits.apply(body))
}
