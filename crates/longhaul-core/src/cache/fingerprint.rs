//! What one request is made of (D1): everything that is part of the cache key, and what may be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use super::fields::JsonFields;
use super::messages::CachePosition;
use super::prefix_replacement::PrefixReplacement;
use crate::json::text;
use crate::normalize::{AppendBuffer, RenderedBlock, RenderedMessage};
use crate::prompt::Ttl;
use crate::xxh3::xxh3_64;

/// Modes of the host that it wants named when they flip: fast, auto, overage, cached-micro, cache strategy, any other.
pub type Flags = BTreeMap<String, String>;

/// One request, as it is about to be sent.
#[derive(Debug, Clone)]
pub struct RequestFingerprint<'a> {
    /// Who asks: each query source is watched by itself.
    pub source: String,
    /// When the request starts: lifetimes in the cache count from here.
    pub started: Timestamp,
    /// What stands before the messages, and the settings.
    pub prefix: Arc<PrefixFingerprint>,
    /// The host's modes.
    pub flags: Arc<Flags>,
    /// The messages.
    pub messages: FingerprintMessages<'a>,
    /// Which positions carry a cache marker, in order.
    pub breakpoints: Marks,
    /// What a host between a client and the provider sends in place of what the client said; none if there is no such host.
    pub prefix_replacement: Option<PrefixReplacement>,
}

/// The messages of a request by position.
#[derive(Debug, Clone)]
pub enum FingerprintMessages<'a> {
    /// All of them, read from a body.
    Read(Vec<CachePosition>),
    /// Those of a rendering. Of one generation only what is new is looked at: what was sent is the same by construction.
    Rendered {
        /// A number that no other rendering of this source has.
        generation: u64,
        /// Its bytes.
        buffer: &'a AppendBuffer,
        /// Its blocks.
        blocks: &'a [RenderedBlock],
        /// Its messages.
        messages: &'a [RenderedMessage],
    },
}

/// A cache marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheBreakpoint {
    /// How long what it writes lives.
    pub ttl: Ttl,
    /// A provider's own restriction of who may read it.
    pub scope: Option<String>,
}

impl CacheBreakpoint {
    /// Reads the value of `cache_control`.
    pub(super) fn read(raw: &[u8]) -> Option<Self> {
        let fields = JsonFields::of(raw).ok()?;
        Some(Self {
            ttl: match fields.string("ttl").as_deref() {
                Some("1h") => Ttl::OneHour,
                _ => Ttl::FiveMinutes,
            },
            scope: fields.string("scope").map(Into::into),
        })
    }
}

/// The markers on the messages: position and marker, in order.
pub type Marks = Vec<(usize, CacheBreakpoint)>;

/// What a request holds beside its messages.
#[derive(Debug, Clone, Default)]
pub struct PrefixFingerprint {
    /// The model asked for.
    pub model: String,
    /// Beta features.
    pub betas: BTreeSet<String>,
    /// The system prompt, block by block.
    pub system: Vec<SystemPart>,
    /// The tools.
    pub tools: Vec<ToolPart>,
    /// `speed`; none: left out.
    pub speed: Option<String>,
    /// `output_config.effort`; none: left out.
    pub effort: Option<String>,
    /// `thinking`: its type and budget, as JSON; none: left out.
    pub thinking: Option<String>,
    /// `tool_choice` in one form: `auto` is what a request without one has.
    pub tool_choice: String,
    /// The output format asked for, as JSON.
    pub format: Option<String>,
    /// The marker that the provider is to place by itself.
    pub automatic: Option<CacheBreakpoint>,
    /// Other fields of the body that may matter, as JSON.
    pub extra: BTreeMap<String, String>,
}

/// One block of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPart {
    /// Its canonical hash.
    pub hash: u128,
    /// Its length in characters.
    pub chars: usize,
    /// Its marker.
    pub mark: Option<CacheBreakpoint>,
    /// Its JSON, shared with the request.
    pub bytes: Bytes,
    /// What it consists of, where the host says so.
    pub sections: Vec<SystemSection>,
}

/// A part of a system block that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemSection {
    /// Its name.
    pub name: String,
    /// Hash of its text.
    pub hash: u64,
    /// Its length in characters.
    pub chars: usize,
}

/// One tool definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPart {
    /// Its name.
    pub name: String,
    /// Its canonical hash.
    pub hash: u128,
    /// Where it stands in the prompt.
    pub place: ToolPlacement,
    /// Its marker.
    pub mark: Option<CacheBreakpoint>,
    /// Its JSON, shared with the request.
    pub bytes: Bytes,
}

/// Where a tool stands in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPlacement {
    /// With the definitions, at the very start.
    Definitions,
    /// In the system prompt: the provider's web search.
    System,
    /// Nowhere: it is loaded when it is found.
    Deferred,
}

impl SystemPart {
    /// The text of the block.
    pub(super) fn text(&self) -> String {
        let whole = || text(&self.bytes).map(Into::into);
        let fields = JsonFields::of(&self.bytes).ok();
        let inner = fields.and_then(|fields| fields.string("text").map(String::from));
        inner.or_else(whole).unwrap_or_default()
    }
}

impl PrefixFingerprint {
    /// Names the sections that a system block consists of, so that a change can be told by name.
    pub fn name_sections<'s>(
        &mut self,
        block: usize,
        sections: impl IntoIterator<Item = (&'s str, &'s str)>,
    ) {
        let named = sections.into_iter().map(|(name, text)| SystemSection {
            name: name.to_owned(),
            hash: xxh3_64(text.as_bytes()),
            chars: text.chars().count(),
        });
        if let Some(part) = self.system.get_mut(block) {
            part.sections = named.collect();
        }
    }

    /// Tools at a place, in order.
    pub(super) fn tools_at(&self, place: ToolPlacement) -> impl Iterator<Item = &ToolPart> {
        self.tools.iter().filter(move |tool| tool.place == place)
    }
}
