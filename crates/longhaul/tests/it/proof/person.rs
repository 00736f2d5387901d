//! A simulated user who talks without end, and the tools that answer.

use longhaul::Session;
use longhaul::session::TurnError;
use longhaul_core::engine::ToolOutput;
use longhaul_provider::Reply;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::json;

use super::place::Place;

/// The user gives up after this many failures of one turn.
const PATIENCE: usize = 12;

pub(crate) struct Person {
    rng: ChaCha8Rng,
    /// Every word.
    pub(crate) said: Vec<String>,
    pub(crate) failed_turns: usize,
    pub(crate) refused: Vec<String>,
    /// Lines of a tool's result, at most.
    pub(crate) longest_result: u32,
}

impl Person {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            said: Vec::new(),
            failed_turns: 0,
            refused: Vec::new(),
            longest_result: 60,
        }
    }

    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.rng.next_u32() % end
    }

    /// The next message: mostly short, sometimes long, sometimes a rule.
    pub(crate) fn says(&mut self) -> String {
        let turn = self.said.len();
        let what = ["parser", "cache", "index", "tests", "docs"][self.below(5) as usize];
        let text = match turn % 41 {
            7 => format!("Rule {turn}: never touch the {what} of part {turn}."),
            23 => {
                let words = format!("the {what} of part {turn} is slow, and ");
                format!(
                    "Report {turn}: {}that is all.",
                    words.repeat(20 + self.below(60) as usize)
                )
            }
            _ => format!("Request {turn}: look at the {what} in src/{what}_{turn}.rs."),
        };
        self.said.push(text.clone());
        text
    }

    fn result(&mut self, id: String) -> ToolOutput {
        let lines = 2 + self.below(self.longest_result);
        let text: String = (0..lines)
            .map(|line| {
                let value = self.below(997);
                format!("{line}: let value_{value} = compute({line});\n")
            })
            .collect();
        ToolOutput {
            tool_use_id: id,
            content: json!(text),
            is_error: self.below(20) == 0,
        }
    }

    /// One exchange: something is said, the model works with tools until it is done. A turn that fails is tried again.
    pub(crate) async fn exchange(&mut self, place: &Place, session: &mut Session) {
        let text = self.says();
        session.say(text).await.unwrap();
        self.work(place, session).await;
    }

    /// Lets the model work until it has no more calls.
    pub(crate) async fn work(&mut self, place: &Place, session: &mut Session) {
        place.later(5);
        if let Some(reply) = self.turn(place, session).await {
            self.go_on(place, session, reply).await;
        }
    }

    /// Lets the model work after a reply until it has no more calls.
    pub(crate) async fn go_on(&mut self, place: &Place, session: &mut Session, reply: Reply) {
        let mut reply = reply;
        for _ in 0..6 {
            let calls: Vec<String> = reply.tool_calls().map(|call| call.id.to_string()).collect();
            if calls.is_empty() {
                return;
            }
            let outputs = calls.into_iter().map(|id| self.result(id)).collect();
            session.results(outputs).await.unwrap();
            place.later(5);
            match self.turn(place, session).await {
                Some(next) => reply = next,
                None => return,
            }
        }
    }

    async fn turn(&mut self, place: &Place, session: &mut Session) -> Option<Reply> {
        let mut last = String::new();
        for _ in 0..PATIENCE {
            match session.turn().await {
                Ok(reply) => return Some(reply),
                Err(TurnError::Refused(why)) => {
                    self.refused.push(why);
                    return None;
                }
                Err(error) => {
                    self.failed_turns += 1;
                    last = error.to_string();
                    place.later(2);
                }
            }
        }
        panic!("turn {} is stuck: {last}", self.said.len());
    }

    /// Messages that are not in view word for word.
    pub(crate) fn missing(&self, session: &Session) -> Vec<&String> {
        let view: String = session
            .engine()
            .live()
            .views()
            .map(|entry| String::from_utf8_lossy(entry.line).into_owned())
            .collect();
        let said = self.said.iter();
        said.filter(|text| !view.contains(*text)).collect()
    }
}
