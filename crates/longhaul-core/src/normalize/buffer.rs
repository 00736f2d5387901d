//! The rendered conversation as bytes: one append-only buffer whose pages are shared with requests.
//!
//! Its bytes are never changed, so a request is a handful of slices, and a turn costs only what it appends.

use append_only_bytes::AppendOnlyBytes;
use bytes::Bytes;

/// The page size: large enough that a million tokens fit in a handful of pages, small enough that a short conversation
/// wastes little.
const PAGE: usize = 1 << 20;

/// An append-only buffer.
#[derive(Debug, Default)]
pub struct AppendBuffer {
    /// Full pages, with the offset at which each ends.
    full: Vec<(Bytes, u64)>,
    page: AppendOnlyBytes,
}

impl AppendBuffer {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.page_start() + self.page.len() as u64
    }

    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn page_start(&self) -> u64 {
        self.full.last().map_or(0, |(_, end)| *end)
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.page.len() + bytes.len() > self.page.capacity() {
            let end = self.len();
            let next = AppendOnlyBytes::with_capacity(PAGE.max(bytes.len()));
            let page = std::mem::replace(&mut self.page, next);
            if !page.is_empty() {
                self.full
                    .push((Bytes::from_owner(SharedSlice(page.to_slice())), end));
            }
        }
        self.page.push_slice(bytes);
    }

    /// Adds the slices that make up the range `start..end` to `slices`, sharing the memory.
    pub fn slices(&self, start: u64, end: u64, slices: &mut Vec<Bytes>) {
        let first = self
            .full
            .partition_point(|(_, page_end)| *page_end <= start);
        for (page, page_end) in &self.full[first..] {
            let page_start = page_end - page.len() as u64;
            if page_start >= end {
                return;
            }
            let from = start.max(page_start) - page_start;
            let to = end.min(*page_end) - page_start;
            slices.push(page.slice(from as usize..to as usize));
        }
        let page_start = self.page_start();
        if end > page_start {
            let from = start.max(page_start) - page_start;
            let shared = self.page.slice(from as usize..(end - page_start) as usize);
            if !shared.is_empty() {
                slices.push(Bytes::from_owner(SharedSlice(shared)));
            }
        }
    }

    /// Copies a range, for display and comparison.
    pub fn copy(&self, start: u64, end: u64) -> Vec<u8> {
        let mut slices = Vec::new();
        self.slices(start, end, &mut slices);
        slices.concat()
    }
}

struct SharedSlice(append_only_bytes::BytesSlice);

impl AsRef<[u8]> for SharedSlice {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b1_slices_stay_as_they_were_while_the_buffer_grows() {
        let mut buffer = AppendBuffer::default();
        let mut whole = Vec::new();
        let mut taken = Vec::new();
        for turn in 0..200_u32 {
            let piece = vec![b'a' + (turn % 26) as u8; (turn as usize * 977) % 40_000];
            buffer.push(&piece);
            whole.extend_from_slice(&piece);
            let mut slices = Vec::new();
            let start = (turn as u64 * 31) % (whole.len() as u64 + 1);
            buffer.slices(start, buffer.len(), &mut slices);
            taken.push((slices, start as usize, whole.len()));
        }
        for (slices, start, end) in taken {
            assert_eq!(slices.concat(), whole[start..end]);
        }
        assert_eq!(buffer.len(), whole.len() as u64);
        assert_eq!(buffer.copy(5, 2_000_000), whole[5..2_000_000]);
    }
}
