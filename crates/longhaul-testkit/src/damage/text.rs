//! Damage to the text: torn, foreign or oversized lines, wrong encodings, wrong line ends.

use super::{DamagedFile, SplitLines};
use crate::json::{ObjectBuilder, quote};
use crate::rng::Rng;
use crate::words::{self, Letters};

/// Cuts the last line in the middle, as a crash during a write does.
#[must_use]
pub fn tear_last_line(bytes: &[u8]) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let count = lines.0.len();
    if let Some(last) = lines.0.last_mut() {
        last.truncate(last.len() / 2);
    }
    lines.named((count > 0).then_some(count).into_iter().collect())
}

/// Removes the last line's end; the line itself stays whole, so no line is reported.
#[must_use]
pub fn no_final_newline(bytes: &[u8]) -> DamagedFile {
    DamagedFile {
        bytes: bytes.strip_suffix(b"\n").unwrap_or(bytes).to_vec(),
        lines: Vec::new(),
    }
}

/// Inserts any line before the one with that number.
#[must_use]
fn insert_line(bytes: &[u8], line: usize, body: &[u8]) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let line = lines.insert(line, body);
    lines.named(vec![line])
}

/// Inserts a line of words that is not JSON.
#[must_use]
pub fn garbage_line(bytes: &[u8], line: usize) -> DamagedFile {
    insert_line(
        bytes,
        line,
        b"{\"type\":\"user\",\"message\": half a thought, then nothing",
    )
}

/// Inserts 600 random bytes without a line feed.
#[must_use]
pub fn binary_line(bytes: &[u8], line: usize, seed: u64) -> DamagedFile {
    let mut rng = Rng::new(seed);
    let noise: Vec<u8> = std::iter::repeat_with(|| rng.below(256) as u8)
        .filter(|byte| *byte != b'\n')
        .take(600)
        .collect();
    insert_line(bytes, line, &noise)
}

/// Puts a byte that is never valid in UTF-8 into the first string value of the line.
#[must_use]
pub fn invalid_utf8(bytes: &[u8], line: usize) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let place = lines
        .index(line)
        .and_then(|at| Some((at, memchr::memmem::find(&lines.0[at], b"\":\"")? + 3)));
    let Some((at, inside)) = place else {
        return lines.named(Vec::new());
    };
    lines.0[at].insert(inside, 0xff);
    lines.named(vec![at + 1])
}

/// Ends every line with CR LF. A reader reports it once, at the first line.
#[must_use]
pub fn crlf(bytes: &[u8]) -> DamagedFile {
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 500);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(body) => {
                out.extend_from_slice(body);
                out.extend_from_slice(b"\r\n");
            }
            None => out.extend_from_slice(line),
        }
    }
    DamagedFile {
        bytes: out,
        lines: vec![1],
    }
}

/// Puts a byte order mark before the first line.
#[must_use]
pub fn bom(bytes: &[u8]) -> DamagedFile {
    DamagedFile {
        bytes: [b"\xef\xbb\xbf", bytes].concat(),
        lines: vec![1],
    }
}

/// Inserts a whole entry of at least `size` bytes: intact, without a uuid (so it is outside the chain), and full of
/// escapes. A reader may or may not report it; the line is returned so that a test can look.
#[must_use]
pub fn huge_line(bytes: &[u8], line: usize, size: usize) -> DamagedFile {
    let piece = quote(&words::code(&mut Rng::new(77), 200, Letters::Any));
    let piece = &piece[1..piece.len() - 1];
    let text = piece.repeat(size / piece.len() + 1);
    let entry = ObjectBuilder::new()
        .text("type", "queue-operation")
        .raw("content", &format!("\"{text}\""))
        .end();
    insert_line(bytes, line, entry.as_bytes())
}

/// Inserts a line of at least `size` bytes that is not JSON.
#[must_use]
pub fn huge_garbage_line(bytes: &[u8], line: usize, size: usize) -> DamagedFile {
    insert_line(bytes, line, &b"lost cargo ".repeat(size / 11 + 1))
}

/// Inserts a line that is JSON but not an object: pass `[1,2,3]`, `42`, `"text"`, `null`.
#[must_use]
pub fn non_object_line(bytes: &[u8], line: usize, json: &str) -> DamagedFile {
    insert_line(bytes, line, json.as_bytes())
}

/// Writes something after the object on the line.
#[must_use]
pub fn trailing_garbage(bytes: &[u8], line: usize) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let Some(at) = lines.index(line) else {
        return lines.named(Vec::new());
    };
    let body = [lines.body(at), b" {\"and\":\"more\"}\n"].concat();
    lines.0[at] = body;
    lines.named(vec![at + 1])
}

/// Inserts an empty line and one of blanks. They do no harm, so no line is reported.
#[must_use]
pub fn blank_lines(bytes: &[u8], line: usize) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    lines.insert(line, b"");
    lines.insert(line, b" \t ");
    lines.named(Vec::new())
}

/// Inserts an intact entry with `levels` nested arrays. It loads; the line is returned for the test's sake.
#[must_use]
pub fn deep_nesting(bytes: &[u8], line: usize, levels: usize) -> DamagedFile {
    let entry = format!(
        "{{\"type\":\"queue-operation\",\"content\":{}{}}}",
        "[".repeat(levels),
        "]".repeat(levels)
    );
    insert_line(bytes, line, entry.as_bytes())
}

/// Inserts an intact entry with half a surrogate pair. It loads; the line is returned for the test's sake.
#[must_use]
pub fn lone_surrogate(bytes: &[u8], line: usize) -> DamagedFile {
    insert_line(
        bytes,
        line,
        b"{\"type\":\"queue-operation\",\"content\":\"half a ship: \\ud83d.\"}",
    )
}
