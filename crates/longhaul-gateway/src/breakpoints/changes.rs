//! The changes to the breakpoints of a request, in a form for people.

use std::fmt;
use std::ops::AddAssign;

/// The changes to the breakpoints of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BreakpointChanges {
    /// How many of the client's breakpoints were removed.
    pub taken: usize,
    /// How many breakpoints were added.
    pub set: usize,
    /// How many of the client's breakpoints are where the gateway would set one.
    pub stayed: usize,
    /// How many of `set` and `stayed` lead back to what the previous request wrote to the cache.
    pub bridges: usize,
}

impl AddAssign for BreakpointChanges {
    fn add_assign(&mut self, more: Self) {
        self.taken += more.taken;
        self.set += more.set;
        self.stayed += more.stayed;
        self.bridges += more.bridges;
    }
}

impl fmt::Display for BreakpointChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.taken, self.set) {
            (0, 0) => f.write_str("cache breakpoints unchanged"),
            (taken, set) => write!(f, "cache breakpoints: {taken} taken out, {set} set"),
        }?;
        match self.bridges {
            0 => Ok(()),
            _ => f.write_str(", one as a bridge"),
        }
    }
}
