//! Damage to the links between lines: uuids, parents, calls and results, kept segments.
//!
//! Edits are made in the text, where the real files have these members too (`parentUuid` first), so that the rest of
//! the line keeps its bytes.

use serde_json::Value;

use super::{DamagedFile, SplitLines};

/// A uuid that no generated file contains.
const NOWHERE: &str = "00000000-dead-4bad-8bad-000000000000";

/// Writes the line a second time, right after itself. The first one wins, and the second is reported.
#[must_use]
pub fn duplicate_uuid(bytes: &[u8], line: usize) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let Some(at) = lines
        .index(line)
        .filter(|at| lines.member(*at, "uuid").is_some())
    else {
        return lines.named(Vec::new());
    };
    let copy = lines.body(at).to_vec();
    let line = lines.insert(at + 2, &copy);
    lines.named(vec![line])
}

/// Gives the line a parent that does not exist.
#[must_use]
pub fn dangling_parent(bytes: &[u8], line: usize) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let named = match lines.index(line) {
        Some(at) if lines.set_parent(at, NOWHERE) => vec![at + 1],
        _ => Vec::new(),
    };
    lines.named(named)
}

/// Makes line `last`, which comes later, the parent of line `first`: a cycle if `last` descends from `first`, and
/// always if they are the same. Both are reported; a reader may report any entry of the cycle.
#[must_use]
pub fn cycle(bytes: &[u8], first: usize, last: usize) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let places = lines.index(first).zip(lines.index(last));
    let uuid = places.and_then(|(_, last)| lines.member(last, "uuid"));
    let mut named = Vec::new();
    if let (Some((first, last)), Some(uuid)) = (places, uuid)
        && lines.set_parent(first, &uuid)
    {
        named = vec![first + 1, last + 1];
        named.dedup();
    }
    lines.named(named)
}

/// Inserts a result after the line that answers a call nobody made. Children of the line become children of the result,
/// so that it is on the chain.
#[must_use]
pub fn orphan_result(bytes: &[u8], line: usize) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let found = lines
        .index(line)
        .and_then(|at| Some((at, lines.member(at, "uuid")?)));
    let Some((at, parent)) = found else {
        return lines.named(Vec::new());
    };
    let uuid = "0badcafe-0000-4000-8000-000000000001";
    let entry = format!(
        "{{\"parentUuid\":\"{parent}\",\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\
         \"tool_use_id\":\"toolu_01NobodyAskedForThisAtAll\",\"type\":\"tool_result\",\"content\":\"no call\"}}]}},\
         \"uuid\":\"{uuid}\",\"timestamp\":\"2026-03-02T09:00:00.000Z\"}}"
    );
    for later in at + 1..lines.0.len() {
        if lines
            .member(later, "parentUuid")
            .is_some_and(|id| id == parent)
        {
            lines.set_parent(later, uuid);
        }
    }
    let line = lines.insert(at + 2, entry.as_bytes());
    lines.named(vec![line])
}

/// Removes the result that answers the call on the line. Children of the result become children of the call. The call
/// is reported; a call of the last round would not be a problem, since its result may be on its way.
#[must_use]
pub fn orphan_call(bytes: &[u8], line: usize) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let found = lines.index(line).and_then(|at| {
        let call = lines.parsed(at)?;
        let id = call.pointer("/message/content/0/id")?.as_str()?.to_owned();
        let answers = |at: &usize| {
            lines
                .member_at(*at, "/message/content/0/tool_use_id")
                .is_some_and(|of| of == id)
        };
        Some((at, (0..lines.0.len()).find(answers)?))
    });
    let Some((call, result)) = found else {
        return lines.named(Vec::new());
    };
    let (old, new) = (lines.member(result, "uuid"), lines.member(call, "uuid"));
    lines.0.remove(result);
    if let (Some(old), Some(new)) = (old, new) {
        for later in 0..lines.0.len() {
            if lines
                .member(later, "parentUuid")
                .is_some_and(|id| id == old)
            {
                lines.set_parent(later, &new);
            }
        }
    }
    let line = call + 1 - usize::from(result < call);
    lines.named(vec![line])
}

/// Makes the kept segment of the boundary on the line begin at an entry that does not exist.
#[must_use]
pub fn broken_segment(bytes: &[u8], line: usize) -> DamagedFile {
    let mut lines = SplitLines::of(bytes);
    let key: &[u8] = b"\"headUuid\":\"";
    let place = lines
        .index(line)
        .and_then(|at| Some((at, memchr::memmem::find(&lines.0[at], key)? + key.len())));
    let Some((at, from)) = place else {
        return lines.named(Vec::new());
    };
    let to = (from + NOWHERE.len()).min(lines.0[at].len());
    lines.0[at].splice(from..to, NOWHERE.bytes());
    lines.named(vec![at + 1])
}

impl SplitLines {
    fn parsed(&self, at: usize) -> Option<Value> {
        serde_json::from_slice(self.body(at)).ok()
    }

    /// The value of a top-level string member.
    fn member(&self, at: usize, key: &str) -> Option<String> {
        self.parsed(at)?.get(key)?.as_str().map(str::to_owned)
    }

    fn member_at(&self, at: usize, pointer: &str) -> Option<String> {
        self.parsed(at)?
            .pointer(pointer)?
            .as_str()
            .map(str::to_owned)
    }

    /// Replaces a parent, also if it is `null`; returns false if the line has no such member.
    fn set_parent(&mut self, at: usize, uuid: &str) -> bool {
        let key: &[u8] = b"\"parentUuid\":";
        let Some(value) = memchr::memmem::find(&self.0[at], key).map(|found| found + key.len())
        else {
            return false;
        };
        let Some(len) = self.0[at][value..]
            .iter()
            .position(|byte| matches!(byte, b',' | b'}'))
        else {
            return false;
        };
        self.0[at].splice(value..value + len, format!("\"{uuid}\"").bytes());
        true
    }
}
