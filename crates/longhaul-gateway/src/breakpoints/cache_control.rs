//! A marker in an object: what it says, and what to cut so that it is gone.
//!
//! One on a block inside a block (the parts of a tool's result, the source of a document) is found too: it counts as one to the
//! API. What is the client's own (`input` of a call, a tool's schema) is not looked into.

use std::ops::Range;

use longhaul_core::json::{JsonCursor, JsonFault, JsonKind, ObjectReader};
use longhaul_core::prompt::Ttl;

/// How deep blocks inside blocks are looked into.
const DEEPEST: usize = 8;

/// A member `cache_control`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CacheControlMember {
    /// What to cut so that it is gone: it, and one comma.
    pub(super) cut: Range<usize>,
    /// Its lifetime; none if it is no marker (null, say).
    pub(super) ttl: Option<Ttl>,
    /// Whether it is what we would write, spelled in whatever way.
    plain: bool,
}

impl CacheControlMember {
    /// Whether it is what we would write for this lifetime.
    pub(super) fn is(&self, ttl: Ttl) -> bool {
        self.plain && self.ttl == Some(ttl)
    }
}

/// Markers of blocks inside a block.
pub(super) fn scan_inside(
    cursor: &mut JsonCursor<'_>,
    raw: &[u8],
    inside: &mut Vec<CacheControlMember>,
    depth: usize,
) -> Result<(), JsonFault> {
    match cursor.peek()? {
        JsonKind::Array if depth < DEEPEST => {
            cursor.array(|cursor| scan_inside(cursor, raw, inside, depth + 1))
        }
        JsonKind::Object if depth < DEEPEST => {
            let mut deeper = Vec::new();
            let (own, _) = members(cursor, raw, |cursor, key| match key {
                b"content" | b"source" => scan_inside(cursor, raw, &mut deeper, depth + 1),
                _ => cursor.skip(),
            })?;
            inside.extend(deeper);
            inside.extend(own);
            Ok(())
        }
        _ => cursor.skip(),
    }
}

/// Walks an object: `other` passes every value but those of `cache_control`. What was found of these, and the place behind
/// the last of the others.
pub(super) fn members(
    cursor: &mut JsonCursor<'_>,
    raw: &[u8],
    mut other: impl FnMut(&mut JsonCursor<'_>, &[u8]) -> Result<(), JsonFault>,
) -> Result<(Vec<CacheControlMember>, Option<usize>), JsonFault> {
    let (mut found, mut behind) = (Vec::new(), None);
    cursor.object(|cursor, key| {
        let start = cursor.position();
        if key == b"cache_control" {
            let value = cursor.raw()?;
            let first = if behind.is_some() {
                MemberPosition::Behind
            } else {
                MemberPosition::First
            };
            found.push(CacheControlMember {
                cut: cut(raw, &(start..start + value.len()), first),
                ..marker(value)
            });
            return Ok(());
        }
        other(cursor, key)?;
        let passed = raw.get(..cursor.position()).unwrap_or_default();
        behind = Some(passed.trim_ascii_end().len());
        Ok(())
    })?;
    Ok((found, behind))
}

/// Where a member that is cut stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberPosition {
    /// Before all members that stay.
    First,
    /// Behind one that stays.
    Behind,
}

/// What to cut so that a member is gone, given its value.
pub(super) fn cut(raw: &[u8], value: &Range<usize>, stands: MemberPosition) -> Range<usize> {
    let last = |byte: u8, end: usize| {
        let before = raw.get(..end).unwrap_or_default();
        before.iter().rposition(|each| *each == byte).unwrap_or(end)
    };
    // The key holds no quote, however it is spelled.
    let key = last(b'"', last(b'"', value.start));
    match stands {
        MemberPosition::Behind => last(b',', key)..value.end,
        MemberPosition::First => {
            let white = |from: usize| {
                let rest = raw.get(from..).unwrap_or_default();
                from + rest.len() - rest.trim_ascii_start().len()
            };
            let comma = white(value.end);
            match raw.get(comma) {
                Some(b',') => key..white(comma + 1),
                _ => key..value.end,
            }
        }
    }
}

/// Reads a marker; it is not cut anywhere.
pub(super) fn marker(value: &[u8]) -> CacheControlMember {
    let is_object = value.first() == Some(&b'{');
    let fields = ObjectReader::new(value);
    let named = |name| fields.string(name);
    let known = named("type").as_deref() == Some("ephemeral");
    let (ttl, said) = match (fields.get("ttl"), named("ttl").as_deref()) {
        (None, _) => (Ttl::FiveMinutes, Some(1)),
        (_, Some("5m")) => (Ttl::FiveMinutes, Some(2)),
        (_, Some("1h")) => (Ttl::OneHour, Some(2)),
        _ => (Ttl::FiveMinutes, None),
    };
    let mut count = 0;
    let walked = JsonCursor::new(value).object(|cursor, _| {
        count += 1;
        cursor.skip()
    });
    CacheControlMember {
        cut: 0..0,
        ttl: is_object.then_some(ttl),
        plain: known && walked.is_ok() && said == Some(count),
    }
}
