//! The off switches (H5): which kinds of compaction may run, and which switch forbids one.
//!
//! Only the user's settings are judged here. [`guards`](super::guards) decides whether a compaction may run for a given
//! sender.

/// The switches. Each is true if its action may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// Whether anything may shorten the conversation, by hand or not.
    pub compaction: bool,
    /// Whether anything may run that is not requested by hand.
    pub automatic: bool,
    /// The user's own setting, `autoCompactEnabled`.
    pub auto_compact_enabled: bool,
    /// Whether old tool results may be cleared.
    pub micro: bool,
    /// Whether session notes and compaction by them may run.
    pub notes: bool,
    /// Whether compaction may run after the provider rejects a request as too long.
    pub reactive: bool,
    /// Whether old rounds may be folded, span by span.
    pub collapse: bool,
}

impl Default for Switches {
    /// All switches are on except collapse, which would take over the window from proactive compaction.
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

/// An action that may be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SwitchableAction {
    /// The user asks for a compaction.
    Manual,
    /// A threshold is reached.
    Automatic,
    /// Old tool results are cleared.
    Micro,
    /// Notes are taken or compacted by. Inside a compaction, that compaction's own switch counts too.
    Notes,
    /// The provider rejects a request as too long.
    Reactive,
    /// Old rounds are folded.
    Collapse,
}

/// A switch, named so that the user can be told which one decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Switch {
    /// The switch [`Switches::compaction`].
    AllCompaction,
    /// The switch [`Switches::automatic`].
    Automatic,
    /// The switch [`Switches::auto_compact_enabled`].
    UserSetting,
    /// The switch [`Switches::micro`].
    Micro,
    /// The switch [`Switches::notes`].
    Notes,
    /// The switch [`Switches::reactive`].
    Reactive,
    /// The switch [`Switches::collapse`].
    Collapse,
}

/// Whether an action may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchVerdict {
    /// The action may run.
    Allowed,
    /// The action may not run; this switch is the first that is off.
    Off(Switch),
}

impl Switches {
    /// Checks the switches that concern an action, the widest first.
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
