//! The SSE decoder: any chunking of any bytes gives the same events, and the reply decoders that read them never panic.
//!
//! Run it with `fuzz/run sse 60` from the project's root. Every test run checks the same property within bounds:
//! `crates/longhaul-provider/tests/it/sse.rs`.
#![no_main]

use std::collections::VecDeque;

use libfuzzer_sys::fuzz_target;
use longhaul_provider::Dialect;
use longhaul_provider::decode::ReplyDecoder;
use longhaul_provider::sse;

type Outcome = (Vec<(Vec<u8>, Vec<u8>)>, Result<(), sse::EventTooLong>);

fn events<'a>(limit: usize, chunks: impl Iterator<Item = &'a [u8]>) -> Outcome {
    let mut decoder = sse::SseDecoder::with_limit(limit);
    let mut seen = Vec::new();
    for chunk in chunks {
        let mut rest = chunk;
        loop {
            match decoder.next(&mut rest) {
                Ok(Some(event)) => seen.push((event.name.to_vec(), event.data.to_vec())),
                Ok(None) => break,
                Err(error) => return (seen, Err(error)),
            }
        }
    }
    match decoder.finish() {
        Ok(last) => {
            seen.extend(last.map(|event| (event.name.to_vec(), event.data.to_vec())));
            (seen, Ok(()))
        }
        Err(error) => (seen, Err(error)),
    }
}

// The first byte chooses the limit, the second the size of the chunks; the rest is the stream.
fuzz_target!(|input: &[u8]| {
    let [limit, size, stream @ ..] = input else {
        return;
    };
    let limit = match limit {
        0..128 => 1 << 20,
        limit => usize::from(*limit) - 128,
    };
    let whole = events(limit, std::iter::once(stream));
    assert_eq!(
        whole,
        events(limit, stream.chunks(usize::from(*size).max(1)))
    );
    assert_eq!(whole, events(limit, stream.chunks(1)));
    for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
        let mut decoder = ReplyDecoder::new(dialect);
        let mut heard = VecDeque::new();
        for (name, data) in &whole.0 {
            let event = sse::SseEvent { name, data };
            if decoder.event(event, &mut heard).is_err() {
                break;
            }
        }
        let reply = decoder.into_reply();
        let _ = (reply.text(), reply.message_json());
    }
});
