//! Sampling with the API's own web search: the model is sampled, the server searches, and the model is sampled again
//! with what was found, as one reply. Each step is billed for its whole prompt.
//!
//! With a breakpoint in the request, the server adds one of five minutes after each result (API-FACTS §1.2, 10).

use serde_json::{Value, json};

use super::World;
use super::named_call::NamedCall;
use super::sampling::{self, SamplingInput, SamplingResult};
use crate::call::ApiError;
use crate::model::DraftBlock;
use crate::prompt::layout::PromptLayout;
use crate::prompt::scheme::LayoutScheme;
use crate::reply::{SamplingStep, SamplingStepKind, SimStopReason};
use crate::request::{ApiBlock, ApiMessage, ApiRole, MessagesRequest};
use crate::server_tools::WebSearch;

/// The most searches in one reply; then the server pauses the turn.
const MOST_SEARCHES: usize = 10;
/// The name of the tool, which the API fixes.
const NAME: &str = "web_search";

/// A reply that may have taken several steps.
#[derive(Debug)]
pub(super) struct SearchedReply {
    /// The whole reply as one step: its content, its output, its first byte and its end.
    pub(super) sampled: SamplingResult,
    /// The steps before the last one.
    pub(super) earlier: Vec<SamplingStep>,
    /// The searches that are billed; `None` if the request offers no web search.
    pub(super) searches: Option<u64>,
}

/// Samples a reply, searching for as long as the model wants to.
pub(super) fn sample(
    world: &mut World,
    case: &NamedCall<'_>,
    source: SamplingInput<'_>,
    scheme: LayoutScheme<'_>,
) -> Result<SearchedReply, ApiError> {
    let mut sampled = sampling::sample(world, case, source)?;
    let mut earlier = Vec::new();
    let Some(mut search) = WebSearch::of(source.request) else {
        return Ok(SearchedReply {
            sampled,
            earlier,
            searches: None,
        });
    };
    let (first_byte, verdict) = (sampled.first_byte, sampled.verdict.clone());
    let mut content: Vec<DraftBlock> = Vec::new();
    let mut output = 0;
    let mut thinking = 0;
    let mut request = source.request.clone();
    for round in 1.. {
        let Some((said, input)) = take_call(&mut sampled) else {
            break;
        };
        let id = world.ids.server_tool_use();
        let call = json!({ "type": "server_tool_use", "id": id, "name": NAME, "input": input });
        let fails = world.next_search_error();
        let result = search.run(&id, &input, fails);
        let new = [
            said,
            vec![call, result]
                .into_iter()
                .map(DraftBlock::Server)
                .collect(),
        ]
        .concat();
        output += sampled.cut.output_tokens;
        thinking += sampled.cut.thinking_tokens;
        if round == MOST_SEARCHES {
            content.extend(new);
            sampled.cut.content = Vec::new();
            sampled.cut.stop = SimStopReason::PauseTurn;
            (output, thinking) = (
                output - sampled.cut.output_tokens,
                thinking - sampled.cut.thinking_tokens,
            );
            break;
        }
        earlier.push(SamplingStep {
            kind: SamplingStepKind::Message,
            billing: sampled.billing,
            output: sampled.cut.output_tokens,
        });
        extend(&mut request, &new, sampled.cut.output_tokens);
        content.extend(new);
        let layout = PromptLayout::of(&request, scheme, &mut world.counter)?;
        let next = SamplingInput {
            request: &request,
            layout: &layout,
            spec: source.spec,
            at: sampled.ended,
        };
        sampled = sampling::sample(world, case, next)?;
    }
    content.append(&mut sampled.cut.content);
    sampled.cut.content = content;
    sampled.cut.output_tokens += output;
    sampled.cut.thinking_tokens += thinking;
    (sampled.first_byte, sampled.verdict) = (first_byte, verdict);
    Ok(SearchedReply {
        sampled,
        earlier,
        searches: Some(search.billed),
    })
}

/// The model's first call of the search, with what it said before. What it said after is dropped: it had not seen the
/// result.
fn take_call(sampled: &mut SamplingResult) -> Option<(Vec<DraftBlock>, Value)> {
    if sampled.cut.stop != SimStopReason::ToolUse {
        return None;
    }
    let is_call =
        |block: &DraftBlock| matches!(block, DraftBlock::ToolUse { name, .. } if name == NAME);
    let at = sampled.cut.content.iter().position(is_call)?;
    let mut said = std::mem::take(&mut sampled.cut.content);
    said.truncate(at + 1);
    match said.pop() {
        Some(DraftBlock::ToolUse { input, .. }) => Some((said, input)),
        _ => None,
    }
}

/// Adds blocks of the reply to the request that the next step sees. Thinking is left out: it is signed when the reply
/// is done.
fn extend(request: &mut MessagesRequest, new: &[DraftBlock], output: u64) {
    let cached = request.automatic_cache.is_some() || has_breakpoint(request);
    let blocks = new.iter().filter_map(|block| {
        let mut block = match block {
            DraftBlock::Text(text) => json!({ "type": "text", "text": text }),
            DraftBlock::Cited { text, citations } => {
                json!({ "type": "text", "text": text, "citations": citations })
            }
            DraftBlock::Server(block) => block.clone(),
            DraftBlock::Thinking(_) | DraftBlock::ToolUse { .. } => return None,
        };
        if cached && block["type"] == "web_search_tool_result" {
            block["cache_control"] = json!({ "type": "ephemeral" });
        }
        ApiBlock::made(block)
    });
    let blocks: Vec<ApiBlock> = blocks.collect();
    match request.messages.last_mut() {
        Some(last) if last.role == ApiRole::Assistant => last.content.extend(blocks),
        _ => request.messages.push(ApiMessage {
            role: ApiRole::Assistant,
            content: blocks,
        }),
    }
    // The limit holds for the reply as a whole; at least one token is left to end it.
    request.max_tokens = request
        .max_tokens
        .map(|most| most.saturating_sub(output).max(1));
}

fn has_breakpoint(request: &MessagesRequest) -> bool {
    let mut messages = request.messages.iter().flat_map(|message| &message.content);
    request.tools.iter().any(|tool| tool.marker.is_some())
        || request.system.iter().any(|block| block.marker.is_some())
        || messages.any(|block| block.marker.is_some())
}
