//! Splits a reply by its tags: the draft is dropped, and the summary is kept. Models forget to close tags, nest them,
//! repeat them or write them in capitals; none of that may let the draft through or lose the summary.

/// The parts of a reply.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SummaryReplyParts {
    /// The text inside the summary's tags, with drafts inside it removed.
    pub(super) body: Option<String>,
    /// Whether the summary's closing tag is there.
    pub(super) closed: bool,
    /// The text outside of both tags, up to the summary.
    pub(super) outside: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagName {
    Draft,
    Summary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagSide {
    Open,
    Close,
}

#[derive(Debug, Clone, Copy)]
struct ReplyTag {
    name: TagName,
    end: TagSide,
    from: usize,
    to: usize,
}

pub(super) fn take_apart(text: &str) -> SummaryReplyParts {
    let tags = tags(text);
    let mut parts = SummaryReplyParts::default();
    let (mut at, mut done) = (0, 0);
    while let Some(tag) = tags.get(at) {
        parts.outside.push_str(&text[done..tag.from]);
        done = tag.to;
        at += 1;
        match (tag.name, tag.end) {
            (TagName::Draft, TagSide::Open) => match draft_end(text, &tags, at) {
                Some(next) => {
                    at = next;
                    // A draft with a closing tag ends after that tag; a draft that was never closed ends before the
                    // summary.
                    done = match tags[next - 1].name {
                        TagName::Draft => tags[next - 1].to,
                        TagName::Summary => {
                            at = next - 1;
                            tags[next - 1].from
                        }
                    };
                }
                None => return parts,
            },
            (TagName::Summary, TagSide::Open) => {
                let last = tags[at..]
                    .iter()
                    .rev()
                    .find(|tag| is(tag, TagName::Summary, TagSide::Close));
                parts.closed = last.is_some();
                let end = last.map_or(text.len(), |tag| tag.from);
                parts.body = Some(body(&text[tag.to..end]));
                return parts;
            }
            (_, TagSide::Close) => {}
        }
    }
    parts.outside.push_str(&text[done..]);
    parts
}

/// Returns the index after the tag that ends a draft which was opened before `at`: its own closing tag or, if it has
/// none, the opening tag of the summary. Returns `None` if nothing ends it.
fn draft_end(text: &str, tags: &[ReplyTag], at: usize) -> Option<usize> {
    let mut depth = 1;
    for (index, tag) in tags.iter().enumerate().skip(at) {
        match (tag.name, tag.end) {
            (TagName::Draft, TagSide::Open) => depth += 1,
            (TagName::Draft, TagSide::Close) => depth -= 1,
            (TagName::Summary, _) => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    let opens = |tag: &ReplyTag| is(tag, TagName::Summary, TagSide::Open);
    let rest = || tags.iter().enumerate().skip(at);
    // A draft may mention the tag within a sentence; a tag on a line of its own is a real one.
    rest()
        .find(|(_, tag)| opens(tag) && begins_line(text, tag.from))
        .or_else(|| rest().find(|(_, tag)| opens(tag)))
        .map(|(index, _)| index + 1)
}

/// Returns the summary itself. Tags that the summary merely mentions, inside a sentence or code, stay.
fn body(text: &str) -> String {
    let tags = tags(text);
    let mut body = String::with_capacity(text.len());
    let (mut at, mut done) = (0, 0);
    while let Some(tag) = tags.get(at) {
        at += 1;
        if tag.from < done || !(begins_line(text, tag.from) || ends_line(text, tag.to)) {
            continue;
        }
        body.push_str(&text[done..tag.from]);
        done = tag.to;
        if is(tag, TagName::Draft, TagSide::Open) {
            let mut closing = tags[at..].iter();
            if let Some(close) = closing.find(|tag| is(tag, TagName::Draft, TagSide::Close)) {
                done = close.to;
            }
        }
    }
    body.push_str(&text[done..]);
    body
}

fn is(tag: &ReplyTag, name: TagName, end: TagSide) -> bool {
    (tag.name, tag.end) == (name, end)
}

fn begins_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n') || before.ends_with('>')
}

fn ends_line(text: &str, at: usize) -> bool {
    let behind = text[at..].trim_start_matches([' ', '\t', '\r']);
    behind.is_empty() || behind.starts_with('\n')
}

/// Returns all tags of the two names, in order, whatever their case.
fn tags(text: &str) -> Vec<ReplyTag> {
    let mut found = Vec::new();
    for from in memchr::memchr_iter(b'<', text.as_bytes()) {
        let inside = text[from + 1..].trim_start();
        let (end, inside) = match inside.strip_prefix('/') {
            Some(inside) => (TagSide::Close, inside.trim_start()),
            None => (TagSide::Open, inside),
        };
        let names = [("analysis", TagName::Draft), ("summary", TagName::Summary)];
        let named = names.iter().find_map(|(word, name)| {
            let head = inside.get(..word.len())?;
            let rest = inside[word.len()..].trim_start();
            let matches = head.eq_ignore_ascii_case(word);
            rest.strip_prefix('>')
                .filter(|_| matches)
                .map(|rest| (*name, rest))
        });
        if let Some((name, rest)) = named {
            found.push(ReplyTag {
                name,
                end,
                from,
                to: text.len() - rest.len(),
            });
        }
    }
    found
}

/// Returns the text with runs of blank lines collapsed to one, and none around it.
pub(crate) fn collapsed(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    let mut blank = false;
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() {
            blank = true;
            continue;
        }
        if !collapsed.is_empty() {
            collapsed.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        collapsed.push_str(line);
    }
    collapsed
}
