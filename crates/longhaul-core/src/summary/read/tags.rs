//! Takes a reply apart by its tags: the draft is dropped, the summary kept. Models forget to close tags, nest them, repeat
//! them, shout them; none of that may let the draft through or lose the summary.

/// A reply, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// What stands in the summary's tags, drafts inside it removed.
    pub(super) body: Option<String>,
    /// Whether the summary's last tag is there.
    pub(super) closed: bool,
    /// What stands outside both, up to the summary.
    pub(super) outside: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Draft,
    Summary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Close,
}

#[derive(Debug, Clone, Copy)]
struct Tag {
    name: Name,
    end: End,
    from: usize,
    to: usize,
}

pub(super) fn take_apart(text: &str) -> Parts {
    let tags = tags(text);
    let mut parts = Parts::default();
    let (mut at, mut done) = (0, 0);
    while let Some(tag) = tags.get(at) {
        parts.outside.push_str(&text[done..tag.from]);
        done = tag.to;
        at += 1;
        match (tag.name, tag.end) {
            (Name::Draft, End::Open) => match draft_end(text, &tags, at) {
                Some(next) => {
                    at = next;
                    // A draft that ends in its own tag ends behind it; one that was never closed, before the summary.
                    done = match tags[next - 1].name {
                        Name::Draft => tags[next - 1].to,
                        Name::Summary => {
                            at = next - 1;
                            tags[next - 1].from
                        }
                    };
                }
                None => return parts,
            },
            (Name::Summary, End::Open) => {
                let last = tags[at..]
                    .iter()
                    .rev()
                    .find(|tag| is(tag, Name::Summary, End::Close));
                parts.closed = last.is_some();
                let end = last.map_or(text.len(), |tag| tag.from);
                parts.body = Some(body(&text[tag.to..end]));
                return parts;
            }
            (_, End::Close) => {}
        }
    }
    parts.outside.push_str(&text[done..]);
    parts
}

/// The index behind the tag that ends a draft which was opened before `at`: its own closing tag, or, if it has none,
/// the opening tag of the summary. None if nothing ends it.
fn draft_end(text: &str, tags: &[Tag], at: usize) -> Option<usize> {
    let mut depth = 1;
    for (index, tag) in tags.iter().enumerate().skip(at) {
        match (tag.name, tag.end) {
            (Name::Draft, End::Open) => depth += 1,
            (Name::Draft, End::Close) => depth -= 1,
            (Name::Summary, _) => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    let opens = |tag: &Tag| is(tag, Name::Summary, End::Open);
    let rest = || tags.iter().enumerate().skip(at);
    // A draft may mention the tag in a sentence; on a line of its own it is meant.
    rest()
        .find(|(_, tag)| opens(tag) && begins_line(text, tag.from))
        .or_else(|| rest().find(|(_, tag)| opens(tag)))
        .map(|(index, _)| index + 1)
}

/// The summary itself. Tags that the summary merely mentions, inside a sentence or code, stay.
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
        if is(tag, Name::Draft, End::Open) {
            let mut closing = tags[at..].iter();
            if let Some(close) = closing.find(|tag| is(tag, Name::Draft, End::Close)) {
                done = close.to;
            }
        }
    }
    body.push_str(&text[done..]);
    body
}

fn is(tag: &Tag, name: Name, end: End) -> bool {
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

/// All tags of the two names, in order, whatever their case.
fn tags(text: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    for from in memchr::memchr_iter(b'<', text.as_bytes()) {
        let inside = text[from + 1..].trim_start();
        let (end, inside) = match inside.strip_prefix('/') {
            Some(inside) => (End::Close, inside.trim_start()),
            None => (End::Open, inside),
        };
        let names = [("analysis", Name::Draft), ("summary", Name::Summary)];
        let named = names.iter().find_map(|(word, name)| {
            let head = inside.get(..word.len())?;
            let rest = inside[word.len()..].trim_start();
            let matches = head.eq_ignore_ascii_case(word);
            rest.strip_prefix('>')
                .filter(|_| matches)
                .map(|rest| (*name, rest))
        });
        if let Some((name, rest)) = named {
            found.push(Tag {
                name,
                end,
                from,
                to: text.len() - rest.len(),
            });
        }
    }
    found
}

/// The text with runs of blank lines collapsed to one, and none around it.
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
