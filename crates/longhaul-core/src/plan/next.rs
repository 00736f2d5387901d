//! The step before a request (O1, O5), once micro-compaction has had its turn.

use super::Breaker;
use crate::window::guards::guard;
use crate::window::{
    Action, Guard, Level, Owner, QuerySource, Switch, Switches, Verdict, WindowStatus,
};

/// What the step depends on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The window now.
    pub status: &'a WindowStatus,
    /// The user's switches.
    pub switches: &'a Switches,
    /// Who sends the request.
    pub source: &'a QuerySource,
    /// Who owns the window.
    pub owner: Owner,
    /// Whether a model may be asked.
    pub breaker: Breaker,
    /// This turn has tried to compact already, in vain.
    pub tried: bool,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Send the request.
    Send,
    /// Compact first.
    Compact(Way),
    /// Refuse: the window is full and nothing may be done about it.
    Refuse(Refusal),
}

/// How to summarise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Notes where they apply, else a model.
    Model,
    /// Without a model: the breaker is open.
    Local,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Automatic compaction is off, by this switch.
    SwitchedOff(Switch),
    /// It was tried in this turn and did not help.
    CouldNotShrink,
}

impl Refusal {
    /// For people, with what to do.
    pub fn sentence(self, status: &WindowStatus) -> String {
        let full = format!(
            "the context window is full: {} of {} tokens",
            status.used, status.size
        );
        match self {
            Self::SwitchedOff(switch) => {
                let setting = match switch {
                    Switch::AllCompaction => "compaction.enabled",
                    Switch::Automatic => "compaction.automatic",
                    _ => "compaction.auto_compact_enabled",
                };
                format!(
                    "{full}, and automatic compaction is off ({setting}). Compact by hand with /compact, or start over with /clear."
                )
            }
            Self::CouldNotShrink => format!(
                "{full}, and compacting did not free enough. Try /compact, shorten the system prompt or the tools, or start over with /clear."
            ),
        }
    }
}

/// Judges a request.
pub fn next(situation: &Situation<'_>) -> Next {
    let Situation { status, tried, .. } = *situation;
    let guard = guard(situation.source, situation.owner);
    if let Guard::InsideCompaction | Guard::InsideNotes | Guard::InsideCollapse = guard {
        return Next::Send;
    }
    let allowed = situation.switches.decide(Action::Automatic);
    if guard == Guard::Clear && status.used >= status.auto_compact && !tried {
        match (allowed, situation.breaker) {
            (Verdict::Off(_), _) => {}
            (Verdict::Allowed, Breaker::Closed) => return Next::Compact(Way::Model),
            (Verdict::Allowed, Breaker::Open) => return Next::Compact(Way::Local),
        }
    }
    match (status.level, allowed) {
        (Level::Blocking, Verdict::Off(switch)) => Next::Refuse(Refusal::SwitchedOff(switch)),
        (Level::Blocking, Verdict::Allowed) if tried => Next::Refuse(Refusal::CouldNotShrink),
        _ => Next::Send,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{AutoCompact, Settings, WindowInput};

    fn status(used: u64, switches: &Switches) -> WindowStatus {
        let auto_compact = match switches.decide(Action::Automatic) {
            Verdict::Allowed => AutoCompact::On,
            Verdict::Off(_) => AutoCompact::Off,
        };
        let settings = Settings {
            auto_compact,
            ..Settings::default()
        };
        let input = WindowInput {
            window: 200_000,
            max_output: 64_000,
            used,
            settings,
        };
        WindowStatus::new(&input).unwrap()
    }

    fn judge(used: u64, switches: &Switches, source: &QuerySource, owner: Owner) -> Next {
        next(&Situation {
            status: &status(used, switches),
            switches,
            source,
            owner,
            breaker: Breaker::Closed,
            tried: false,
        })
    }

    #[test]
    fn o1_below_the_threshold_requests_go_out() {
        let main = QuerySource::MAIN;
        assert_eq!(
            judge(166_999, &Switches::default(), &main, Owner::Proactive),
            Next::Send
        );
        assert_eq!(
            judge(167_000, &Switches::default(), &main, Owner::Proactive),
            Next::Compact(Way::Model)
        );
    }

    #[test]
    fn o2_an_open_breaker_leaves_the_ways_without_a_model() {
        let situation = Situation {
            status: &status(170_000, &Switches::default()),
            switches: &Switches::default(),
            source: &QuerySource::SDK,
            owner: Owner::Proactive,
            breaker: Breaker::Open,
            tried: false,
        };
        assert_eq!(next(&situation), Next::Compact(Way::Local));
    }

    #[test]
    fn o5_a_full_window_is_refused_when_nothing_may_be_done() {
        let off = Switches {
            automatic: false,
            ..Switches::default()
        };
        let main = QuerySource::MAIN;
        assert_eq!(judge(176_999, &off, &main, Owner::Proactive), Next::Send);
        let refusal = Refusal::SwitchedOff(Switch::Automatic);
        assert_eq!(
            judge(177_000, &off, &main, Owner::Proactive),
            Next::Refuse(refusal)
        );
        let sentence = refusal.sentence(&status(177_000, &off));
        assert!(sentence.contains("/compact") && sentence.contains("compaction.automatic"));
    }

    #[test]
    fn o5_compaction_and_notes_requests_are_exempt() {
        let off = Switches {
            automatic: false,
            ..Switches::default()
        };
        for source in [QuerySource::COMPACT, QuerySource::NOTES] {
            assert_eq!(judge(199_000, &off, &source, Owner::Proactive), Next::Send);
        }
    }

    #[test]
    fn o5_what_was_tried_in_vain_is_not_tried_again_in_the_same_turn() {
        let full = status(178_000, &Switches::default());
        let situation = Situation {
            status: &full,
            switches: &Switches::default(),
            source: &QuerySource::MAIN,
            owner: Owner::Proactive,
            breaker: Breaker::Closed,
            tried: true,
        };
        assert_eq!(next(&situation), Next::Refuse(Refusal::CouldNotShrink));
        let high = full.at(170_000);
        let below = Situation {
            status: &high,
            ..situation
        };
        assert_eq!(next(&below), Next::Send);
    }

    #[test]
    fn h6_another_owner_of_the_window_keeps_proactive_compaction_off() {
        for owner in [Owner::Reactive, Owner::Collapse] {
            assert_eq!(
                judge(170_000, &Switches::default(), &QuerySource::MAIN, owner),
                Next::Send
            );
        }
    }
}
