//! Divides the length of a summary: first among the user's messages, then among the other sections by weight.

use super::sections::{items, quoted};
use crate::model::conversation::clip;
use crate::model::digest::{ConversationDigest, SectionTopic};

/// The minimum number of bytes for which a message is worth quoting.
const LEAST_A_MESSAGE: usize = 100;

/// The text of a section without content.
pub(super) const NOTHING: &str = "- None found in the conversation.";

/// The bodies of these sections, together at most about `room` bytes long.
pub(super) fn share(
    digest: &ConversationDigest<'_>,
    headings: &[(SectionTopic, String)],
    instructions: Option<&str>,
    room: usize,
) -> Vec<String> {
    let asked = headings
        .iter()
        .any(|(topic, _)| *topic == SectionTopic::Messages);
    let messages = if asked {
        quotes(&digest.messages, room * 2 / 3)
    } else {
        Vec::new()
    };
    let used: usize = messages.iter().map(|message| message.len() + 1).sum();
    let mut left = room.saturating_sub(used);
    let mut weights: usize = headings.iter().map(|(topic, _)| weight(*topic)).sum();
    let mut bodies = Vec::with_capacity(headings.len());
    for (topic, _) in headings {
        if *topic == SectionTopic::Messages {
            bodies.push(if messages.is_empty() {
                NOTHING.to_owned()
            } else {
                messages.join("\n")
            });
            continue;
        }
        // The bytes that a short section does not need go to the sections after it.
        let share = left * weight(*topic) / weights.max(1);
        let body = fill(&items(digest, *topic, instructions), share);
        left = left.saturating_sub(body.len());
        weights -= weight(*topic);
        bodies.push(body);
    }
    bodies
}

fn weight(topic: SectionTopic) -> usize {
    match topic {
        SectionTopic::Messages => 0,
        SectionTopic::Files => 5,
        SectionTopic::Intent
        | SectionTopic::Errors
        | SectionTopic::Solving
        | SectionTopic::Current => 2,
        SectionTopic::Completed | SectionTopic::Continuing => 2,
        SectionTopic::Concepts
        | SectionTopic::Pending
        | SectionTopic::Next
        | SectionTopic::Other => 1,
    }
}

fn fill(items: &[String], room: usize) -> String {
    if items.is_empty() {
        return NOTHING.to_owned();
    }
    let mut body = String::new();
    for (index, item) in items.iter().enumerate() {
        if body.len() + item.len() + 24 > room {
            let more = items.len() - index;
            if body.is_empty() {
                return clip(item, room.max(40)).to_owned();
            }
            body.push_str(&format!("\n- ({more} more left out)"));
            return body;
        }
        if !body.is_empty() {
            body.push('\n');
        }
        body.push_str(item);
    }
    body
}

/// The messages in their tags. If there is not even room for a line of each, the first and the newest are kept and the
/// gap is mentioned.
fn quotes(messages: &[String], room: usize) -> Vec<String> {
    let most = (room / LEAST_A_MESSAGE).max(2);
    let quote = |messages: &[String]| -> Vec<String> {
        messages.iter().map(|message| quoted(message)).collect()
    };
    if messages.len() <= most {
        return quote(&shortened(messages, room));
    }
    let newest = &messages[messages.len() - (most - 1)..];
    let kept: Vec<String> = messages.iter().take(1).chain(newest).cloned().collect();
    let mut items = quote(&shortened(&kept, room.saturating_sub(40)));
    items.insert(
        1,
        format!("- ({} messages left out)", messages.len() - most),
    );
    items
}

/// The messages unchanged if they fit; otherwise the longest are cut in the middle, the first and the newest only as a
/// last resort.
fn shortened(messages: &[String], room: usize) -> Vec<String> {
    let extra = quoted("").len() + 1;
    let whole: usize = messages.iter().map(|message| message.len() + extra).sum();
    if whole <= room {
        return messages.to_vec();
    }
    let dear = |index: usize| {
        (index == 0 || index + 1 == messages.len()) && messages[index].len() <= room / 4
    };
    let fixed: usize = (0..messages.len())
        .filter(|index| dear(*index))
        .map(|index| messages[index].len())
        .sum();
    let open = room.saturating_sub(fixed + messages.len() * extra);
    let mut lengths: Vec<usize> = (0..messages.len())
        .filter(|index| !dear(*index))
        .map(|index| messages[index].len())
        .collect();
    lengths.sort_unstable();
    // The largest length to which all longer messages can be cut so that everything fits.
    let (mut cap, mut spent) = (0, 0);
    for (index, length) in lengths.iter().enumerate() {
        let rest = lengths.len() - index;
        cap = open.saturating_sub(spent) / rest;
        if *length > cap {
            break;
        }
        spent += length;
    }
    let cut = |index: usize| {
        if dear(index) || messages[index].len() <= cap {
            messages[index].clone()
        } else {
            middle_out(&messages[index], cap)
        }
    };
    (0..messages.len()).map(cut).collect()
}

/// The beginning and the end of a text with the size of the cut between them.
fn middle_out(text: &str, room: usize) -> String {
    let keep = room.saturating_sub(40);
    let head = clip(text, keep * 2 / 3);
    let mut at = text.len() - (keep / 3).min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    let at = at.max(head.len());
    format!(
        "{head} […{} bytes left out…] {}",
        at - head.len(),
        &text[at..]
    )
}
