//! The kinds of change that may break the cache, each with the words that name it.

use std::fmt;

use bytes::Bytes;

use super::messages::Speaker;
use crate::message::BlockKind;
use crate::prompt::Ttl;

/// Something that two requests differ in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Another model.
    Model {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Other beta features.
    Betas {
        /// New ones.
        added: Vec<String>,
        /// Those that are gone.
        removed: Vec<String>,
    },
    /// Other tool definitions, by name.
    Tools {
        /// New ones.
        added: Vec<String>,
        /// Those that are gone.
        removed: Vec<String>,
        /// Those with another definition.
        edited: Vec<String>,
        /// Those that stand elsewhere, if nothing else is different.
        moved: Vec<String>,
    },
    /// The provider's web search, which changes the system prompt.
    WebSearch(Flip),
    /// `speed`.
    Speed {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Citations, which change the system prompt.
    Citations(Flip),
    /// The output format.
    Format {
        /// Before, as JSON.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
    /// Other text in the system prompt.
    System(Vec<SystemEdit>),
    /// `tool_choice`.
    ToolChoice {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Whether there is any picture in the messages.
    Images(Flip),
    /// The thinking settings.
    Thinking {
        /// Before.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
    /// The effort.
    Effort {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// A new turn of the user makes the model drop earlier thinking from the prompt.
    ThinkingDropped {
        /// The first message that lost some.
        message: u32,
    },
    /// Something that was sent is different now.
    Message(MessageEdit),
    /// The last marker stands too far behind what was written for the provider to look back to it.
    OutOfReach {
        /// Positions from what was written to the next marker.
        distance: usize,
    },
    /// What was cached is no longer covered by a marker.
    Unmarked,
    /// A field of the body whose effect is not known.
    Extra {
        /// Its name.
        name: String,
        /// Before, as JSON.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
    /// The lifetime asked for.
    Ttl {
        /// Before.
        from: Ttl,
        /// Now.
        to: Ttl,
    },
    /// The scope asked for.
    Scope {
        /// Before.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
    /// One of the host's modes.
    Flag {
        /// Its name.
        name: String,
        /// Before.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
}

/// Something that is either there or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flip {
    /// It was not there before.
    On,
    /// It is no longer there.
    Off,
}

/// One part of the system prompt that is different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemEdit {
    /// The block, counted from 0.
    pub block: usize,
    /// The section, where the host names them.
    pub section: Option<String>,
    /// Characters before; none: it was not there.
    pub before: Option<usize>,
    /// Characters now; none: it is gone.
    pub after: Option<usize>,
}

/// One position of the messages that is different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageEdit {
    /// The message, counted from 0, as it was counted before.
    pub message: u32,
    /// Who speaks.
    pub speaker: Speaker,
    /// What the block was, or is if it is new.
    pub block: BlockKind,
    /// Whether a picture is gone.
    pub image_removed: bool,
    /// Whether it is all of the message.
    pub whole: bool,
    /// The block as it was; none: it is new.
    pub before: Option<Bytes>,
    /// The block as it is; none: it is gone.
    pub after: Option<Bytes>,
}

/// How sure it is that a change breaks the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// It is part of the key.
    Key,
    /// It is not known to be, yet it is all that differs.
    Suspect,
}

impl Change {
    /// How sure it is that this breaks the cache.
    pub fn weight(&self) -> Weight {
        match self {
            Self::Extra { .. } | Self::Ttl { .. } | Self::Scope { .. } | Self::Flag { .. } => {
                Weight::Suspect
            }
            _ => Weight::Key,
        }
    }

    /// A short name for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Model { .. } => "model",
            Self::Betas { .. } => "betas",
            Self::Tools { .. } => "tools",
            Self::WebSearch(_) => "web_search",
            Self::Speed { .. } => "speed",
            Self::Citations(_) => "citations",
            Self::Format { .. } => "output_format",
            Self::System(_) => "system",
            Self::ToolChoice { .. } => "tool_choice",
            Self::Images(_) => "images",
            Self::Thinking { .. } => "thinking",
            Self::Effort { .. } => "effort",
            Self::ThinkingDropped { .. } => "thinking_dropped",
            Self::Message(_) => "messages",
            Self::OutOfReach { .. } => "out_of_reach",
            Self::Unmarked => "unmarked",
            Self::Extra { .. } => "extra_body",
            Self::Ttl { .. } => "ttl",
            Self::Scope { .. } => "scope",
            Self::Flag { .. } => "flag",
        }
    }
}

impl fmt::Display for Change {
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
            Self::Images(Flip::On) => f.write_str("first image in the conversation"),
            Self::Images(Flip::Off) => f.write_str("last image gone from the conversation"),
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
                "the cache marker stands {distance} positions behind what was written, and the provider looks back 20"
            ),
            Self::Unmarked => f.write_str("no cache marker covers what was cached"),
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

impl fmt::Display for Flip {
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
pub(super) fn short(ttl: Ttl) -> &'static str {
    match ttl {
        Ttl::FiveMinutes => "5m",
        Ttl::OneHour => "1h",
    }
}

/// Names shown; a list of hundreds helps nobody.
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
