//! Decoding server-sent events, in MB/s, against a plain line splitter over the same bytes.
//!
//! `cargo bench -p longhaul-provider --bench sse`. The splitter finds LF with memchr and reads the first byte of each
//! line: the minimum work. The whole fold into a reply is shown beside it. It uses one thread; the two take turns and
//! the median of the rounds counts. Chunks are 16 KiB, about what a socket returns.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench talks and may fail loudly"
)]

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use longhaul_provider::Dialect;
use longhaul_provider::decode::ReplyDecoder;
use longhaul_provider::sse;

const ROUNDS: usize = 31;
const BYTES: usize = 8 << 20;
const CHUNK: usize = 16 << 10;

fn main() {
    // The text of a delta: a few words as the API streams them, or the long ones of results and signatures.
    for (name, length) in [
        ("deltas of 20 bytes", 20),
        ("deltas of 200 bytes", 200),
        ("events of 20 KB", 20_000),
    ] {
        let stream = stream(length);
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            for (run, times) in [split, events, fold].into_iter().zip(&mut times) {
                let began = Instant::now();
                black_box(run(black_box(&stream)));
                times.push(began.elapsed().as_secs_f64());
            }
        }
        let [split, events, fold] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            stream.len() as f64 / 1e6 / times[ROUNDS / 2]
        });
        println!(
            "{name:>20}: splitter {split:6.0} MB/s, events {events:6.0} MB/s ({:.2} of it), reply {fold:5.0} MB/s",
            events / split
        );
    }
}

fn stream(length: usize) -> String {
    let text = "lorem ipsum dolor \\n".repeat(length / 20);
    let mut stream = String::from(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n\n\
         event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    );
    while stream.len() < BYTES {
        write!(
            stream,
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
        )
        .unwrap();
    }
    stream
}

fn split(stream: &str) -> usize {
    let mut fields = 0;
    for chunk in stream.as_bytes().chunks(CHUNK) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', chunk) {
            fields += usize::from(chunk[start..end].first() == Some(&b'd'));
            start = end + 1;
        }
    }
    fields
}

fn events(stream: &str) -> usize {
    let mut decoder = sse::SseDecoder::default();
    let mut bytes = 0;
    for chunk in stream.as_bytes().chunks(CHUNK) {
        let mut rest = chunk;
        while let Some(event) = decoder.next(&mut rest).unwrap() {
            bytes += event.data.len();
        }
    }
    bytes
}

fn fold(stream: &str) -> usize {
    let mut lines = sse::SseDecoder::default();
    let mut decoder = ReplyDecoder::new(Dialect::Anthropic);
    let mut heard = VecDeque::new();
    for chunk in stream.as_bytes().chunks(CHUNK) {
        let mut rest = chunk;
        while let Some(event) = lines.next(&mut rest).unwrap() {
            decoder.event(event, &mut heard).unwrap();
            heard.clear();
        }
    }
    decoder.into_reply().blocks.len()
}
