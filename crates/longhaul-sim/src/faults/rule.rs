//! One rule of a plan: its faults, and which requests meet them.

use std::fmt;

use super::InjectedFault;

/// When a rule applies. Requests are numbered from 1; only model calls count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultTrigger {
    /// The rule applies to the requests after this one, one fault each until its faults are used up.
    After(u64),
    /// The rule applies to every request whose number is a multiple of this, with its faults in turn.
    Every(u64),
    /// The rule applies by chance, in millionths; chance also selects the fault.
    Chance(u32),
}

/// Faults and the trigger for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FaultRule {
    pub(super) when: FaultTrigger,
    /// The faults, at least one, each with the number of times it is repeated, at least once.
    pub(super) faults: Vec<(InjectedFault, u32)>,
}

impl FaultRule {
    /// The fault for the request of this number; `chance` is a random number for that request.
    pub(super) fn decide(&self, request: u64, chance: u64) -> Option<InjectedFault> {
        match self.when {
            FaultTrigger::After(start) => self.nth(request.checked_sub(start)?.checked_sub(1)?),
            FaultTrigger::Every(step) if step > 0 && request.is_multiple_of(step) => {
                self.nth((request / step - 1) % self.total())
            }
            FaultTrigger::Every(_) => None,
            FaultTrigger::Chance(millionths) => {
                let struck = chance % 1_000_000 < u64::from(millionths);
                // Other bits of the same number select the fault.
                struck.then(|| self.nth((chance >> 32) % self.total()))?
            }
        }
    }

    /// The nth fault, counting repetitions.
    fn nth(&self, mut n: u64) -> Option<InjectedFault> {
        for (fault, times) in &self.faults {
            match n.checked_sub(u64::from(*times)) {
                None => return Some(*fault),
                Some(rest) => n = rest,
            }
        }
        None
    }

    fn total(&self) -> u64 {
        let times = self.faults.iter().map(|(_, times)| u64::from(*times));
        times.sum::<u64>().max(1)
    }

    /// The last request that the rule affects; 0 if it is not a rule by number.
    pub(super) fn end(&self) -> u64 {
        match self.when {
            FaultTrigger::After(start) => start.saturating_add(self.total()),
            FaultTrigger::Every(_) | FaultTrigger::Chance(_) => 0,
        }
    }
}

impl fmt::Display for FaultRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.when {
            FaultTrigger::After(request) => write!(f, "after {request}: ")?,
            FaultTrigger::Every(step) => write!(f, "every {step}: ")?,
            FaultTrigger::Chance(millionths) => {
                write!(f, "{}%: ", f64::from(millionths) / 10_000.0)?
            }
        }
        for (index, (fault, times)) in self.faults.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{fault}")?;
            if *times > 1 {
                write!(f, "*{times}")?;
            }
        }
        Ok(())
    }
}
