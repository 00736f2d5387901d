//! Recognizes files that are not an agent's transcript at all, by their outer shape.

use super::{DetectedFormat, FileStart, ForeignFormat, foreign};

/// The share of control characters above which a file is not text.
const BINARY_SHARE: usize = 20;

pub(super) fn recognize(head: &FileStart<'_>) -> Option<DetectedFormat> {
    let bytes = head.bytes;
    if bytes.starts_with(&[0x1F, 0x8B]) || bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
        return Some(DetectedFormat::Foreign(ForeignFormat {
            what: "a compressed file",
            advice: "Decompress it first, or pipe it in: `zcat FILE | longhaul inspect -`.",
        }));
    }
    // With a mark of its byte order, or with a brace of two bytes.
    if [&b"\xFF\xFE"[..], b"\xFE\xFF", b"{\0", b"\0{"]
        .iter()
        .any(|start| bytes.starts_with(start))
    {
        return Some(DetectedFormat::Foreign(ForeignFormat {
            what: "text in UTF-16",
            advice: "Convert it to UTF-8 first, as in `iconv -f UTF-16 -t UTF-8 FILE | longhaul inspect -`.",
        }));
    }
    if bytes.starts_with(b"SQLite format 3\0") {
        return foreign("an SQLite database");
    }
    if is_binary(bytes) {
        return foreign("binary data");
    }
    match bytes.first()? {
        b'[' => foreign("a JSON array, not lines of entries"),
        b'{' => json_object(head),
        // A line that is longer than the first bytes may be garbage, with a transcript after it.
        _ if head.is_cut && memchr::memchr(b'\n', bytes).is_none() => None,
        _ if memchr::memchr(b'{', bytes).is_none() => foreign("plain text"),
        // Text with braces may be a transcript with a damaged beginning.
        _ => None,
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    let odd = bytes
        .iter()
        .filter(|byte| **byte < 0x20 && !b"\n\r\t".contains(byte))
        .count();
    odd * 100 > bytes.len() * BINARY_SHARE
        || memchr::memchr(0, bytes).is_some() && std::str::from_utf8(bytes).is_err()
}

fn json_object(head: &FileStart<'_>) -> Option<DetectedFormat> {
    let mut lines = head
        .bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii);
    let laid_out = lines.next()? == b"{";
    let more = lines.any(|line| !line.is_empty());
    match head.objects().next() {
        // An object that spans several lines is one document, though an inner object may fill a line.
        _ if laid_out => foreign("a single JSON document"),
        Some(_) if more => foreign("JSON lines, but not those of a transcript"),
        Some(_) => foreign("a single JSON document"),
        None => None,
    }
}
