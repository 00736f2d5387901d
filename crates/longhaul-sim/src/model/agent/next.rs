//! What the agent does next.

use serde_json::json;

use super::Manner;
use super::mind::{Call, Mind, Move, Phase};
use super::view::Mode;
use crate::model::ask::Calls;
use crate::model::toolbox::{Kind, Offer};

/// Most calls in one reply.
const MOST_AT_ONCE: usize = 12;
/// Replies that came to nothing before it asks for help.
const PATIENCE: usize = 3;

impl Mind<'_> {
    /// Decides.
    pub(super) fn choose(&mut self) -> Move {
        let obeys = self.pace.manner == Manner::Obedient;
        match &self.ask.calls {
            Calls::Forbidden if obeys => return self.obey(),
            Calls::Forbidden => return Move::Say(self.answer()),
            Calls::ForcedTo(name) => {
                let name = name.clone();
                return self.forced(Some(&name));
            }
            Calls::Forced => return self.forced(None),
            Calls::One | Calls::Many => {}
        }
        if let Some(used) = self.use_named() {
            return used;
        }
        if obeys {
            return self.obey();
        }
        if self.tools.all().is_empty() || self.ask.room < 600 {
            return Move::Say(match self.view.steps {
                0 => self.answer(),
                _ => self.account(),
            });
        }
        if self.view.steps == 0 && self.is_plain_question() {
            return Move::Say(self.answer());
        }
        if self.view.failing_rounds() >= PATIENCE {
            return Move::Say(self.stuck());
        }
        if self.view.steps + 1 >= self.budget
            && let Some(closing) = self.closing()
        {
            return closing;
        }
        if self.view.steps >= self.budget {
            return Move::Say(self.account());
        }
        if let Some((lead, call)) = self.reaction() {
            return Move::Act {
                lead,
                calls: vec![call],
            };
        }
        self.work()
    }

    /// What is due before it ends: the plan, the todo list.
    fn closing(&mut self) -> Option<Move> {
        if self.view.mode == Mode::Planning {
            let offer = self.tools.of_kind(Kind::ExitPlan)?;
            let plan = self.plan();
            let call = self.call(
                offer,
                json!({ "plan": plan }),
                "present the plan".to_owned(),
            );
            return Some(self.act(vec![call]));
        }
        let offer = self.tools.of_kind(Kind::Todo)?;
        if !self.has_open_todos() {
            return None;
        }
        let call = self.close_todos(offer)?;
        Some(self.act(vec![call]))
    }

    fn work(&mut self) -> Move {
        let several = self.ask.calls == Calls::Many && self.chance.odds(self.pace.parallel);
        if several {
            let count = self.chance.skewed(2, MOST_AT_ONCE);
            for _ in 0..count {
                if let Some(call) = self.one(Together::Yes) {
                    self.chosen.push(call);
                }
            }
        } else if let Some(call) = self.one(Together::No) {
            self.chosen.push(call);
        }
        let calls = std::mem::take(&mut self.chosen);
        match calls.is_empty() {
            true => Move::Say(self.account()),
            false => self.act(calls),
        }
    }

    fn act(&mut self, calls: Vec<Call>) -> Move {
        let lead = self.lead(&calls);
        Move::Act { lead, calls }
    }

    /// One call, of a tool picked by weight.
    fn one(&mut self, together: Together) -> Option<Call> {
        let offers = self.tools.all().to_vec();
        let others = offers
            .iter()
            .filter(|offer| offer.kind == Kind::Other)
            .count()
            .max(1) as u32;
        let mut weights: Vec<u32> = offers
            .iter()
            .map(|offer| match (together, offer.kind) {
                (_, Kind::Other) => (80 / others).max(1),
                (Together::Yes, Kind::Read | Kind::Grep | Kind::Glob | Kind::List) => {
                    self.weight(offer.kind)
                }
                (Together::Yes, Kind::Task) => 5,
                (Together::Yes, _) => 0,
                (Together::No, kind) => self.weight(kind),
            })
            .collect();
        if together == Together::Yes && self.chosen.len() > 1 {
            // Unknown tools and sub-agents go alone or in pairs.
            for (weight, offer) in weights.iter_mut().zip(&offers) {
                if matches!(offer.kind, Kind::Other | Kind::Task) {
                    *weight = 0;
                }
            }
        }
        while let Some(index) = self.chance.weighted(&weights) {
            if let Some(call) = self.build(offers[index])
                && !self.repeats(&call)
            {
                return Some(call);
            }
            weights[index] = 0;
        }
        None
    }

    fn weight(&self, kind: Kind) -> u32 {
        let places = &self.view.places;
        let lost = places.files.is_empty();
        let all_read = places.files.len() <= places.read.len();
        let phase = self.phase();
        let by_phase = |looking, working, closing| match phase {
            Phase::Looking => looking,
            Phase::Working => working,
            Phase::Closing => closing,
        };
        match kind {
            Kind::Glob => {
                if lost {
                    600
                } else if all_read {
                    200
                } else {
                    by_phase(90, 30, 10)
                }
            }
            Kind::List => {
                if lost {
                    400
                } else {
                    by_phase(60, 20, 10)
                }
            }
            Kind::Bash => {
                if lost {
                    300
                } else {
                    by_phase(60, 120, 320)
                }
            }
            Kind::Grep => by_phase(250, 140, 60),
            Kind::Read | Kind::Editor => {
                if lost {
                    20
                } else {
                    by_phase(520, 300, 160)
                }
            }
            Kind::Edit | Kind::MultiEdit => by_phase(40, 380, 200),
            Kind::Write => by_phase(0, 30, 30),
            Kind::Todo if self.has_todos() => by_phase(40, 110, 110),
            Kind::Todo => {
                if self.budget > 4 {
                    by_phase(260, 20, 0)
                } else {
                    0
                }
            }
            Kind::Task => by_phase(40, 20, 0),
            Kind::Skill | Kind::Fetch => by_phase(30, 15, 0),
            Kind::Memory => by_phase(40, 20, 30),
            Kind::EnterPlan => {
                if self.view.steps < 2 {
                    15
                } else {
                    0
                }
            }
            Kind::Other => 80,
            Kind::ExitPlan | Kind::Delicate => 0,
        }
    }

    /// A call of this tool that makes sense now; none where it cannot think of one.
    pub(super) fn build(&mut self, offer: Offer<'_>) -> Option<Call> {
        match offer.kind {
            Kind::Read => self.read(offer),
            Kind::Grep => self.search(offer),
            Kind::Glob => self.find(offer),
            Kind::List => self.list(offer),
            Kind::Edit | Kind::MultiEdit => self.edit(offer),
            Kind::Editor => self.editor(offer),
            Kind::Write => self.write(offer),
            Kind::Bash => self.command(offer),
            Kind::Todo => self.move_on(offer),
            Kind::Task => self.delegate(offer),
            Kind::Skill => self.skill(offer),
            Kind::Fetch => self.fetch(offer),
            Kind::Memory => self.remember(offer),
            Kind::EnterPlan | Kind::Other | Kind::Delicate => {
                let doing = format!("ask `{}`", offer.name());
                Some(self.call(offer, json!({}), doing))
            }
            Kind::ExitPlan => {
                let plan = self.plan();
                Some(self.call(
                    offer,
                    json!({ "plan": plan }),
                    "present the plan".to_owned(),
                ))
            }
        }
    }

    /// The call it is made to make.
    fn forced(&mut self, name: Option<&str>) -> Move {
        let offer = match name {
            Some(name) => self.tools.named(name),
            None => None,
        };
        let call = match offer {
            Some(offer) if matches!(offer.kind, Kind::Other | Kind::Delicate) => {
                let words = self.ask.words.clone();
                Some(self.call_as_worded(offer, &words))
            }
            Some(offer) => self
                .build(offer)
                .or_else(|| Some(self.call(offer, json!({}), String::new()))),
            None if name.is_none() => self.one(Together::No).or_else(|| {
                let offer = self.tools.all().first().copied()?;
                Some(self.call(offer, json!({}), String::new()))
            }),
            None => None,
        };
        match call {
            Some(call) => Move::Act {
                lead: String::new(),
                calls: vec![call],
            },
            None => Move::Say(self.answer()),
        }
    }
}

/// Whether a call is one of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Together {
    Yes,
    No,
}
