//! Reads the outline of a body, either all of it or only the part after a known element.

use std::ops::Range;

use longhaul_core::json::{self, JsonCursor, JsonFault, JsonKind};

use super::outline::{BodyMembers, BodyOutline, BodyRole, OutlineElement};
use super::walk::JsonWalk;

/// The most messages that a conversation may have.
pub(crate) const MOST_MESSAGES: usize = 100_000;
/// The most bytes that the name of a model may have, as written in the body.
pub(crate) const LONGEST_MODEL: usize = 256;

/// Why a body has no conversation that can be recognized. Unless it is too large, it is passed on as it is: the
/// upstream reports what is wrong with it, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAConversation {
    /// The body is not UTF-8.
    #[error("the body is not UTF-8")]
    NotUtf8,
    /// The body is not JSON.
    #[error("the body is not JSON: {0}")]
    Damaged(FaultText),
    /// The body is JSON, but not a request with a model and messages.
    #[error("the body has no model or no messages")]
    OtherShape,
    /// The conversation has more messages than are accepted.
    #[error("the request has more than {MOST_MESSAGES} messages")]
    TooManyMessages,
    /// The name of the model is longer than any real one.
    #[error("the name of the model is longer than {LONGEST_MODEL} bytes")]
    LongModelName,
}

/// Where and why a body is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultText(pub JsonFault);

impl std::fmt::Display for FaultText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<JsonFault> for NotAConversation {
    fn from(fault: JsonFault) -> Self {
        Self::Damaged(FaultText(fault))
    }
}

/// Where to resume in a body whose beginning is known, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadResumePoint {
    /// The position after an element of `messages`.
    pub at: usize,
    /// How many elements end before that position.
    pub elements: usize,
    /// Where `messages` begins.
    pub list: usize,
    /// The members before `messages`.
    pub before: BodyMembers,
}

/// Reads the outline of a whole body.
pub fn read(body: &[u8]) -> Result<BodyOutline, NotAConversation> {
    simdutf8::basic::from_utf8(body).map_err(|_| NotAConversation::NotUtf8)?;
    let mut walk = JsonWalk::at(body, 0);
    let mut reading = OutlineReader::default();
    walk.pass(b'{')?;
    if walk.peek() != Some(b'}') {
        reading.member(&mut walk)?;
    }
    reading.rest(&mut walk)
}

/// Reads the rest of a body whose beginning was read before. The part before [`ReadResumePoint::at`] is not read.
pub fn read_from(body: &[u8], from: &ReadResumePoint) -> Result<BodyOutline, NotAConversation> {
    let rest = body.get(from.at..).ok_or(NotAConversation::OtherShape)?;
    simdutf8::basic::from_utf8(rest).map_err(|_| NotAConversation::NotUtf8)?;
    let mut walk = JsonWalk::at(body, from.at);
    let mut reading = OutlineReader {
        members: from.before.clone(),
        before: from.before.clone(),
        known: from.elements,
        ..OutlineReader::default()
    };
    reading.elements(&mut walk, from.list)?;
    reading.rest(&mut walk)
}

#[derive(Default)]
struct OutlineReader {
    members: BodyMembers,
    before: BodyMembers,
    known: usize,
    elements: Vec<OutlineElement>,
    list: Option<Range<usize>>,
}

impl OutlineReader {
    /// Reads the members after the current one, and the end of the body.
    fn rest(mut self, walk: &mut JsonWalk<'_>) -> Result<BodyOutline, NotAConversation> {
        while walk.take(b',') {
            self.member(walk)?;
        }
        walk.pass(b'}')?;
        walk.end()?;
        let list = self.list.ok_or(NotAConversation::OtherShape)?;
        if self.members.model.is_empty() || self.known + self.elements.len() == 0 {
            return Err(NotAConversation::OtherShape);
        }
        Ok(BodyOutline {
            members: self.members,
            before: self.before,
            known: self.known,
            elements: self.elements,
            list,
        })
    }

    fn member(&mut self, walk: &mut JsonWalk<'_>) -> Result<(), NotAConversation> {
        let key = walk.key()?;
        if *key == *b"messages" {
            // The same key occurs twice: the gateway must not guess which one counts.
            if self.list.is_some() || walk.peek() != Some(b'[') {
                return Err(NotAConversation::OtherShape);
            }
            self.before = self.members.clone();
            let start = walk.position();
            walk.pass(b'[')?;
            if walk.peek() != Some(b']') {
                self.element(walk)?;
            }
            return self.elements(walk, start);
        }
        let (span, kind) = walk.value(|cursor, _| {
            let kind = cursor.peek()?;
            cursor.skip()?;
            Ok(kind)
        })?;
        let given = (kind != JsonKind::Null).then(|| span.clone());
        match &*key {
            // The quotes are not part of the name.
            b"model" if kind == JsonKind::String && span.len() > LONGEST_MODEL + 2 => {
                return Err(NotAConversation::LongModelName);
            }
            b"model" if kind == JsonKind::String => self.members.model = span,
            b"system" => self.members.system = given,
            b"tools" => self.members.tools = given,
            b"metadata" => self.members.metadata = given,
            b"cache_control" => self.members.automatic = given,
            b"context_management" => self.members.context_management = given,
            b"stream" => self.members.streams = kind == JsonKind::True,
            b"thread" => self.members.threaded = given.is_some(),
            _ => {}
        }
        Ok(())
    }

    /// Reads the elements after the current one, and the end of the list.
    fn elements(&mut self, walk: &mut JsonWalk<'_>, start: usize) -> Result<(), NotAConversation> {
        while walk.take(b',') {
            self.element(walk)?;
        }
        let end = walk.position() + 1;
        walk.pass(b']')?;
        self.list = Some(start..end);
        Ok(())
    }

    fn element(&mut self, walk: &mut JsonWalk<'_>) -> Result<(), NotAConversation> {
        if walk.peek() != Some(b'{') {
            return Err(NotAConversation::OtherShape);
        }
        if self.known + self.elements.len() >= MOST_MESSAGES {
            return Err(NotAConversation::TooManyMessages);
        }
        let (span, (role, content)) = walk.value(role_and_content)?;
        let role = role.ok_or(NotAConversation::OtherShape)?;
        self.elements.push(OutlineElement {
            span,
            role,
            content,
        });
        Ok(())
    }
}

type RoleAndContent = (Option<BodyRole>, Option<Range<usize>>);

fn role_and_content(cursor: &mut JsonCursor<'_>, base: usize) -> Result<RoleAndContent, JsonFault> {
    let (mut role, mut content) = (None, None);
    cursor.object(|cursor, key| {
        let start = cursor.position();
        match key {
            b"role" => {
                let raw = cursor.raw()?;
                role = json::content(raw).map(BodyRole::of);
            }
            b"content" => {
                let raw = cursor.raw()?;
                content = (raw != b"null").then(|| base + start..base + start + raw.len());
            }
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok((role, content))
}
