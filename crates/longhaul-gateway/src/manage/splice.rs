//! Edits of a JSON text that leave every other byte as it is: parts are located, then cut out or replaced.

use std::ops::Range;

use bytes::Bytes;
use longhaul_core::json::JsonCursor;

/// A member of an object.
#[derive(Debug, Clone)]
pub(crate) struct JsonMember {
    /// From the key to the end of the value.
    pub(crate) whole: Range<usize>,
    /// The value alone.
    pub(crate) value: Range<usize>,
}

/// The members of the object at this range with their keys, in order. `None` if there is no object.
pub(crate) fn members(text: &[u8], place: Range<usize>) -> Option<Vec<(Vec<u8>, JsonMember)>> {
    let base = place.start;
    let object = text.get(place)?;
    let mut found = Vec::new();
    let mut behind = 0;
    let walked = JsonCursor::new(object).object(|cursor, key| {
        // Between two members there is nothing but a comma and white space.
        let between = object.get(behind..).unwrap_or_default();
        let quote = between.iter().position(|byte| *byte == b'"').unwrap_or(0);
        let start = cursor.position();
        let end = start + cursor.raw()?.len();
        let member = JsonMember {
            whole: base + behind + quote..base + end,
            value: base + start..base + end,
        };
        found.push((key.to_vec(), member));
        behind = end;
        Ok(())
    });
    walked.ok().map(|()| found)
}

/// The value of the member with this key; the last one if the key is repeated.
pub(crate) fn value(text: &[u8], object: Range<usize>, key: &str) -> Option<Range<usize>> {
    let members = members(text, object)?;
    let mut named = members.into_iter().rev();
    let (_, member) = named.find(|(name, _)| name == key.as_bytes())?;
    Some(member.value)
}

/// The items of the list at this range. `None` if there is no list.
pub(crate) fn items(text: &[u8], place: Range<usize>) -> Option<Vec<Range<usize>>> {
    let base = place.start;
    let mut found = Vec::new();
    let walked = JsonCursor::new(text.get(place)?).array(|cursor| {
        let start = cursor.position();
        let end = start + cursor.raw()?.len();
        found.push(base + start..base + end);
        Ok(())
    });
    walked.ok().map(|()| found)
}

/// The ranges to cut so that only some of these parts of a list or object stay, commas included. Between parts there
/// are only commas and white space.
pub(crate) fn without(parts: &[Range<usize>], goes: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut stayed: Option<usize> = None;
    for (at, part) in parts.iter().enumerate() {
        if !goes(at) {
            stayed = Some(part.end);
            continue;
        }
        cuts.push(match (stayed, parts.get(at + 1)) {
            // Cut it with the comma before it.
            (Some(_), _) => parts.get(at.wrapping_sub(1)).map_or(part.start, |p| p.end)..part.end,
            // Cut it with the comma after it.
            (None, Some(next)) => part.start..next.start,
            (None, None) => part.clone(),
        });
    }
    cuts
}

/// Edits of one text.
#[derive(Debug, Default)]
pub(crate) struct Splices {
    changes: Vec<(Range<usize>, Vec<u8>)>,
}

impl Splices {
    pub(crate) fn cut(&mut self, places: impl IntoIterator<Item = Range<usize>>) {
        let cuts = places.into_iter().map(|place| (place, Vec::new()));
        self.changes.extend(cuts);
    }

    pub(crate) fn replace(&mut self, place: Range<usize>, by: impl Into<Vec<u8>>) {
        self.changes.push((place, by.into()));
    }

    /// The text with the edits; the same bytes if there are none. An edit inside an earlier one is ignored.
    pub(crate) fn apply(mut self, text: &Bytes) -> Bytes {
        if self.changes.is_empty() {
            return text.clone();
        }
        self.changes
            .sort_by_key(|(place, _)| (place.start, std::cmp::Reverse(place.end)));
        let mut changed = Vec::with_capacity(text.len());
        let mut from = 0;
        for (place, by) in &self.changes {
            if place.start < from {
                continue;
            }
            changed.extend_from_slice(text.get(from..place.start).unwrap_or_default());
            changed.extend_from_slice(by);
            from = place.end;
        }
        changed.extend_from_slice(text.get(from..).unwrap_or_default());
        changed.into()
    }
}
