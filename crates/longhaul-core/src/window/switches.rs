//! The off switches (H5): which kinds of compaction may run, and which switch said no.
//!
//! Only the user's will is judged here. Whether a compaction may run from where it was asked for is in
//! [`guards`](super::guards).

/// The switches, all as "may run".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// Anything that shortens the conversation, by hand or not.
    pub compaction: bool,
    /// Whatever is not asked for by hand.
    pub automatic: bool,
    /// The user's own setting, `autoCompactEnabled`.
    pub auto_compact_enabled: bool,
    /// Clearing of old tool results.
    pub micro: bool,
    /// Session notes and compaction by them.
    pub notes: bool,
    /// Compaction after the provider found a request too long.
    pub reactive: bool,
    /// Folding of old rounds, span by span.
    pub collapse: bool,
}

impl Default for Switches {
    /// All on but collapse, which would take the window over from proactive compaction.
    fn default() -> Switches {
        Switches {
            compaction: true,
            automatic: true,
            auto_compact_enabled: true,
            micro: true,
            notes: true,
            reactive: true,
            collapse: false,
        }
    }
}

/// What may be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchableAction {
    /// The user asked for it.
    Manual,
    /// A threshold was reached.
    Automatic,
    /// Old tool results are to be cleared.
    Micro,
    /// Notes are to be taken or compacted by. Inside a compaction, that one's own switch counts too.
    Notes,
    /// The provider found a request too long.
    Reactive,
    /// Old rounds are to be folded.
    Collapse,
}

/// A switch, named so that the user can be told which one decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// [`Switches::compaction`]
    AllCompaction,
    /// [`Switches::automatic`]
    Automatic,
    /// [`Switches::auto_compact_enabled`]
    UserSetting,
    /// [`Switches::micro`]
    Micro,
    /// [`Switches::notes`]
    Notes,
    /// [`Switches::reactive`]
    Reactive,
    /// [`Switches::collapse`]
    Collapse,
}

/// Whether an action may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchVerdict {
    /// It may.
    Allowed,
    /// It may not; this switch is the first that is off.
    Off(Switch),
}

impl Switches {
    /// Asks the switches that concern an action, the widest first.
    pub fn decide(&self, action: SwitchableAction) -> SwitchVerdict {
        use Switch::{AllCompaction, Automatic, Collapse, Micro, Notes, Reactive, UserSetting};
        let asked: &[Switch] = match action {
            SwitchableAction::Manual => &[AllCompaction],
            SwitchableAction::Automatic => &[AllCompaction, Automatic, UserSetting],
            SwitchableAction::Micro => &[AllCompaction, Micro],
            SwitchableAction::Notes => &[AllCompaction, Notes],
            SwitchableAction::Reactive => &[AllCompaction, Automatic, UserSetting, Reactive],
            SwitchableAction::Collapse => &[AllCompaction, Automatic, UserSetting, Collapse],
        };
        let off = asked.iter().find(|switch| !self.is_on(**switch));
        off.map_or(SwitchVerdict::Allowed, |switch| SwitchVerdict::Off(*switch))
    }

    fn is_on(&self, switch: Switch) -> bool {
        match switch {
            Switch::AllCompaction => self.compaction,
            Switch::Automatic => self.automatic,
            Switch::UserSetting => self.auto_compact_enabled,
            Switch::Micro => self.micro,
            Switch::Notes => self.notes,
            Switch::Reactive => self.reactive,
            Switch::Collapse => self.collapse,
        }
    }
}
