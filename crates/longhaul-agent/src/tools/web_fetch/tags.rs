//! Finds the tags of a page without parsing it as HTML: enough to determine its depth, and to remove them.

use memchr::memchr;
use memchr::memmem::find;

/// A tag, with everything after it that no reader sees.
pub(super) struct HtmlTag {
    pub(super) name: String,
    pub(super) is_end: bool,
    pub(super) closes_itself: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// An iterator over the tags of a page.
pub(super) struct HtmlTags<'a> {
    html: &'a str,
    at: usize,
}

impl<'a> HtmlTags<'a> {
    pub(super) fn of(html: &'a str) -> Self {
        Self { html, at: 0 }
    }
}

impl Iterator for HtmlTags<'_> {
    type Item = HtmlTag;

    fn next(&mut self) -> Option<HtmlTag> {
        let bytes = self.html.as_bytes();
        loop {
            let start = self.at + memchr(b'<', &bytes[self.at..])?;
            let rest = &bytes[start + 1..];
            if rest.starts_with(b"!--") {
                self.at = start
                    + find(&bytes[start..], b"-->").map_or(bytes.len() - start, |end| end + 3);
                continue;
            }
            let is_end = rest.first() == Some(&b'/');
            let name_at = start + 1 + usize::from(is_end);
            let length = bytes[name_at..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric())
                .count();
            if length == 0 {
                self.at = start + 1;
                continue;
            }
            let close = memchr(b'>', &bytes[name_at..]).map_or(bytes.len(), |at| name_at + at);
            let name = self.html[name_at..name_at + length].to_ascii_lowercase();
            let mut end = (close + 1).min(bytes.len());
            if !is_end && (name == "script" || name == "style") {
                end = end_tag(bytes, end, name.as_bytes());
            }
            self.at = end;
            return Some(HtmlTag {
                name,
                is_end,
                closes_itself: close > name_at && bytes.get(close - 1) == Some(&b'/'),
                start,
                end,
            });
        }
    }
}

/// Where the end tag of a script begins. Nothing else ends a script.
fn end_tag(bytes: &[u8], from: usize, name: &[u8]) -> usize {
    let mut at = from;
    while let Some(next) = memchr(b'<', &bytes[at..]) {
        let here = at + next;
        let behind = bytes[here + 1..].strip_prefix(b"/");
        let found = behind.and_then(|behind| behind.get(..name.len()));
        if found.is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return here;
        }
        at = here + 1;
    }
    bytes.len()
}
