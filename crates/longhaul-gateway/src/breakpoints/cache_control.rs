//! A `cache_control` member of an object: what it says, and which bytes to cut to remove it.
//!
//! Breakpoints on nested blocks (the parts of a tool result, the source of a document) are found too, because they
//! count for the API. The client's own data (`input` of a call, a tool's schema) is not searched.

use std::ops::Range;

use longhaul_core::json::{JsonCursor, JsonFault, JsonKind, ObjectReader};
use longhaul_core::prompt::Ttl;

/// How deep nested blocks are searched.
pub(super) const DEEPEST: usize = 8;

/// A `cache_control` member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CacheControlMember {
    /// The bytes to cut to remove it: the member and one comma.
    pub(super) cut: Range<usize>,
    /// Its lifetime; `None` if it is not a breakpoint (null, for example).
    pub(super) ttl: Option<Ttl>,
    /// Whether it has the meaning of what the gateway would write, however it is spelled.
    plain: bool,
}

impl CacheControlMember {
    /// Whether it means what the gateway would write for this lifetime.
    pub(super) fn is(&self, ttl: Ttl) -> bool {
        self.plain && self.ttl == Some(ttl)
    }
}

/// The breakpoints of blocks nested in a block.
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

/// Walks an object: `other` passes every value except those of `cache_control`. Returns the `cache_control` members,
/// and the position after the last other member.
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

/// The position of a member that is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberPosition {
    /// Before all members that stay.
    First,
    /// After one that stays.
    Behind,
}

/// The bytes to cut to remove a member, given its value.
pub(super) fn cut(raw: &[u8], value: &Range<usize>, stands: MemberPosition) -> Range<usize> {
    let last = |byte: u8, end: usize| {
        let before = raw.get(..end).unwrap_or_default();
        before.iter().rposition(|each| *each == byte).unwrap_or(end)
    };
    // The key contains no quote, however it is spelled.
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

/// Reads a `cache_control` value; the result has no bytes to cut.
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
