//! Decides the step before a request (O1, O5), after micro-compaction.

use super::Breaker;
use crate::figures::grouped;
use crate::window::guards::guard;
use crate::window::{
    ProactiveGuard, QuerySource, Switch, SwitchVerdict, SwitchableAction, Switches, WindowLevel,
    WindowOwner, WindowStatus,
};

/// The inputs of the decision.
#[derive(Debug, Clone, Copy)]
pub struct PlanSituation<'a> {
    /// The current state of the window.
    pub status: &'a WindowStatus,
    /// The user's switches.
    pub switches: &'a Switches,
    /// Who sends the request.
    pub source: &'a QuerySource,
    /// Who owns the window.
    pub owner: WindowOwner,
    /// Whether a model may be asked.
    pub breaker: Breaker,
    /// Whether this turn has already tried to compact without success.
    pub tried: bool,
}

/// The step before a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Send the request.
    Send,
    /// Compact first.
    Compact(SummaryWay),
    /// Refuse the request: the window is full and nothing may be done about it.
    Refuse(RequestRefusal),
}

/// How to summarize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryWay {
    /// Use notes if they apply, otherwise a model.
    Model,
    /// Summarize without a model, because the breaker is open.
    Local,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestRefusal {
    /// This switch turned automatic compaction off.
    SwitchedOff(Switch),
    /// Compaction was tried in this turn and did not help.
    CouldNotShrink,
}

impl RequestRefusal {
    /// Returns a sentence for people that says what to do.
    pub fn sentence(self, status: &WindowStatus) -> String {
        let full = format!(
            "the context window is full: {} of {} tokens",
            grouped(status.used),
            grouped(status.size)
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

/// Decides the step before a request.
///
/// ```
/// use longhaul_core::plan::{Breaker, NextStep, PlanSituation, SummaryWay, next};
/// use longhaul_core::window::{QuerySource, Switches, WindowInput, WindowOwner, WindowSettings, WindowStatus};
///
/// let window = WindowStatus::new(&WindowInput {
///     window: 200_000,
///     max_output: 64_000,
///     used: 0,
///     settings: WindowSettings::default(),
/// })?;
/// let (switches, source) = (Switches::default(), QuerySource::SDK);
/// let step = |used| next(&PlanSituation {
///     status: &window.at(used),
///     switches: &switches,
///     source: &source,
///     owner: WindowOwner::Proactive,
///     breaker: Breaker::Closed,
///     tried: false,
/// });
/// assert_eq!(step(100_000), NextStep::Send);
/// assert_eq!(step(170_000), NextStep::Compact(SummaryWay::Model));
/// # Ok::<(), longhaul_core::window::WindowError>(())
/// ```
pub fn next(situation: &PlanSituation<'_>) -> NextStep {
    let PlanSituation { status, tried, .. } = *situation;
    let guard = guard(situation.source, situation.owner);
    if let ProactiveGuard::InsideCompaction
    | ProactiveGuard::InsideNotes
    | ProactiveGuard::InsideCollapse = guard
    {
        return NextStep::Send;
    }
    let allowed = situation.switches.decide(SwitchableAction::Automatic);
    if guard == ProactiveGuard::Clear && status.used >= status.auto_compact && !tried {
        match (allowed, situation.breaker) {
            (SwitchVerdict::Off(_), _) => {}
            (SwitchVerdict::Allowed, Breaker::Closed) => {
                return NextStep::Compact(SummaryWay::Model);
            }
            (SwitchVerdict::Allowed, Breaker::Open) => return NextStep::Compact(SummaryWay::Local),
        }
    }
    match (status.level, allowed) {
        (WindowLevel::Blocking, SwitchVerdict::Off(switch)) => {
            NextStep::Refuse(RequestRefusal::SwitchedOff(switch))
        }
        (WindowLevel::Blocking, SwitchVerdict::Allowed) if tried => {
            NextStep::Refuse(RequestRefusal::CouldNotShrink)
        }
        _ => NextStep::Send,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{AutoCompact, WindowInput, WindowSettings};

    fn status(used: u64, switches: &Switches) -> WindowStatus {
        let auto_compact = match switches.decide(SwitchableAction::Automatic) {
            SwitchVerdict::Allowed => AutoCompact::On,
            SwitchVerdict::Off(_) => AutoCompact::Off,
        };
        let settings = WindowSettings {
            auto_compact,
            ..WindowSettings::default()
        };
        let input = WindowInput {
            window: 200_000,
            max_output: 64_000,
            used,
            settings,
        };
        WindowStatus::new(&input).unwrap()
    }

    fn judge(used: u64, switches: &Switches, source: &QuerySource, owner: WindowOwner) -> NextStep {
        next(&PlanSituation {
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
            judge(166_999, &Switches::default(), &main, WindowOwner::Proactive),
            NextStep::Send
        );
        assert_eq!(
            judge(167_000, &Switches::default(), &main, WindowOwner::Proactive),
            NextStep::Compact(SummaryWay::Model)
        );
    }

    #[test]
    fn o2_an_open_breaker_leaves_the_ways_without_a_model() {
        let situation = PlanSituation {
            status: &status(170_000, &Switches::default()),
            switches: &Switches::default(),
            source: &QuerySource::SDK,
            owner: WindowOwner::Proactive,
            breaker: Breaker::Open,
            tried: false,
        };
        assert_eq!(next(&situation), NextStep::Compact(SummaryWay::Local));
    }

    #[test]
    fn o5_a_full_window_is_refused_when_nothing_may_be_done() {
        let off = Switches {
            automatic: false,
            ..Switches::default()
        };
        let main = QuerySource::MAIN;
        assert_eq!(
            judge(176_999, &off, &main, WindowOwner::Proactive),
            NextStep::Send
        );
        let refusal = RequestRefusal::SwitchedOff(Switch::Automatic);
        assert_eq!(
            judge(177_000, &off, &main, WindowOwner::Proactive),
            NextStep::Refuse(refusal)
        );
        let sentence = refusal.sentence(&status(177_000, &off));
        assert!(sentence.contains("/compact") && sentence.contains("compaction.automatic"));
    }

    #[test]
    fn o5_a_refusal_names_the_setting_that_turned_compaction_off() {
        let full = status(177_000, &Switches::default());
        for (switch, setting) in [
            (Switch::AllCompaction, "compaction.enabled"),
            (Switch::Automatic, "compaction.automatic"),
            (Switch::UserSetting, "compaction.auto_compact_enabled"),
        ] {
            let sentence = RequestRefusal::SwitchedOff(switch).sentence(&full);
            assert!(sentence.contains(&format!("({setting})")), "{sentence}");
        }
    }

    #[test]
    fn o5_compaction_and_notes_requests_are_exempt() {
        let off = Switches {
            automatic: false,
            ..Switches::default()
        };
        for source in [QuerySource::COMPACT, QuerySource::NOTES] {
            assert_eq!(
                judge(199_000, &off, &source, WindowOwner::Proactive),
                NextStep::Send
            );
        }
    }

    #[test]
    fn o5_what_was_tried_in_vain_is_not_tried_again_in_the_same_turn() {
        let full = status(178_000, &Switches::default());
        let situation = PlanSituation {
            status: &full,
            switches: &Switches::default(),
            source: &QuerySource::MAIN,
            owner: WindowOwner::Proactive,
            breaker: Breaker::Closed,
            tried: true,
        };
        assert_eq!(
            next(&situation),
            NextStep::Refuse(RequestRefusal::CouldNotShrink)
        );
        let high = full.at(170_000);
        let below = PlanSituation {
            status: &high,
            ..situation
        };
        assert_eq!(next(&below), NextStep::Send);
    }

    #[test]
    fn h6_another_owner_of_the_window_keeps_proactive_compaction_off() {
        for owner in [WindowOwner::Reactive, WindowOwner::Collapse] {
            for used in [170_000, 178_000] {
                assert_eq!(
                    judge(used, &Switches::default(), &QuerySource::MAIN, owner),
                    NextStep::Send
                );
            }
        }
    }
}
