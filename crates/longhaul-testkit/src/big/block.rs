//! The repeated block, and the seam that connects it to a constant tail.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::ids::{AGENT_PREFIX, API_PREFIXES, BASE58};
use crate::session::Generator;
use crate::timestamp::{self, DAY};

/// A uuid's width.
const UUID: usize = 36;
/// The number of hex digits of a uuid or an agent's id that change from copy to copy.
const HEX_VARIES: usize = 8;
/// The number of letters of an API id that change from copy to copy.
const API_VARIES: usize = 6;

/// The day of the first copy: early enough that all copies a bench writes come before the tail.
const FIRST_DAY: u64 = timestamp::START / DAY - 4_000;

/// The placeholder for the entry before the block while the block is generated.
const BEFORE: &str = "be40be40-0000-4000-8000-000000000000";
/// The uuid of the entry between the blocks and the tail.
const SEAM: &str = "5ea35ea3-0000-4000-8000-000000000000";

/// A part of a conversation that can follow itself.
pub(super) struct RepeatedBlock {
    bytes: Vec<u8>,
    pub(super) lines: u64,
    /// The offsets where the varying digits of uuids and agents' ids begin, without those of the session's own id.
    hex_ids: Vec<usize>,
    /// The offsets where the varying part of API ids begins.
    api_ids: Vec<usize>,
    /// The offsets where dates begin, by day of the block.
    dates: BTreeMap<u64, Vec<usize>>,
    /// The offsets of the uuid of the entry before the block.
    before: Vec<usize>,
    last_uuid_at: usize,
    copies: u32,
}

impl RepeatedBlock {
    /// Generates the block; it ends with the turn in which it reaches `bytes`.
    pub(super) fn new(mut session: Generator, bytes: usize) -> Self {
        session.continue_from(BEFORE);
        let session = session.run_to(bytes.max(1));
        let bytes = session.bytes;
        let own = session.truth.session_id.as_bytes();
        let mut hex_ids = Vec::new();
        let mut before = Vec::new();
        let mut dates: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut api_ids = Vec::new();
        let first_day = timestamp::START / DAY;
        let days: Vec<String> = (first_day..first_day + 4_000)
            .map(timestamp::date)
            .collect();
        for quote in memchr::memchr_iter(b'"', &bytes) {
            let text = &bytes[quote + 1..];
            if is_uuid(text) && &text[..UUID] == BEFORE.as_bytes() {
                before.push(quote + 1);
            } else if is_uuid(text) && &text[..UUID] != own {
                hex_ids.push(quote + 1);
            } else if is_timestamp(text) {
                let day = days
                    .iter()
                    .position(|date| date.as_bytes() == &text[..10])
                    .unwrap_or(0);
                dates.entry(day as u64).or_default().push(quote + 1);
            } else if let Some(prefix) = API_PREFIXES
                .iter()
                .find(|prefix| text.starts_with(prefix.as_bytes()))
            {
                api_ids.push(quote + 1 + prefix.len());
            }
        }
        let agent = format!("\"agentId\":\"{AGENT_PREFIX}");
        hex_ids.extend(memchr::memmem::find_iter(&bytes, &agent).map(|at| at + agent.len()));
        let last = memchr::memmem::rfind(&bytes, session.truth.last_uuid.as_bytes()).unwrap_or(0);
        let lines = session.truth.lines as u64;
        Self {
            bytes,
            lines,
            hex_ids,
            api_ids,
            dates,
            before,
            last_uuid_at: last,
            copies: 0,
        }
    }

    /// The next copy. The first copy begins the file, so links to the entry before it become `null`.
    pub(super) fn copy(&mut self) -> Cow<'_, [u8]> {
        let previous = self.last_uuid();
        // Multiplying by an odd number maps copies to distinct, well-spread values.
        let salt = self.copies.wrapping_add(1).wrapping_mul(0x9e37_79b1);
        let hex = format!("{salt:08x}");
        for at in &self.hex_ids {
            self.bytes[*at..*at + HEX_VARIES].copy_from_slice(hex.as_bytes());
        }
        let letters = base58(salt);
        for at in &self.api_ids {
            self.bytes[*at..*at + API_VARIES].copy_from_slice(&letters);
        }
        let span = self.dates.keys().next_back().map_or(1, |last| last + 1);
        for (day, places) in &self.dates {
            let date = timestamp::date(FIRST_DAY + u64::from(self.copies) * span + day);
            for at in places {
                self.bytes[*at..*at + 10].copy_from_slice(date.as_bytes());
            }
        }
        for at in &self.before {
            self.bytes[*at..*at + UUID].copy_from_slice(previous.as_bytes());
        }
        self.copies += 1;
        if self.copies > 1 {
            return Cow::Borrowed(&self.bytes);
        }
        let mut first = Vec::with_capacity(self.bytes.len());
        let mut done = 0;
        for at in &self.before {
            first.extend_from_slice(&self.bytes[done..at - 1]);
            first.extend_from_slice(b"null");
            done = at + UUID + 1;
        }
        first.extend_from_slice(&self.bytes[done..]);
        Cow::Owned(first)
    }

    /// The uuid at the end of the newest copy.
    pub(super) fn last_uuid(&self) -> String {
        if self.copies == 0 {
            return String::from(BEFORE);
        }
        String::from_utf8_lossy(&self.bytes[self.last_uuid_at..self.last_uuid_at + UUID])
            .into_owned()
    }
}

/// The content after the last block: one line that differs, then always the same bytes.
pub(super) struct TailSeam {
    pub(super) bytes: Vec<u8>,
    pub(super) lines: u64,
    pub(super) last_uuid: String,
}

impl TailSeam {
    /// Generates a boundary and at least `bytes` after it.
    pub(super) fn new(mut session: Generator, bytes: usize) -> Self {
        session.continue_from(SEAM);
        session.begin_with_boundary(155_000);
        let session = session.run_to(bytes.max(1));
        Self {
            bytes: session.bytes,
            lines: session.truth.lines as u64,
            last_uuid: session.truth.last_uuid,
        }
    }

    /// The line that connects the tail to the entry before it, with its line end.
    pub(super) fn after(&self, last: &str) -> String {
        format!(
            "{{\"parentUuid\":\"{last}\",\"isSidechain\":false,\"type\":\"system\",\"subtype\":\"turn_duration\",\
             \"durationMs\":61000,\"timestamp\":\"{}\",\"uuid\":\"{SEAM}\",\"isMeta\":false}}\n",
            timestamp::iso(timestamp::START)
        )
    }
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() > UUID
        && text[UUID] == b'"'
        && text[..UUID].iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_timestamp(text: &[u8]) -> bool {
    let width = timestamp::WIDTH;
    text.len() > width
        && text[10] == b'T'
        && text[width - 1] == b'Z'
        && text[width] == b'"'
        && text[4] == b'-'
}

fn base58(mut salt: u32) -> [u8; API_VARIES] {
    std::array::from_fn(|_| {
        let letter = BASE58[(salt % 58) as usize];
        salt /= 58;
        letter
    })
}
