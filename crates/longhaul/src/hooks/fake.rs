//! Hooks for tests: prepared answers, and a record of the events.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::call::{HookFuture, HookInvocation, Hooks};
use super::event::HookInput;
use super::name::HookEventName;
use super::outcome::HookResponse;

/// Answers each event with its prepared answer, and every other event with an empty one.
#[derive(Debug, Default)]
pub struct FakeHooks {
    answers: BTreeMap<HookEventName, HookResponse>,
    calls: Mutex<Vec<HookInput>>,
}

impl FakeHooks {
    /// Adds an answer to an event.
    #[must_use]
    pub fn answering(mut self, event: HookEventName, answer: HookResponse) -> FakeHooks {
        self.answers.insert(event, answer);
        self
    }

    /// The events so far, with their fields.
    pub fn calls(&self) -> Vec<HookInput> {
        let calls = self.calls.lock();
        calls.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The names of the events so far.
    pub fn events(&self) -> Vec<HookEventName> {
        let calls = self.calls();
        calls.iter().map(|call| call.event.name()).collect()
    }
}

impl Hooks for FakeHooks {
    fn run<'a>(&'a self, call: &'a HookInvocation) -> HookFuture<'a> {
        let calls = self.calls.lock();
        calls
            .unwrap_or_else(PoisonError::into_inner)
            .push(call.input.clone());
        let answer = self.answers.get(&call.input.event.name());
        let answer = answer.cloned().unwrap_or_default();
        Box::pin(std::future::ready(answer))
    }
}
