//! The markers of system and tools: one behind them, and one where the client divided them.
//!
//! What is to be done depends on their bytes and the lifetime alone, so a line remembers it by their hash.

use longhaul_core::json::Fault;
use longhaul_core::prompt::Ttl;
use longhaul_core::xxh3::Xxh3_128;

use super::asked::Asked;
use super::did::Did;
use super::found::Found;
use super::scan::{self, Bearer, Content};
use super::splice::{Edits, Marked};

/// The head of a request, scanned.
#[derive(Debug, Default)]
pub(super) struct Head {
    hash: u128,
    system: Content,
    tools: Vec<Bearer>,
}

/// What is to be done in a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    hash: u128,
    system: Edits,
    tools: Edits,
    pub(super) did: Did,
}

/// What bears a marker, in the order of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Tool(usize),
    System(usize),
}

fn parts<'a>(asked: &Asked<'a>) -> (&'a [u8], &'a [u8]) {
    let members = &asked.outline.members;
    let part = |span: &Option<std::ops::Range<usize>>| {
        let bytes = span.clone().and_then(|span| asked.body.get(span));
        bytes.unwrap_or_default()
    };
    (part(&members.tools), part(&members.system))
}

/// The hash of a head's bytes.
fn hash(tools: &[u8], system: &[u8]) -> u128 {
    let mut hash = Xxh3_128::new();
    hash.update(&(tools.len() as u64).to_le_bytes());
    hash.update(tools);
    hash.update(system);
    hash.digest()
}

impl Head {
    pub(super) fn read(asked: &Asked<'_>) -> Result<Self, Fault> {
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

    /// The markers in it, in the order of the prompt.
    pub(super) fn found(&self) -> impl Iterator<Item = &Found> {
        let tools = self.tools.iter().flat_map(Bearer::found);
        tools.chain(self.system.found())
    }

    /// All that may be marked in it.
    pub(super) fn bearers(&self) -> impl Iterator<Item = &Bearer> {
        self.tools.iter().chain(self.system.blocks())
    }

    /// What bears the markers: the end of the head, and the last place before it where the client had put one. What it
    /// knows to be the same for many conversations is read by all of them.
    fn places(&self) -> Vec<Place> {
        let of_tools = self.tools.iter().enumerate();
        let of_system = self.system.blocks().iter().enumerate();
        let tools = of_tools.map(|(at, tool)| (Place::Tool(at), tool));
        let system = of_system.map(|(at, block)| (Place::System(at), block));
        let able = |(_, bearer): &(Place, &Bearer)| bearer.can_bear();
        let all: Vec<_> = tools.chain(system).filter(able).collect();
        let last = match self.system.last_able() {
            Some(block) => Some(Place::System(block)),
            None => all.last().map(|(place, _)| *place),
        };
        let marked = |bearer: &Bearer| bearer.own.iter().any(|found| found.ttl.is_some());
        let split = all
            .iter()
            .rev()
            .find(|(place, bearer)| Some(*place) < last && marked(bearer))
            .map(|(place, _)| *place);
        split.into_iter().chain(last).collect()
    }

    /// What is to be done for this lifetime.
    pub(super) fn plan(&self, ttl: Ttl) -> Plan {
        let places = self.places();
        let mut plan = Plan {
            hash: self.hash,
            system: Edits::default(),
            tools: Edits::default(),
            did: Did::default(),
        };
        let theirs = self.found().filter(|found| found.ttl.is_some()).count();
        for (at, tool) in self.tools.iter().enumerate() {
            match places.contains(&Place::Tool(at)) {
                true => plan.did += plan.tools.mark(0, tool, ttl).into(),
                false => plan.tools.unmark(0, tool),
            }
        }
        if let Content::Plain(_) = self.system
            && places.contains(&Place::System(0))
        {
            plan.did += plan.system.mark_block(0, &self.system, 0, ttl).into();
        }
        for (at, block) in self.system.blocks().iter().enumerate() {
            match places.contains(&Place::System(at)) {
                true => plan.did += plan.system.mark(0, block, ttl).into(),
                false => plan.system.unmark(0, block),
            }
        }
        plan.did.taken = theirs - plan.did.stayed;
        plan
    }
}

impl Plan {
    /// Whether it was made for this head.
    pub(super) fn fits(&self, asked: &Asked<'_>) -> bool {
        let (tools, system) = parts(asked);
        self.hash == hash(tools, system)
    }

    /// Does it.
    pub(super) fn apply(&self, asked: &Asked<'_>, edits: &mut Edits) {
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

impl From<Marked> for Did {
    fn from(marked: Marked) -> Self {
        let (set, stayed) = match marked {
            Marked::Stayed => (0, 1),
            Marked::Set => (1, 0),
            Marked::Not => (0, 0),
        };
        Self {
            set,
            stayed,
            ..Self::default()
        }
    }
}
