//! From sections to the `system` of a request, as the JSON that is sent (A3, B2).
//!
//! Which bytes they are is decided here once; the head entry keeps them (M7). Markers on messages are not set here.

use serde_json::value::RawValue;

use super::{SectionRegistry, SectionZone, Ttl};
use crate::tokens::{Estimate, RoughEstimator};

/// How a system prompt is sent.
#[derive(Debug, Clone, Copy)]
pub struct SystemPromptOptions<'a> {
    /// Who sends, for the provider: the first block. It bears no marker, and still is part of every prefix behind it:
    /// on a provider that does not set it aside, each change of it breaks the whole cache.
    pub attribution: Option<&'a str>,
    /// What the agent is, in a sentence: the block before the static one.
    pub prefix: Option<&'a str>,
    /// How long the cache keeps what is marked; none: no block bears a marker.
    pub ttl: Option<Ttl>,
    /// Whether the provider knows scopes.
    pub scopes: CacheScopeSupport,
    /// Whose the request's tools are.
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

/// Whether a provider can share what it caches beyond an organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheScopeSupport {
    /// No: markers have no scope. So it is on the public API.
    #[default]
    Unsupported,
    /// Yes.
    Supported,
}

/// Whether all users of the build send the same tools. They stand before the system prompt, so nothing behind tools of
/// one user can be shared with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolSharing {
    /// Some are this user's: those of tool servers, for example.
    #[default]
    PerUser,
    /// All are the build's.
    Shared,
}

/// Who may read what a marked block writes to the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheScope {
    /// All users of the provider.
    Global,
    /// The organisation.
    Organisation,
}

/// What a block of the system prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockRole {
    /// Who sends.
    Attribution,
    /// What the agent is.
    Prefix,
    /// The static sections.
    Static,
    /// The dynamic sections.
    Dynamic,
    /// A prompt that replaces all of them.
    Custom,
}

/// A block of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemBlock {
    /// What it is.
    pub role: BlockRole,
    /// Its text.
    pub text: String,
    /// The scope of its marker; none if it bears no marker.
    pub scope: Option<CacheScope>,
    /// What it weighs.
    pub weight: Estimate,
}

/// A system prompt, ready to be sent.
#[derive(Debug, Clone)]
pub struct SystemPrompt {
    /// Its blocks. None of them is blank.
    pub blocks: Vec<SystemBlock>,
    /// The request's `system`: an array, markers included, without line breaks.
    pub json: Box<RawValue>,
}

impl SystemPrompt {
    /// The prompt that a registry's sections make, as of its last refresh.
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
            _ => CacheScope::Organisation,
        };
        let own = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let blocks = [
            (BlockRole::Attribution, own(sending.attribution), None),
            (BlockRole::Prefix, own(sending.prefix), None),
            (BlockRole::Static, zone(SectionZone::Static), Some(shared)),
            (
                BlockRole::Dynamic,
                zone(SectionZone::Dynamic),
                Some(CacheScope::Organisation),
            ),
        ];
        Self::render(blocks, sending.ttl)
    }

    /// A prompt of the host's own. It replaces all sections and blocks and is one block itself.
    pub fn custom(text: &str, ttl: Option<Ttl>) -> Result<Self, serde_json::Error> {
        let scope = Some(CacheScope::Organisation);
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

    /// What the whole weighs.
    pub fn weight(&self) -> Estimate {
        self.blocks.iter().map(|block| block.weight).sum()
    }
}

/// The marker of a block. The organisation's scope is the default and not spelled out.
fn marker(ttl: Ttl, scope: CacheScope) -> String {
    let marker = ttl.marker();
    match scope {
        CacheScope::Organisation => marker.to_owned(),
        CacheScope::Global => {
            let open = marker.strip_suffix('}').unwrap_or(marker);
            format!(r#"{open},"scope":"global"}}"#)
        }
    }
}
