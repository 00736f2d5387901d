//! Turns sections into the `system` of a request, as the JSON that is sent (A3, B2).
//!
//! The bytes are decided here once, and the prefix entry keeps them (M7). Breakpoints on messages are not set here.

use serde_json::value::RawValue;

use super::{SectionRegistry, SectionZone, Ttl};
use crate::tokens::{Estimate, RoughEstimator};

/// How a system prompt is sent.
#[derive(Debug, Clone, Copy)]
pub struct SystemPromptOptions<'a> {
    /// The sender, for the provider, as the first block. It has no cache breakpoint, but it is part of every cached
    /// prefix: unless the provider ignores it for caching, each change of it breaks the whole cache.
    pub attribution: Option<&'a str>,
    /// A sentence that says what the agent is, as the block before the static one.
    pub prefix: Option<&'a str>,
    /// How long the provider keeps the cached part; if `None`, no block has a cache breakpoint.
    pub ttl: Option<Ttl>,
    /// Whether the provider supports cache scopes.
    pub scopes: CacheScopeSupport,
    /// Whether all users have the same tools.
    pub tools: ToolSharing,
}

impl Default for SystemPromptOptions<'_> {
    fn default() -> Self {
        Self {
            attribution: None,
            prefix: None,
            ttl: Some(Ttl::default()),
            scopes: CacheScopeSupport::default(),
            tools: ToolSharing::default(),
        }
    }
}

/// Whether a provider can share its cache beyond an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheScopeSupport {
    /// Sharing is not supported, as on the public API: cache breakpoints have no scope.
    #[default]
    Unsupported,
    /// Sharing is supported.
    Supported,
}

/// Whether all users of the build send the same tools. Tools come before the system prompt, so nothing after one user's
/// own tools can be shared with another user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolSharing {
    /// Some tools are this user's own, for example those of tool servers.
    #[default]
    PerUser,
    /// All tools belong to the build.
    Shared,
}

/// Who may read the cached part that ends with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheScope {
    /// All users of the provider may read it.
    Global,
    /// The organization may read it.
    Organization,
}

/// The role of a block in the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockRole {
    /// The block names the sender.
    Attribution,
    /// The block says what the agent is.
    Prefix,
    /// The block holds the static sections.
    Static,
    /// The block holds the dynamic sections.
    Dynamic,
    /// The block is a prompt that replaces all sections.
    Custom,
}

/// A block of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemBlock {
    /// The block's role.
    pub role: BlockRole,
    /// The block's text.
    pub text: String,
    /// The scope of the block's cache breakpoint; `None` if it has no breakpoint.
    pub scope: Option<CacheScope>,
    /// The block's weight.
    pub weight: Estimate,
}

/// A system prompt, ready to be sent.
#[derive(Debug, Clone)]
pub struct SystemPrompt {
    /// The blocks. None of them is blank.
    pub blocks: Vec<SystemBlock>,
    /// The request's `system`: an array, cache breakpoints included, without line breaks.
    pub json: Box<RawValue>,
}

impl SystemPrompt {
    /// Creates the prompt from a registry's sections, as of its last refresh.
    ///
    /// # Errors
    /// Fails if a section cannot be written as JSON.
    pub fn from_sections(
        registry: &SectionRegistry,
        sending: &SystemPromptOptions<'_>,
    ) -> Result<Self, serde_json::Error> {
        let zone = |zone| {
            let texts = registry.texts();
            let texts = texts.filter(|(section, _)| section.zone() == zone);
            texts
                .map(|(_, text)| text.trim())
                .collect::<Vec<_>>()
                .join("\n\n")
        };
        let shared = match (sending.scopes, sending.tools) {
            (CacheScopeSupport::Supported, ToolSharing::Shared) => CacheScope::Global,
            _ => CacheScope::Organization,
        };
        let own = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let blocks = [
            (BlockRole::Attribution, own(sending.attribution), None),
            (BlockRole::Prefix, own(sending.prefix), None),
            (BlockRole::Static, zone(SectionZone::Static), Some(shared)),
            (
                BlockRole::Dynamic,
                zone(SectionZone::Dynamic),
                Some(CacheScope::Organization),
            ),
        ];
        Self::render(blocks, sending.ttl)
    }

    /// Creates the host's own prompt, which replaces all sections and is a single block.
    ///
    /// # Errors
    /// Fails if the text cannot be written as JSON.
    pub fn custom(text: &str, ttl: Option<Ttl>) -> Result<Self, serde_json::Error> {
        let scope = Some(CacheScope::Organization);
        Self::render([(BlockRole::Custom, text.to_owned(), scope)], ttl)
    }

    fn render(
        blocks: impl IntoIterator<Item = (BlockRole, String, Option<CacheScope>)>,
        ttl: Option<Ttl>,
    ) -> Result<Self, serde_json::Error> {
        let blocks: Vec<_> = blocks
            .into_iter()
            .map(|(role, text, scope)| (role, text.trim().to_owned(), scope))
            .filter(|(_, text, _)| !text.is_empty())
            .map(|(role, text, scope)| SystemBlock {
                role,
                weight: RoughEstimator::text(&text),
                text,
                scope,
            })
            .collect();
        let mut json = String::from("[");
        for block in &blocks {
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(r#"{"type":"text","text":"#);
            json.push_str(&serde_json::to_string(&block.text)?);
            if let (Some(scope), Some(ttl)) = (block.scope, ttl) {
                json.push_str(r#","cache_control":"#);
                json.push_str(&marker(ttl, scope));
            }
            json.push('}');
        }
        json.push(']');
        Ok(Self {
            blocks,
            json: RawValue::from_string(json)?,
        })
    }

    /// The weight of the whole prompt.
    pub fn weight(&self) -> Estimate {
        self.blocks.iter().map(|block| block.weight).sum()
    }
}

/// Returns the `cache_control` of a block. The organization's scope is the default and is not written.
fn marker(ttl: Ttl, scope: CacheScope) -> String {
    let marker = ttl.marker();
    match scope {
        CacheScope::Organization => marker.to_owned(),
        CacheScope::Global => {
            let open = marker.strip_suffix('}').unwrap_or(marker);
            format!(r#"{open},"scope":"global"}}"#)
        }
    }
}
