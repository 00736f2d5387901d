//! From a request to positions, and from one request of a conversation to the next.
//!
//! A layout is extended rather than made anew: of the messages that are byte for byte those of the earlier request
//! nothing is hashed or counted again. The hash of a position chains its own identity to the prefix before it.

use longhaul_core::models::{ModelSpec, PriorThinking};
use serde_json::Value;
use std::collections::BTreeSet;
use xxhash_rust::xxh3::xxh3_128;

use super::automatic;
use super::key::{self, Features, Keys};
use super::{Level, Position, Prompt};
use crate::call::ApiError;
use crate::request::{Block, Request, Role, Tool, identity};
use crate::tokens::{Counter, FIRST_MESSAGE, Family, NEXT_MESSAGE, OPENING};

/// Share of the tool overhead that stands behind the tool definitions: a quarter, as recorded requests show.
const OVERHEAD_BEHIND: u64 = 4;

/// For whom a request is laid out.
#[derive(Debug, Clone, Copy)]
pub struct Scheme<'a> {
    /// The model.
    pub spec: &'a ModelSpec,
    /// `anthropic-beta`.
    pub betas: &'a BTreeSet<String>,
}

impl Scheme<'_> {
    fn family(&self) -> Family {
        Family::from(self.spec.tokenizer)
    }
}

/// A request laid out, with what is needed to extend it.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// The positions.
    pub prompt: Prompt,
    /// Positions of tools and system.
    head: usize,
    /// For each message the index of its first position.
    starts: Vec<usize>,
    /// Of each position, whether it can carry a marker.
    able: Vec<bool>,
    keys: Keys,
    /// The first position with an image, and the first that asks for citations.
    images: Option<usize>,
    citations: Option<usize>,
    /// The first message with thinking in it.
    thinking: Option<usize>,
    /// Where the conversation begins: behind what a compaction block stands for.
    begins: Begin,
    automatic: Option<usize>,
}

/// The message and block with which the conversation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Begin {
    /// Index of the message.
    pub message: usize,
    /// Index of its block.
    pub block: usize,
}

/// Where a conversation begins: at its last compaction block that holds a summary, else at its start.
pub fn begin(request: &Request) -> Begin {
    let blocks = request.messages.iter().enumerate().rev();
    let found = blocks
        .filter(|(_, message)| message.role == Role::Assistant)
        .find_map(|(index, message)| {
            let block = message.content.iter().rposition(is_summary)?;
            Some(Begin {
                message: index,
                block,
            })
        });
    found.unwrap_or_default()
}

fn is_summary(block: &Block) -> bool {
    block.kind == "compaction" && block.text("content").is_some()
}

impl Layout {
    /// Lays a request out.
    pub fn of(
        request: &Request,
        scheme: Scheme<'_>,
        counter: &mut Counter,
    ) -> Result<Self, ApiError> {
        Self::default().extended(request, 0, scheme, counter)
    }

    /// Lays out a request whose first `kept` messages are those of the request this layout is of.
    pub fn extended(
        mut self,
        request: &Request,
        kept: usize,
        scheme: Scheme<'_>,
        counter: &mut Counter,
    ) -> Result<Self, ApiError> {
        self.take_back_automatic();
        let kept = self.keepable(request, kept, scheme.spec);
        let head = head(request, scheme, counter);
        let moved = self.put_head(head);
        let from = self.truncate(kept);
        self.push_messages(request, kept, scheme, counter);
        let features = Features {
            images: self.images.is_some(),
            citations: self.citations.is_some(),
        };
        let keys = key::keys(request, &scheme.spec.id, scheme.betas, features);
        let first = match () {
            () if moved || keys.tools != self.keys.tools || keys.system != self.keys.system => 0,
            () if keys.messages != self.keys.messages => self.head,
            () => from,
        };
        self.keys = keys;
        self.chain(first, overhead(request, scheme.spec));
        self.note_markers(if moved { 0 } else { from });
        if let Some(ttl) = request.automatic_cache {
            let able = &self.able;
            let eligible = |index: usize| able.get(index).copied().unwrap_or_default();
            self.automatic = automatic::place(&mut self.prompt, ttl, eligible)?;
        }
        Ok(self)
    }

    fn take_back_automatic(&mut self) {
        let Some(index) = self.automatic.take() else {
            return;
        };
        if let Some(position) = self.prompt.positions.get_mut(index) {
            position.marker = None;
        }
        self.prompt.markers.retain(|&marker| marker != index);
    }

    /// How many messages can be left as they are: none where a new one changes what is shown of the old.
    fn keepable(&mut self, request: &Request, kept: usize, spec: &ModelSpec) -> usize {
        let mut kept = kept.min(self.starts.len());
        let begins = match self.begins == Begin::default() && !summarised(request, kept) {
            true => Begin::default(),
            false => begin(request),
        };
        if begins != self.begins {
            self.begins = begins;
            kept = 0;
        }
        match (spec.thinking.prior, self.thinking) {
            (PriorThinking::Strip, Some(first)) => kept.min(first),
            _ => kept,
        }
    }

    /// Puts tools and system in front. Says whether anything but markers changed.
    fn put_head(&mut self, head: Vec<Position>) -> bool {
        let old = self.prompt.positions.get(..self.head).unwrap_or_default();
        let same = old.len() == head.len()
            && old.iter().zip(&head).all(|(old, new)| {
                old.identity == new.identity && old.tokens == new.tokens && old.level == new.level
            });
        if same {
            for (old, new) in self.prompt.positions.iter_mut().zip(head) {
                old.marker = new.marker;
            }
            return false;
        }
        let (was, is) = (self.head, head.len());
        let shift = |index: &mut usize| *index = *index - was + is;
        self.able.splice(..was, std::iter::repeat_n(true, is));
        self.prompt.positions.splice(..was, head);
        self.starts.iter_mut().for_each(shift);
        self.images.iter_mut().for_each(shift);
        self.citations.iter_mut().for_each(shift);
        self.prompt.markers.clear();
        self.head = is;
        true
    }

    /// Drops the positions of all messages but the first `kept`. Says where the new ones begin.
    fn truncate(&mut self, kept: usize) -> usize {
        let from = self
            .starts
            .get(kept)
            .copied()
            .unwrap_or(self.prompt.positions.len());
        self.starts.truncate(kept);
        self.able.truncate(from);
        self.prompt.positions.truncate(from);
        self.images = self.images.filter(|&first| first < from);
        self.citations = self.citations.filter(|&first| first < from);
        self.thinking = self.thinking.filter(|&first| first < kept);
        from
    }

    fn push_messages(
        &mut self,
        request: &Request,
        kept: usize,
        scheme: Scheme<'_>,
        counter: &mut Counter,
    ) {
        let family = scheme.family();
        let turn = match scheme.spec.thinking.prior {
            PriorThinking::Strip => newest_turn(request),
            PriorThinking::Keep => 0,
        };
        for (index, message) in request.messages.iter().enumerate().skip(kept) {
            self.starts.push(self.prompt.positions.len());
            let mut frame = match self.prompt.positions.len() > self.head {
                true => NEXT_MESSAGE,
                false => FIRST_MESSAGE,
            };
            for (at, block) in message.content.iter().enumerate() {
                let thinks = matches!(block.kind.as_str(), "thinking" | "redacted_thinking");
                if thinks {
                    self.thinking = self.thinking.or(Some(index));
                }
                let behind = (index, at) < (self.begins.message, self.begins.block);
                let failed = block.kind == "compaction" && !is_summary(block);
                if behind || failed || (thinks && index < turn) {
                    continue;
                }
                let identity = identity::of_block(block);
                let own = counter.block(block, identity, family);
                let found = discovered(block, request, family, counter);
                let here = self.prompt.positions.len();
                if has_image(block) {
                    self.images = self.images.or(Some(here));
                }
                if asks_for_citations(block) {
                    self.citations = self.citations.or(Some(here));
                }
                let empty = block.kind == "text" && block.text("text").is_none_or(str::is_empty);
                self.able.push(!thinks && !empty);
                self.prompt.positions.push(Position {
                    level: Level::Messages,
                    place: format!("messages.{index}.content.{at}"),
                    prefix: 0,
                    tokens: std::mem::take(&mut frame) + own + found,
                    marker: block.marker,
                    identity: identity ^ role_mask(message.role),
                    end: 0,
                });
            }
        }
    }

    /// Chains hashes and sums tokens from a position on.
    fn chain(&mut self, from: usize, overhead: u64) {
        let behind = overhead / OVERHEAD_BEHIND;
        let before = from
            .checked_sub(1)
            .and_then(|i| self.prompt.positions.get(i));
        let (mut prefix, mut end, mut level) = match before {
            Some(position) => (position.prefix, position.end, Some(position.level)),
            None => (self.keys.tools, 0, None),
        };
        for position in self.prompt.positions.iter_mut().skip(from) {
            if level != Some(position.level) {
                let was = level.replace(position.level);
                if position.level == Level::Tools {
                    end += overhead - behind;
                }
                if was.is_none_or(|was| was < Level::System) && position.level >= Level::System {
                    prefix = mixed(prefix, self.keys.system);
                    end += if was == Some(Level::Tools) { behind } else { 0 };
                }
                if position.level == Level::Messages {
                    prefix = mixed(prefix, self.keys.messages);
                }
            }
            prefix = mixed(prefix, position.identity);
            end += position.tokens;
            position.prefix = prefix;
            position.end = end;
        }
        self.prompt.tokens = end + OPENING;
    }

    /// Lists the markers: those of the head, those known before `from`, those behind it.
    fn note_markers(&mut self, from: usize) {
        let marked = |range: std::ops::Range<usize>| {
            let here = self.prompt.positions.get(range.clone()).unwrap_or_default();
            let found = range
                .zip(here)
                .filter(|(_, position)| position.marker.is_some());
            found.map(|(index, _)| index)
        };
        let head = self.head;
        let known = self.prompt.markers.iter().copied();
        let known = known.filter(|index| (head..from).contains(index));
        let new = marked(from.max(head)..self.prompt.positions.len());
        self.prompt.markers = marked(0..head).chain(known).chain(new).collect();
    }
}

/// Whether a compaction block with a summary is among the messages from `kept` on.
fn summarised(request: &Request, kept: usize) -> bool {
    let new = request.messages.iter().skip(kept);
    new.flat_map(|message| &message.content).any(is_summary)
}

fn head(request: &Request, scheme: Scheme<'_>, counter: &mut Counter) -> Vec<Position> {
    let family = scheme.family();
    let mut positions = Vec::new();
    let mut searches = Vec::new();
    for (index, tool) in request
        .tools
        .iter()
        .enumerate()
        .filter(|(_, t)| !t.deferred)
    {
        let identity = identity::of_tool(tool);
        // Web search is no tool definition in the prompt but a part of the system prompt.
        let (level, list) = match is_web_search(tool) {
            true => (Level::System, &mut searches),
            false => (Level::Tools, &mut positions),
        };
        list.push(Position {
            level,
            place: format!("tools.{index}"),
            prefix: 0,
            tokens: counter.tool(tool, identity, family),
            marker: tool.marker,
            identity,
            end: 0,
        });
    }
    positions.append(&mut searches);
    for (index, block) in request.system.iter().enumerate() {
        let identity = identity::of_block(block);
        positions.push(Position {
            level: Level::System,
            place: format!("system.{index}"),
            prefix: 0,
            tokens: counter.block(block, identity, family),
            marker: block.marker,
            identity,
            end: 0,
        });
    }
    positions
}

fn is_web_search(tool: &Tool) -> bool {
    let kind = tool.kind.as_deref();
    kind.is_some_and(|kind| kind.starts_with("web_search_"))
}

/// Tokens the provider adds when tools are given.
fn overhead(request: &Request, spec: &ModelSpec) -> u64 {
    let given = request.tools.iter().any(|tool| !tool.deferred);
    let known = spec.tool_overhead.filter(|_| given);
    known.map_or(0, |overhead| match key::forces_a_tool(request) {
        true => overhead.forced,
        false => overhead.auto,
    })
}

/// Tokens of deferred tools that a block brings in by reference: their definitions are appended where they are found.
fn discovered(block: &Block, request: &Request, family: Family, counter: &mut Counter) -> u64 {
    if !block.raw.contains("tool_reference") {
        return 0;
    }
    let mut names = Vec::new();
    if let Some(content) = block.fields.get("content") {
        referenced(content, &mut names);
    }
    let tools = names.iter().filter_map(|name| {
        let mut deferred = request.tools.iter().filter(|tool| tool.deferred);
        deferred.find(|tool| tool.name == *name)
    });
    tools
        .map(|tool| counter.tool(tool, identity::of_tool(tool), family))
        .sum()
}

fn referenced<'a>(value: &'a Value, names: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| referenced(item, names)),
        Value::Object(fields) => {
            names.extend(fields.get("tool_name").and_then(Value::as_str));
            fields.values().for_each(|value| referenced(value, names));
        }
        _ => {}
    }
}

/// The last message in which the user says something that is no tool result.
fn newest_turn(request: &Request) -> usize {
    let says = |block: &Block| block.kind != "tool_result";
    request
        .messages
        .iter()
        .rposition(|message| message.role == Role::User && message.content.iter().any(says))
        .unwrap_or_default()
}

fn has_image(block: &Block) -> bool {
    let parts = || block.fields.get("content").and_then(Value::as_array);
    let image = |part: &Value| part.get("type").and_then(Value::as_str) == Some("image");
    match block.kind.as_str() {
        "image" => true,
        "tool_result" => parts().is_some_and(|parts| parts.iter().any(image)),
        _ => false,
    }
}

fn asks_for_citations(block: &Block) -> bool {
    let enabled = |citations: &Value| citations.get("enabled").and_then(Value::as_bool);
    matches!(block.kind.as_str(), "document" | "search_result")
        && block.fields.get("citations").and_then(enabled) == Some(true)
}

fn role_mask(role: Role) -> u128 {
    match role {
        Role::User => 0,
        Role::Assistant => xxh3_128(b"assistant"),
        Role::System => xxh3_128(b"system"),
    }
}

fn mixed(prefix: u128, next: u128) -> u128 {
    let mut both = [0; 32];
    let (first, second) = both.split_at_mut(16);
    first.copy_from_slice(&prefix.to_le_bytes());
    second.copy_from_slice(&next.to_le_bytes());
    xxh3_128(&both)
}
