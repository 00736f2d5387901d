//! Chooses the agent's next move.

use serde_json::json;

use super::Manner;
use super::turn::{AgentMove, AgentTurn, PlannedCall, WorkPhase};
use super::view::PlanningMode;
use crate::model::constraints::AllowedCalls;
use crate::model::toolbox::{OfferedTool, ToolPurpose};

/// The maximum number of calls in one reply.
const MOST_AT_ONCE: usize = 12;
/// The number of failed replies after which the agent asks for help.
const PATIENCE: usize = 3;

impl AgentTurn<'_> {
    /// Chooses the next move.
    pub(super) fn choose(&mut self) -> AgentMove {
        let obeys = self.pace.manner == Manner::Obedient;
        match &self.ask.calls {
            AllowedCalls::Forbidden if obeys => return self.obey(),
            AllowedCalls::Forbidden => return AgentMove::Say(self.answer()),
            AllowedCalls::ForcedTo(name) => {
                let name = name.clone();
                return self.forced(Some(&name));
            }
            AllowedCalls::Forced => return self.forced(None),
            AllowedCalls::One | AllowedCalls::Many => {}
        }
        if let Some(used) = self.use_named() {
            return used;
        }
        if obeys {
            return self.obey();
        }
        if self.tools.all().is_empty() || self.ask.room < 600 {
            return AgentMove::Say(match self.view.steps {
                0 => self.answer(),
                _ => self.account(),
            });
        }
        if self.view.steps == 0 && self.is_plain_question() {
            return AgentMove::Say(self.answer());
        }
        if self.view.failing_rounds() >= PATIENCE {
            return AgentMove::Say(self.stuck());
        }
        if self.view.steps + 1 >= self.budget
            && let Some(closing) = self.closing()
        {
            return closing;
        }
        if self.view.steps >= self.budget {
            return AgentMove::Say(self.account());
        }
        if let Some((lead, call)) = self.reaction() {
            return AgentMove::Act {
                lead,
                calls: vec![call],
            };
        }
        self.work()
    }

    /// What remains to be done before the turn ends: the plan, the todo list.
    fn closing(&mut self) -> Option<AgentMove> {
        if self.view.mode == PlanningMode::Planning {
            let offer = self.tools.of_kind(ToolPurpose::ExitPlan)?;
            let plan = self.plan();
            let call = self.call(
                offer,
                json!({ "plan": plan }),
                "present the plan".to_owned(),
            );
            return Some(self.act(vec![call]));
        }
        let offer = self.tools.of_kind(ToolPurpose::Todo)?;
        if !self.has_open_todos() {
            return None;
        }
        let call = self.close_todos(offer)?;
        Some(self.act(vec![call]))
    }

    fn work(&mut self) -> AgentMove {
        let several = self.ask.calls == AllowedCalls::Many && self.chance.odds(self.pace.parallel);
        if several {
            let count = self.chance.skewed(2, MOST_AT_ONCE);
            for _ in 0..count {
                if let Some(call) = self.one(CallGrouping::Yes) {
                    self.chosen.push(call);
                }
            }
        } else if let Some(call) = self.one(CallGrouping::No) {
            self.chosen.push(call);
        }
        let calls = std::mem::take(&mut self.chosen);
        if calls.is_empty() {
            AgentMove::Say(self.account())
        } else {
            self.act(calls)
        }
    }

    fn act(&mut self, calls: Vec<PlannedCall>) -> AgentMove {
        let lead = self.lead(&calls);
        AgentMove::Act { lead, calls }
    }

    /// One call, of a tool picked by weight.
    fn one(&mut self, together: CallGrouping) -> Option<PlannedCall> {
        let offers = self.tools.all().to_vec();
        let others = offers
            .iter()
            .filter(|offer| offer.kind == ToolPurpose::Other)
            .count()
            .max(1) as u32;
        let mut weights: Vec<u32> = offers
            .iter()
            .map(|offer| match (together, offer.kind) {
                (_, ToolPurpose::Other) => (80 / others).max(1),
                (
                    CallGrouping::Yes,
                    ToolPurpose::Read | ToolPurpose::Grep | ToolPurpose::Glob | ToolPurpose::List,
                ) => self.weight(offer.kind),
                (CallGrouping::Yes, ToolPurpose::Task) => 5,
                (CallGrouping::Yes, _) => 0,
                (CallGrouping::No, kind) => self.weight(kind),
            })
            .collect();
        if together == CallGrouping::Yes && self.chosen.len() > 1 {
            // Unknown tools and sub-agents are called alone or in pairs.
            for (weight, offer) in weights.iter_mut().zip(&offers) {
                if matches!(offer.kind, ToolPurpose::Other | ToolPurpose::Task) {
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

    fn weight(&self, kind: ToolPurpose) -> u32 {
        let places = &self.view.places;
        let lost = places.files.is_empty();
        let all_read = places.files.len() <= places.read.len();
        let phase = self.phase();
        let by_phase = |looking, working, closing| match phase {
            WorkPhase::Looking => looking,
            WorkPhase::Working => working,
            WorkPhase::Closing => closing,
        };
        match kind {
            ToolPurpose::Glob => {
                if lost {
                    600
                } else if all_read {
                    200
                } else {
                    by_phase(90, 30, 10)
                }
            }
            ToolPurpose::List => {
                if lost {
                    400
                } else {
                    by_phase(60, 20, 10)
                }
            }
            ToolPurpose::Bash => {
                if lost {
                    300
                } else {
                    by_phase(60, 120, 320)
                }
            }
            ToolPurpose::Grep => by_phase(250, 140, 60),
            ToolPurpose::Read | ToolPurpose::Editor => {
                if lost {
                    20
                } else {
                    by_phase(520, 300, 160)
                }
            }
            ToolPurpose::Edit | ToolPurpose::MultiEdit => by_phase(40, 380, 200),
            ToolPurpose::Write => by_phase(0, 30, 30),
            ToolPurpose::Todo if self.has_todos() => by_phase(40, 110, 110),
            ToolPurpose::Todo => {
                if self.budget > 4 {
                    by_phase(260, 20, 0)
                } else {
                    0
                }
            }
            ToolPurpose::Task => by_phase(40, 20, 0),
            ToolPurpose::Skill | ToolPurpose::Fetch => by_phase(30, 15, 0),
            ToolPurpose::Memory => by_phase(40, 20, 30),
            ToolPurpose::EnterPlan => {
                if self.view.steps < 2 {
                    15
                } else {
                    0
                }
            }
            ToolPurpose::Other => 80,
            // A search costs money, so it is for the user to want one.
            ToolPurpose::ExitPlan | ToolPurpose::Delicate | ToolPurpose::WebSearch => 0,
        }
    }

    /// A call of this tool that makes sense now; `None` if there is none.
    pub(super) fn build(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        match offer.kind {
            ToolPurpose::Read => self.read(offer),
            ToolPurpose::Grep => self.search(offer),
            ToolPurpose::Glob => self.find(offer),
            ToolPurpose::List => self.list(offer),
            ToolPurpose::Edit | ToolPurpose::MultiEdit => self.edit(offer),
            ToolPurpose::Editor => self.editor(offer),
            ToolPurpose::Write => self.write(offer),
            ToolPurpose::Bash => self.command(offer),
            ToolPurpose::Todo => self.move_on(offer),
            ToolPurpose::Task => self.delegate(offer),
            ToolPurpose::Skill => self.skill(offer),
            ToolPurpose::Fetch => self.fetch(offer),
            ToolPurpose::WebSearch => self.search_the_web(offer, None),
            ToolPurpose::Memory => self.remember(offer),
            ToolPurpose::EnterPlan | ToolPurpose::Other | ToolPurpose::Delicate => {
                let doing = format!("ask `{}`", offer.name());
                Some(self.call(offer, json!({}), doing))
            }
            ToolPurpose::ExitPlan => {
                let plan = self.plan();
                Some(self.call(
                    offer,
                    json!({ "plan": plan }),
                    "present the plan".to_owned(),
                ))
            }
        }
    }

    /// The call that the request forces.
    fn forced(&mut self, name: Option<&str>) -> AgentMove {
        let offer = match name {
            Some(name) => self.tools.named(name),
            None => None,
        };
        let call = match offer {
            Some(offer) if matches!(offer.kind, ToolPurpose::Other | ToolPurpose::Delicate) => {
                let words = self.ask.words.clone();
                Some(self.call_as_worded(offer, &words))
            }
            Some(offer) => self
                .build(offer)
                .or_else(|| Some(self.call(offer, json!({}), String::new()))),
            None if name.is_none() => self.one(CallGrouping::No).or_else(|| {
                let offer = self.tools.all().first().copied()?;
                Some(self.call(offer, json!({}), String::new()))
            }),
            None => None,
        };
        match call {
            Some(call) => AgentMove::Act {
                lead: String::new(),
                calls: vec![call],
            },
            None => AgentMove::Say(self.answer()),
        }
    }
}

/// Whether a call is one of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallGrouping {
    Yes,
    No,
}
