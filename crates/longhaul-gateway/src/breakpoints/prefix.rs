//! The breakpoints of system and tools: one after them, and one where the client divided them.
//!
//! The edits depend only on their bytes and the lifetime, so a branch remembers the edits by their hash.

use longhaul_core::json::JsonFault;
use longhaul_core::prompt::Ttl;
use longhaul_core::xxh3::Xxh3_128;

use super::cache_control::CacheControlMember;
use super::changes::BreakpointChanges;
use super::request::BreakpointRequest;
use super::scan::{self, CacheableBlock, ScannedContent};
use super::splice::{BreakpointPlacement, TextEdits};

/// The request prefix, scanned.
#[derive(Debug, Default)]
pub(super) struct ScannedPrefix {
    hash: u128,
    system: ScannedContent,
    tools: Vec<CacheableBlock>,
}

/// The edits to make in a request prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PrefixEdits {
    hash: u128,
    system: TextEdits,
    tools: TextEdits,
    pub(super) did: BreakpointChanges,
}

/// What has a breakpoint, in the order of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PrefixPosition {
    Tool(usize),
    System(usize),
}

fn parts<'a>(asked: &BreakpointRequest<'a>) -> (&'a [u8], &'a [u8]) {
    let members = &asked.outline.members;
    let part = |span: &Option<std::ops::Range<usize>>| {
        let bytes = span.clone().and_then(|span| asked.body.get(span));
        bytes.unwrap_or_default()
    };
    (part(&members.tools), part(&members.system))
}

/// The hash of the request prefix's bytes.
fn hash(tools: &[u8], system: &[u8]) -> u128 {
    let mut hash = Xxh3_128::new();
    hash.update(&(tools.len() as u64).to_le_bytes());
    hash.update(tools);
    hash.update(system);
    hash.digest()
}

impl ScannedPrefix {
    pub(super) fn read(asked: &BreakpointRequest<'_>) -> Result<Self, JsonFault> {
        let (tools, system) = parts(asked);
        let mut head = Self {
            hash: hash(tools, system),
            ..Self::default()
        };
        if !tools.is_empty() {
            head.tools = scan::tools(tools)?;
        }
        if !system.is_empty() {
            head.system = scan::system(system)?;
        }
        Ok(head)
    }

    /// The breakpoints in it, in the order of the prompt.
    pub(super) fn found(&self) -> impl Iterator<Item = &CacheControlMember> {
        let tools = self.tools.iter().flat_map(CacheableBlock::found);
        tools.chain(self.system.found())
    }

    /// All blocks in it that may have a breakpoint.
    pub(super) fn bearers(&self) -> impl Iterator<Item = &CacheableBlock> {
        self.tools.iter().chain(self.system.blocks())
    }

    /// The positions of the breakpoints: the end of the request prefix, and the last position before it where the
    /// client had set one. All conversations of a client read the part that it knows to be common to them.
    fn places(&self) -> Vec<PrefixPosition> {
        let of_tools = self.tools.iter().enumerate();
        let of_system = self.system.blocks().iter().enumerate();
        let tools = of_tools.map(|(at, tool)| (PrefixPosition::Tool(at), tool));
        let system = of_system.map(|(at, block)| (PrefixPosition::System(at), block));
        let able = |(_, bearer): &(PrefixPosition, &CacheableBlock)| bearer.can_bear();
        let all: Vec<_> = tools.chain(system).filter(able).collect();
        let last = match self.system.last_able() {
            Some(block) => Some(PrefixPosition::System(block)),
            None => all.last().map(|(place, _)| *place),
        };
        let marked = |bearer: &CacheableBlock| bearer.own.iter().any(|found| found.ttl.is_some());
        let split = all
            .iter()
            .rev()
            .find(|(place, bearer)| Some(*place) < last && marked(bearer))
            .map(|(place, _)| *place);
        split.into_iter().chain(last).collect()
    }

    /// The edits to make for this lifetime.
    pub(super) fn plan(&self, ttl: Ttl) -> PrefixEdits {
        let places = self.places();
        let mut plan = PrefixEdits {
            hash: self.hash,
            system: TextEdits::default(),
            tools: TextEdits::default(),
            did: BreakpointChanges::default(),
        };
        let theirs = self.found().filter(|found| found.ttl.is_some()).count();
        for (at, tool) in self.tools.iter().enumerate() {
            if places.contains(&PrefixPosition::Tool(at)) {
                plan.did += plan.tools.mark(0, tool, ttl).into()
            } else {
                plan.tools.unmark(0, tool)
            }
        }
        if let ScannedContent::Plain(_) = self.system
            && places.contains(&PrefixPosition::System(0))
        {
            plan.did += plan.system.mark_block(0, &self.system, 0, ttl).into();
        }
        for (at, block) in self.system.blocks().iter().enumerate() {
            if places.contains(&PrefixPosition::System(at)) {
                plan.did += plan.system.mark(0, block, ttl).into()
            } else {
                plan.system.unmark(0, block)
            }
        }
        plan.did.taken = theirs - plan.did.stayed;
        plan
    }
}

impl PrefixEdits {
    /// Whether the edits were made for this request prefix.
    pub(super) fn fits(&self, asked: &BreakpointRequest<'_>) -> bool {
        let (tools, system) = parts(asked);
        self.hash == hash(tools, system)
    }

    /// Adds the edits to those of the body.
    pub(super) fn apply(&self, asked: &BreakpointRequest<'_>, edits: &mut TextEdits) {
        let members = &asked.outline.members;
        for (span, mine) in [
            (&members.tools, &self.tools),
            (&members.system, &self.system),
        ] {
            if let Some(span) = span {
                edits.extend(span.start, mine);
            }
        }
    }
}

impl From<BreakpointPlacement> for BreakpointChanges {
    fn from(marked: BreakpointPlacement) -> Self {
        let (set, stayed) = match marked {
            BreakpointPlacement::Stayed => (0, 1),
            BreakpointPlacement::Set => (1, 0),
            BreakpointPlacement::Not => (0, 0),
        };
        Self {
            set,
            stayed,
            ..Self::default()
        }
    }
}
