//! What was done with the markers of a request, for people.

use std::fmt;
use std::ops::AddAssign;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BreakpointChanges {
    /// Markers of the client that were taken out.
    pub taken: usize,
    /// Markers that were put in.
    pub set: usize,
    /// Markers of the client that are where ours would be.
    pub stayed: usize,
    /// Those among `set` and `stayed` that lead back to what the request before had written.
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
            (0, 0) => f.write_str("cache markers as they came"),
            (taken, set) => write!(f, "cache markers: {taken} taken out, {set} set"),
        }?;
        match self.bridges {
            0 => Ok(()),
            _ => f.write_str(", one as a bridge"),
        }
    }
}
