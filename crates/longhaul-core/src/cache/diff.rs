//! Shows changes for people to read (D3): a unified diff of the system prompt and of tools by field, an excerpt of
//! messages. Its size is bounded.

use std::fmt::Write;

use similar::TextDiff;

use super::canonical::end_of_string;
use super::change::RequestChange;
use super::compare::ComparedRequest;
use super::fingerprint::{PrefixFingerprint, ToolPlacement};

/// The most bytes of a diff.
pub(super) const LONGEST: usize = 64 * 1_024;
/// The most bytes of one part of a diff.
const LONGEST_PART: usize = 16 * 1_024;
/// Texts longer than this, or with lines longer than the next limit, are shown only as an excerpt.
const LONGEST_TEXT: usize = 256 * 1_024;
const LONGEST_LINE: usize = 1_000;
/// The number of characters that are shown of a difference, and around it.
const EXCERPT: usize = 400;
const AROUND: usize = 80;

/// The diff between two requests, with a description on top.
pub(super) fn render(
    top: &str,
    changes: &[RequestChange],
    before: ComparedRequest<'_>,
    after: ComparedRequest<'_>,
) -> String {
    let mut text = format!("{top}\n");
    for change in changes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "* {change}");
    }
    for change in changes {
        let mut part = String::new();
        match change {
            RequestChange::System(_) => system(&mut part, before.prefix, after.prefix),
            RequestChange::Tools { .. } | RequestChange::WebSearch(_) => {
                tools(&mut part, before.prefix, after.prefix);
            }
            RequestChange::Message(edit) => {
                let json = |bytes: &Option<bytes::Bytes>| match bytes {
                    Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    None => String::new(),
                };
                let name = format!("message {} ({})", edit.message, edit.speaker.name());
                excerpt(&mut part, &name, &json(&edit.before), &json(&edit.after));
            }
            RequestChange::Format { from, to } => field(&mut part, "output format", from, to),
            RequestChange::Extra { name, from, to } => field(&mut part, name, from, to),
            _ => {}
        }
        cut(&mut part, LONGEST_PART);
        text += &part;
    }
    cut(&mut text, LONGEST);
    text
}

fn system(out: &mut String, before: &PrefixFingerprint, after: &PrefixFingerprint) {
    for block in 0..before.system.len().max(after.system.len()) {
        let (was, is) = (before.system.get(block), after.system.get(block));
        if was.map(|part| part.hash) != is.map(|part| part.hash) {
            let text = |part: Option<&super::fingerprint::SystemPart>| {
                part.map(super::fingerprint::SystemPart::text)
                    .unwrap_or_default()
            };
            unified(out, &format!("system block {block}"), &text(was), &text(is));
        }
    }
}

fn tools(out: &mut String, before: &PrefixFingerprint, after: &PrefixFingerprint) {
    let names = |head: &PrefixFingerprint| -> String {
        let tools = head.tools.iter();
        let sent = tools.filter(|tool| tool.place != ToolPlacement::Deferred);
        sent.map(|tool| format!("{}\n", tool.name)).collect()
    };
    let (was, is) = (names(before), names(after));
    if was != is {
        unified(out, "tools in order", &was, &is);
    }
    let find = |head: &PrefixFingerprint, name: &str| {
        let tool = head.tools.iter().find(|tool| tool.name == name);
        tool.map(|tool| (tool.hash, pretty(&tool.bytes)))
    };
    let gone = (before.tools.iter()).filter(|tool| find(after, &tool.name).is_none());
    for tool in after.tools.iter().chain(gone) {
        let (was, is) = (find(before, &tool.name), find(after, &tool.name));
        if was.as_ref().map(|(hash, _)| hash) != is.as_ref().map(|(hash, _)| hash) {
            let text = |side: Option<(u128, String)>| side.map(|(_, text)| text);
            let (was, is) = (text(was).unwrap_or_default(), text(is).unwrap_or_default());
            unified(out, &format!("tool {}", tool.name), &was, &is);
        }
    }
}

fn field(out: &mut String, name: &str, before: &Option<String>, after: &Option<String>) {
    let text = |side: &Option<String>| {
        side.as_ref()
            .map(|json| pretty(json.as_bytes()))
            .unwrap_or_default()
    };
    unified(out, name, &text(before), &text(after));
}

/// A unified diff, or an excerpt where lines are too long for one.
fn unified(out: &mut String, name: &str, before: &str, after: &str) {
    let unwieldy = |text: &str| {
        text.len() > LONGEST_TEXT || text.lines().any(|line| line.len() > LONGEST_LINE)
    };
    if unwieldy(before) || unwieldy(after) {
        return excerpt(out, name, before, after);
    }
    let ended = |text: &str| {
        if text.is_empty() || text.ends_with('\n') {
            text.to_owned()
        } else {
            format!("{text}\n")
        }
    };
    let (before, after) = (ended(before), ended(after));
    let diff = TextDiff::from_lines(&before, &after);
    let mut unified = diff.unified_diff();
    unified.header(&format!("{name}, before"), &format!("{name}, now"));
    let _ = write!(out, "\n{unified}");
}

/// Shows where two texts begin to differ, with a little of the text around it.
fn excerpt(out: &mut String, name: &str, before: &str, after: &str) {
    let same = (before.chars().zip(after.chars()))
        .take_while(|(was, is)| was == is)
        .count();
    let at = same.saturating_sub(AROUND);
    let show = |text: &str| -> String {
        let shown = text.chars().skip(at).take(AROUND + EXCERPT);
        let shown: String = shown.collect();
        let more = text.chars().count() > at + AROUND + EXCERPT;
        format!(
            "{}{}{}",
            if at > 0 { "…" } else { "" },
            shown.replace('\n', "\\n"),
            if more { "…" } else { "" }
        )
    };
    let _ = writeln!(
        out,
        "\n--- {name}, before\n+++ {name}, now\n@@ character {same} @@"
    );
    for (sign, text) in [('-', before), ('+', after)] {
        if !text.is_empty() {
            let _ = writeln!(out, "{sign}{}", show(text));
        }
    }
}

/// JSON with one field per line, in the order in which it was sent: the order is part of the key.
fn pretty(raw: &[u8]) -> String {
    let mut out = Vec::with_capacity(raw.len() * 2);
    let mut depth = 0_usize;
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', 2 * depth.min(32)));
    };
    let mut at = 0;
    while let Some(byte) = raw.get(at) {
        let end = if *byte == b'"' {
            end_of_string(raw, at)
        } else {
            at + 1
        };
        let piece = raw.get(at..end).unwrap_or_default();
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'{' | b'[' => {
                out.extend_from_slice(piece);
                let rest = raw.get(end..).unwrap_or_default().trim_ascii_start();
                if let Some(close @ (b'}' | b']')) = rest.first() {
                    out.push(*close);
                    at = raw.len() - rest.len() + 1;
                    continue;
                }
                depth += 1;
                line(&mut out, depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.extend_from_slice(piece);
            }
            b',' => {
                out.extend_from_slice(piece);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.extend_from_slice(piece),
        }
        at = end;
        if out.len() > LONGEST_TEXT {
            break;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Cuts a text that is too long, and notes that it was cut.
fn cut(text: &mut String, longest: usize) {
    const MORE: &str = "\n[the rest is left out]\n";
    if text.len() > longest {
        let mut end = longest - MORE.len();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        *text += MORE;
    }
}
