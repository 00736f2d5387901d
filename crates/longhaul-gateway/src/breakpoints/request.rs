//! A client's request as the breakpoint code sees it: its bytes, the positions of its messages, the replacement of the
//! first of them.

use std::ops::Range;

use bytes::Bytes;

use crate::body::BodyOutline;

/// A request in which breakpoints are set.
#[derive(Debug, Clone, Copy)]
pub struct BreakpointRequest<'a> {
    /// The client's bytes.
    pub body: &'a Bytes,
    /// Where its parts lie.
    pub outline: &'a BodyOutline,
    /// Where each element of `messages` ends, known ones included.
    pub ends: &'a [u32],
    /// Hash of the bytes of each element.
    pub raws: &'a [u128],
    /// The rolling hash after each element.
    pub hashes: &'a [u128],
    /// The replacement for the first messages.
    pub replaced: Option<&'a ReplacedMessages>,
}

/// The replacement for some elements of `messages`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedMessages {
    /// The replaced elements: all from the first on, except perhaps leading messages of role system. Never empty.
    pub elements: Range<usize>,
    /// The replacement: elements separated by commas, without breakpoints.
    pub text: Bytes,
    /// After how many elements of the replacement there is one more breakpoint: where the replacement begins to differ
    /// from what was sent before, or may differ next, the provider finds what it has cached.
    pub marked_after: Option<usize>,
}

impl<'a> BreakpointRequest<'a> {
    /// How many elements the client's list has.
    pub(super) fn len(&self) -> usize {
        self.outline.len()
    }

    /// Which elements are not sent.
    pub(super) fn left_out(&self) -> Range<usize> {
        self.replaced
            .map_or(0..0, |replaced| replaced.elements.clone())
    }

    /// Where an element lies.
    pub(super) fn span(&self, element: usize) -> Option<Range<usize>> {
        let outline = self.outline;
        if let Some(read) = element.checked_sub(outline.known) {
            return outline.elements.get(read).map(|read| read.span.clone());
        }
        let end = usize::try_from(*self.ends.get(element)?).ok()?;
        let before = self.end_of_previous(element)?;
        let between = self.body.get(before..end)?;
        let start = between.iter().position(|byte| *byte == b'{')?;
        Some(before + start..end)
    }

    /// The position after the preceding element.
    fn end_of_previous(&self, element: usize) -> Option<usize> {
        match element.checked_sub(1) {
            None => Some(self.outline.list.start + 1),
            Some(before) => usize::try_from(*self.ends.get(before)?).ok(),
        }
    }

    /// The bytes of an element, and where they begin.
    pub(super) fn element(&self, element: usize) -> Option<(&'a [u8], usize)> {
        let span = self.span(element)?;
        Some((self.body.get(span.clone())?, span.start))
    }

    /// The range of the elements that are not sent, from the end of what comes before them.
    pub(super) fn gap(&self) -> Option<Range<usize>> {
        let left_out = self.left_out();
        let last = left_out.end.checked_sub(1)?;
        let gap = self.end_of_previous(left_out.start)?..self.span(last)?.end;
        self.body.get(gap.clone()).map(|_| gap)
    }
}
