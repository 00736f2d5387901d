//! Puts a history in order before it is rendered: no request of ours carried it yet, so everything may still move.
//!
//! Late lines join the first line of their response, a result goes behind its call wherever it stands, of several
//! results the first counts. All else keeps its place.

use super::block;
use super::step::{Ask, Step, steps};
use crate::hash::Map;
use crate::message::{Id, View};

/// A response and what the user's side said behind it.
#[derive(Default)]
struct Turn<'a> {
    lines: Vec<Step<'a>>,
    results: Vec<Step<'a>>,
    inputs: Vec<Step<'a>>,
}

/// The steps of a history in the order in which they are sent.
pub(super) fn arranged<'a>(history: &[View<'a>]) -> Vec<Step<'a>> {
    let mut turns = vec![Turn::default()];
    let mut responses: Map<Id, usize> = Map::default();
    let mut results = Vec::new();
    for (at, view) in history.iter().enumerate() {
        for step in steps(at, *view) {
            let newest = turns.len() - 1;
            match step.ask {
                Ask::Line => {
                    let known = view.message_id().and_then(|id| responses.get(&id).copied());
                    let turn = known.unwrap_or(turns.len());
                    if known.is_none() {
                        turns.push(Turn::default());
                        responses.extend(view.message_id().map(|id| (id, turn)));
                    }
                    turns[turn].lines.push(step);
                }
                Ask::Result(_) => results.push(step),
                Ask::Input(_) | Ask::Attachment => turns[newest].inputs.push(step),
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

/// Puts each result behind its call; the first one for a call counts, and one without a call is dropped (Z2).
fn place_results<'a>(turns: &mut [Turn<'a>], results: Vec<Step<'a>>) {
    let mut calls: Map<Id, usize> = Map::default();
    for (index, turn) in turns.iter().enumerate() {
        for line in &turn.lines {
            for id in block::calls(line.view) {
                calls.entry(id).or_insert(index);
            }
        }
    }
    for step in results {
        let Ask::Result(index) = step.ask else {
            continue;
        };
        let call = block::answers(step.view, index);
        if let Some(turn) = call.and_then(|call| calls.remove(&call)) {
            turns[turn].results.push(step);
        }
    }
}
