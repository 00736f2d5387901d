//! Puts a history in order before it is rendered. No request of ours has carried it yet, so everything may still move.
//!
//! Late lines join the first line of their response, a result goes after its call wherever it is, and of several
//! results for a call the first counts. Everything else keeps its place.

use super::block;
use super::step::{RenderStep, RenderStepKind, steps};
use crate::hash::Map;
use crate::message::{EntryView, Id};

/// A response and the user's side of the conversation after it.
#[derive(Default)]
struct ArrangedTurn<'a> {
    lines: Vec<RenderStep<'a>>,
    results: Vec<RenderStep<'a>>,
    inputs: Vec<RenderStep<'a>>,
}

/// Returns the steps of a history in the order in which they are sent.
pub(super) fn arranged<'a>(history: &[EntryView<'a>]) -> Vec<RenderStep<'a>> {
    let mut turns = vec![ArrangedTurn::default()];
    let mut responses: Map<Id, usize> = Map::default();
    let mut results = Vec::new();
    for (at, view) in history.iter().enumerate() {
        for step in steps(at, *view) {
            let newest = turns.len() - 1;
            match step.ask {
                RenderStepKind::Line => {
                    let known = view.message_id().and_then(|id| responses.get(&id).copied());
                    let turn = known.unwrap_or(turns.len());
                    if known.is_none() {
                        turns.push(ArrangedTurn::default());
                        responses.extend(view.message_id().map(|id| (id, turn)));
                    }
                    turns[turn].lines.push(step);
                }
                RenderStepKind::Result(_) => results.push(step),
                RenderStepKind::Input(_) | RenderStepKind::Attachment => {
                    turns[newest].inputs.push(step)
                }
            }
        }
    }
    place_results(&mut turns, results);
    turns
        .into_iter()
        .flat_map(|turn| [turn.lines, turn.results, turn.inputs])
        .flatten()
        .collect()
}

/// Puts each result after its call. The first result for a call counts, and a result without a call is dropped (Z2).
fn place_results<'a>(turns: &mut [ArrangedTurn<'a>], results: Vec<RenderStep<'a>>) {
    let mut calls: Map<Id, usize> = Map::default();
    for (index, turn) in turns.iter().enumerate() {
        for line in &turn.lines {
            for id in block::calls(line.view) {
                calls.entry(id).or_insert(index);
            }
        }
    }
    for step in results {
        let RenderStepKind::Result(index) = step.ask else {
            continue;
        };
        let call = block::answers(step.view, index);
        if let Some(turn) = call.and_then(|call| calls.remove(&call)) {
            turns[turn].results.push(step);
        }
    }
}
