//! The fingerprint of one request (D1): everything that is, or may be, part of the cache key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use super::breakpoint::{BreakpointPositions, CacheBreakpoint};
use super::fields::JsonFields;
use super::messages::CachePosition;
use super::prefix_replacement::PrefixReplacement;
use crate::json::text;
use crate::normalize::{AppendBuffer, RenderedBlock, RenderedMessage};
use crate::xxh3::xxh3_64;

/// The host's modes that are reported by name when they change: fast, auto, overage, cached-micro, cache strategy, any
/// other.
pub type HostModes = BTreeMap<String, String>;

/// One request, as it is about to be sent.
#[derive(Debug, Clone)]
pub struct RequestFingerprint<'a> {
    /// The query source. Each source is watched separately.
    pub source: String,
    /// When the request starts: cache lifetimes count from here.
    pub started: Timestamp,
    /// The request prefix and the settings.
    pub prefix: Arc<PrefixFingerprint>,
    /// The host's modes.
    pub flags: Arc<HostModes>,
    /// The messages.
    pub messages: FingerprintMessages<'a>,
    /// The positions that carry a cache breakpoint, in order.
    pub breakpoints: BreakpointPositions,
    /// How a host between a client and the provider replaces part of the client's conversation. `None` if there is no
    /// such host.
    pub prefix_replacement: Option<PrefixReplacement>,
}

/// The messages of a request by position.
#[derive(Debug, Clone)]
pub enum FingerprintMessages<'a> {
    /// All messages, read from a body.
    Read(Vec<CachePosition>),
    /// The messages of a rendering. Within one generation only new ones are read: those already sent are the same by
    /// construction.
    Rendered {
        /// A number that identifies this rendering within its source.
        generation: u64,
        /// The rendering's bytes.
        buffer: &'a AppendBuffer,
        /// The rendering's blocks.
        blocks: &'a [RenderedBlock],
        /// The rendering's messages.
        messages: &'a [RenderedMessage],
    },
}

/// The parts of a request besides its messages.
#[derive(Debug, Clone, Default)]
pub struct PrefixFingerprint {
    /// The requested model.
    pub model: String,
    /// Beta features.
    pub betas: BTreeSet<String>,
    /// The system prompt, block by block.
    pub system: Vec<SystemPart>,
    /// The tools.
    pub tools: Vec<ToolPart>,
    /// `speed`. `None` if it is left out.
    pub speed: Option<String>,
    /// `output_config.effort`. `None` if it is left out.
    pub effort: Option<String>,
    /// The type and budget of `thinking`, as JSON. `None` if it is left out.
    pub thinking: Option<String>,
    /// `tool_choice` in one form: a request without one has `auto`.
    pub tool_choice: String,
    /// The requested output format, as JSON.
    pub format: Option<String>,
    /// The breakpoint that the provider places by itself.
    pub automatic: Option<CacheBreakpoint>,
    /// Other fields of the body that may matter, as JSON.
    pub extra: BTreeMap<String, String>,
}

/// One block of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPart {
    /// The block's canonical hash.
    pub hash: u128,
    /// The block's length in characters.
    pub chars: usize,
    /// The block's breakpoint.
    pub mark: Option<CacheBreakpoint>,
    /// The block's JSON, shared with the request.
    pub bytes: Bytes,
    /// The block's sections, where the host names them.
    pub sections: Vec<SystemSection>,
}

/// A named part of a system block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemSection {
    /// The section's name.
    pub name: String,
    /// The hash of the section's text.
    pub hash: u64,
    /// The section's length in characters.
    pub chars: usize,
}

/// One tool definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPart {
    /// The tool's name.
    pub name: String,
    /// The definition's canonical hash.
    pub hash: u128,
    /// Where the definition is in the prompt.
    pub place: ToolPlacement,
    /// The definition's breakpoint.
    pub mark: Option<CacheBreakpoint>,
    /// The definition's JSON, shared with the request.
    pub bytes: Bytes,
}

/// Where a tool is in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPlacement {
    /// The tool is among the definitions, at the very start.
    Definitions,
    /// The tool is in the system prompt: the provider's web search.
    System,
    /// The tool is not in the prompt: it is loaded when it is found.
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
    /// Names the sections that a system block consists of, so that a change can be reported by name.
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

    /// The tools at a place, in order.
    pub(super) fn tools_at(&self, place: ToolPlacement) -> impl Iterator<Item = &ToolPart> {
        self.tools.iter().filter(move |tool| tool.place == place)
    }
}
