//! The client's cache breakpoints besides its messages: in the system prompt, on tools, and automatic caching.

use std::ops::Range;

use crate::body::BodyOutline;
use crate::breakpoints::ClientBreakpoints;

/// The client's cache breakpoints besides its messages, by the member that has them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MemberBreakpoints {
    system: ClientBreakpoints,
    tools: ClientBreakpoints,
    automatic: ClientBreakpoints,
}

impl MemberBreakpoints {
    /// Counts the breakpoints of a body that was read. `earlier` are those of the request whose beginning it shares:
    /// members that come before the messages are not read again.
    pub(super) fn of(body: &[u8], outline: &BodyOutline, earlier: Option<Self>) -> Self {
        let (members, before) = (&outline.members, &outline.before);
        let count = |member: &Option<Range<usize>>,
                     before: &Option<Range<usize>>,
                     earlier: Option<ClientBreakpoints>,
                     read: fn(&[u8]) -> ClientBreakpoints| {
            let known = earlier.filter(|_| member.is_some() && member == before);
            known.unwrap_or_else(|| {
                let value = member.clone().and_then(|place| body.get(place));
                value.map_or_else(ClientBreakpoints::default, read)
            })
        };
        Self {
            system: count(
                &members.system,
                &before.system,
                earlier.map(|earlier| earlier.system),
                ClientBreakpoints::in_content,
            ),
            tools: count(
                &members.tools,
                &before.tools,
                earlier.map(|earlier| earlier.tools),
                ClientBreakpoints::in_tools,
            ),
            automatic: count(
                &members.automatic,
                &before.automatic,
                earlier.map(|earlier| earlier.automatic),
                ClientBreakpoints::automatic,
            ),
        }
    }

    /// All of them.
    pub(super) fn total(self) -> ClientBreakpoints {
        self.system.and(self.tools).and(self.automatic)
    }
}
