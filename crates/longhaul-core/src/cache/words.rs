//! The words that describe a change.

use std::fmt;

use super::change::{MessageEdit, PresenceChange, RequestChange, SystemEdit};
use crate::message::BlockKind;
use crate::prompt::Ttl;

impl fmt::Display for RequestChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model { from, to } => write!(f, "model {from} → {to}"),
            Self::Betas { added, removed } => {
                let signed = |sign, names: &[String]| -> Vec<String> {
                    names.iter().map(|name| format!("{sign}{name}")).collect()
                };
                let all = [signed('+', added), signed('−', removed)].concat();
                write!(f, "betas {}", all.join(" "))
            }
            Self::Tools {
                added,
                removed,
                edited,
                moved,
            } => {
                let mut parts = Vec::new();
                for (sign, names) in [('+', added), ('−', removed)] {
                    if !names.is_empty() {
                        parts.push(format!("{sign}{} ({})", names.len(), listed(names)));
                    }
                }
                for (word, names) in [("edited", edited), ("reordered", moved)] {
                    if !names.is_empty() {
                        parts.push(format!("{word} ({})", listed(names)));
                    }
                }
                write!(f, "tools {}", parts.join(", "))
            }
            Self::WebSearch(flip) => write!(f, "web search turned {flip}"),
            Self::Speed { from, to } => write!(f, "speed {from} → {to}"),
            Self::Citations(flip) => write!(f, "citations turned {flip}"),
            Self::Format { .. } => f.write_str("output format changed"),
            Self::System(edits) => system(f, edits),
            Self::ToolChoice { from, to } => write!(f, "tool_choice {from} → {to}"),
            Self::Images(PresenceChange::On) => f.write_str("first image in the conversation"),
            Self::Images(PresenceChange::Off) => {
                f.write_str("last image gone from the conversation")
            }
            Self::Thinking { from, to } => {
                write!(f, "thinking {} → {}", or_none(from), or_none(to))
            }
            Self::Effort { from, to } => write!(f, "effort {from} → {to}"),
            Self::ThinkingDropped { message } => write!(
                f,
                "a new user turn makes this model drop earlier thinking, from message {message} on"
            ),
            Self::Message(edit) => write!(f, "{edit}"),
            Self::OutOfReach { distance } => write!(
                f,
                "the cache breakpoint is {distance} positions after what was written, and the provider looks back 20"
            ),
            Self::Unmarked => f.write_str("no cache breakpoint covers what was cached"),
            Self::Extra { name, from, to } => changed(f, name, from, to),
            Self::Ttl { from, to } => write!(f, "cache lifetime {} → {}", short(*from), short(*to)),
            Self::Scope { from, to } => {
                write!(f, "cache scope {} → {}", or_none(from), or_none(to))
            }
            Self::Flag { name, from, to } => {
                write!(f, "{name} {} → {}", or_none(from), or_none(to))
            }
        }
    }
}

impl fmt::Display for PresenceChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::On => "on",
            Self::Off => "off",
        })
    }
}

impl fmt::Display for MessageEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = format!("message {} ({})", self.message, self.speaker.name());
        let block = match self.block {
            BlockKind::Image => "image",
            BlockKind::Thinking | BlockKind::RedactedThinking => "thinking",
            BlockKind::ToolResult => "tool result",
            BlockKind::ToolUse => "tool call",
            _ => "block",
        };
        match (&self.before, &self.after) {
            (_, None) if self.whole && !self.image_removed => write!(f, "{place} removed"),
            _ if self.image_removed => write!(f, "image removed from {place}"),
            (None, _) if self.whole => write!(f, "{place} inserted"),
            (None, _) => write!(f, "{block} inserted into {place}"),
            (_, None) => write!(f, "{block} removed from {place}"),
            _ => write!(f, "{place} edited"),
        }
    }
}

/// The lifetime in the API's spelling.
fn short(ttl: Ttl) -> &'static str {
    match ttl {
        Ttl::FiveMinutes => "5m",
        Ttl::OneHour => "1h",
    }
}

/// The most names that are shown; a list of hundreds helps nobody.
const SHOWN: usize = 5;

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).map(String::as_str);
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}

fn or_none(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("none")
}

fn changed(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    from: &Option<String>,
    to: &Option<String>,
) -> fmt::Result {
    match (from, to) {
        (None, _) => write!(f, "{name} added"),
        (_, None) => write!(f, "{name} removed"),
        _ => write!(f, "{name} changed"),
    }
}

fn system(f: &mut fmt::Formatter<'_>, edits: &[SystemEdit]) -> fmt::Result {
    let sum = |side: fn(&SystemEdit) -> Option<usize>| -> i64 {
        let sizes = edits.iter().filter_map(side);
        sizes
            .map(|chars| i64::try_from(chars).unwrap_or(i64::MAX))
            .sum()
    };
    let delta = sum(|edit| edit.after) - sum(|edit| edit.before);
    let names: Vec<String> = (edits.iter())
        .map(|edit| match &edit.section {
            Some(section) => section.clone(),
            None => format!("block {}", edit.block),
        })
        .collect();
    let names = listed(&names);
    match delta {
        0 => write!(f, "system edited, same length ({names})"),
        1.. => write!(f, "system +{delta} chars ({names})"),
        _ => write!(f, "system −{} chars ({names})", delta.unsigned_abs()),
    }
}
