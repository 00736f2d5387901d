//! Which request meets which fault. A decision is a function of the rules, the seed and the request's number.

use super::InjectedFault;
use super::rule::{FaultRule, FaultTrigger};
use super::spec;
use super::spec_error::FaultSpecError;

/// The faults of a run.
///
/// ```
/// use longhaul_sim::faults::{FaultPlan, InjectedFault};
///
/// let plan = FaultPlan::parse("after 5: 529*2", 1)?;
/// assert_eq!(plan.decide(5), None);
/// assert_eq!(plan.decide(6), Some(InjectedFault::Overloaded));
/// assert_eq!(plan.decide(7), Some(InjectedFault::Overloaded));
/// assert_eq!(plan.decide(8), None);
/// # Ok::<(), longhaul_sim::faults::FaultSpecError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultPlan {
    rules: Vec<FaultRule>,
    seed: u64,
}

impl FaultPlan {
    /// Parses a specification; docs/simulator.md has the grammar. The seed decides what happens by chance.
    pub fn parse(spec: &str, seed: u64) -> Result<Self, FaultSpecError> {
        let mut plan = Self {
            rules: Vec::new(),
            seed,
        };
        plan.inject(spec, 0)?;
        Ok(plan)
    }

    /// Adds rules to a run in which `made` requests were made. Faults without a trigger strike from the next request
    /// on, after those already waiting. On an error nothing is added.
    pub fn inject(&mut self, spec: &str, made: u64) -> Result<(), FaultSpecError> {
        for (when, faults) in spec::parse(spec)? {
            let when = when.unwrap_or_else(|| FaultTrigger::After(self.queued_until().max(made)));
            self.rules.push(FaultRule { when, faults });
        }
        Ok(())
    }

    /// Removes all rules.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// The fault for the request of this number, if any. The first rule that applies decides.
    pub fn decide(&self, request: u64) -> Option<InjectedFault> {
        self.rules
            .iter()
            .enumerate()
            .find_map(|(index, rule)| rule.decide(request, mix(self.seed, index as u64, request)))
    }

    /// The rules in their text form, without those that have no effect any more.
    pub fn pending(&self, made: u64) -> Vec<String> {
        let over =
            |rule: &FaultRule| matches!(rule.when, FaultTrigger::After(_)) && rule.end() <= made;
        let rules = self.rules.iter().filter(|rule| !over(rule));
        rules.map(ToString::to_string).collect()
    }

    /// The last request that a rule by number affects.
    fn queued_until(&self) -> u64 {
        self.rules.iter().map(FaultRule::end).max().unwrap_or(0)
    }
}

/// Mixes three numbers into one that looks random (SplitMix64's finalizer).
fn mix(seed: u64, rule: u64, request: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(rule.wrapping_mul(0xd1b5_4a32_d192_ed03))
        .wrapping_add(request.wrapping_mul(0xbf58_476d_1ce4_e5b9));
    for _ in 0..2 {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_and_repeats_with_its_seed() {
        let plan = FaultPlan::parse("5%: 529, reset", 7).unwrap();
        let struck: Vec<_> = (1..=20_000).filter_map(|n| plan.decide(n)).collect();
        assert!((800..1200).contains(&struck.len()), "{}", struck.len());
        let resets = struck
            .iter()
            .filter(|f| **f != InjectedFault::Overloaded)
            .count();
        assert!((300..700).contains(&resets), "{resets}");
        let again: Vec<_> = (1..=20_000).filter_map(|n| plan.decide(n)).collect();
        assert_eq!(struck, again);
        let other = FaultPlan::parse("5%: 529, reset", 8).unwrap();
        assert_ne!(
            again,
            (1..=20_000)
                .filter_map(|n| other.decide(n))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_is_injected_waits_behind_what_is_queued() {
        let mut plan = FaultPlan::parse("529*2", 0).unwrap();
        plan.inject("500", 1).unwrap();
        assert_eq!(plan.decide(1), Some(InjectedFault::Overloaded));
        assert_eq!(plan.decide(2), Some(InjectedFault::Overloaded));
        assert_eq!(plan.decide(3), Some(InjectedFault::Internal));
        assert_eq!(plan.decide(4), None);
        assert_eq!(plan.pending(2), ["after 2: 500"]);
        plan.inject("529", 10).unwrap();
        assert_eq!(plan.decide(11), Some(InjectedFault::Overloaded));
    }

    #[test]
    fn every_nth_request_takes_its_faults_in_turn() {
        let plan = FaultPlan::parse("every 3: 529, 500", 0).unwrap();
        let seen: Vec<_> = (1..=9).map(|n| plan.decide(n)).collect();
        let (over, internal) = (
            Some(InjectedFault::Overloaded),
            Some(InjectedFault::Internal),
        );
        assert_eq!(
            seen,
            [None, None, over, None, None, internal, None, None, over]
        );
    }

    #[test]
    fn an_error_adds_nothing() {
        let mut plan = FaultPlan::default();
        assert!(plan.inject("529; nonsense", 0).is_err());
        assert_eq!(plan.decide(1), None);
    }
}
