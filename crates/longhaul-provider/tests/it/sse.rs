//! The SSE decoder: whatever the chunking, the same events; none lost, none invented.

use longhaul_provider::sse::{EventTooLong, SseDecoder};
use proptest::prelude::*;

type Event = (Vec<u8>, Vec<u8>);
type Events = Vec<Event>;

/// All events of a stream in chunks, the rest at its end, and the error that stopped it.
fn events<'a>(
    limit: usize,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Events, Option<Event>, Option<EventTooLong>) {
    let mut decoder = SseDecoder::with_limit(limit);
    let mut seen = Vec::new();
    for chunk in chunks {
        let mut rest = chunk;
        loop {
            match decoder.next(&mut rest) {
                Ok(Some(event)) => seen.push((event.name.to_vec(), event.data.to_vec())),
                Ok(None) => break,
                Err(error) => return (seen, None, Some(error)),
            }
        }
        assert!(rest.is_empty(), "a chunk is used up");
    }
    match decoder.finish() {
        Ok(last) => {
            let last = last.map(|event| (event.name.to_vec(), event.data.to_vec()));
            (seen, last, None)
        }
        Err(error) => (seen, None, Some(error)),
    }
}

fn whole(stream: &[u8]) -> Events {
    events(1 << 20, [stream]).0
}

fn named(name: &str, data: &str) -> (Vec<u8>, Vec<u8>) {
    (name.as_bytes().to_vec(), data.as_bytes().to_vec())
}

/// The standard, literally and without any regard for speed.
fn by_the_book(stream: &[u8]) -> Events {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut line = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        match stream[at] {
            b'\r' => {
                if stream.get(at + 1) == Some(&b'\n') {
                    at += 1;
                }
                lines.push(std::mem::take(&mut line));
            }
            b'\n' => lines.push(std::mem::take(&mut line)),
            byte => line.push(byte),
        }
        at += 1;
    }
    let (mut data, mut name, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        if line.is_empty() {
            if !data.is_empty() {
                data.pop();
                let name = if name.is_empty() {
                    b"message".to_vec()
                } else {
                    name.clone()
                };
                out.push((name, data.clone()));
            }
            data.clear();
            name.clear();
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(0) => continue,
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                data.extend_from_slice(value);
                data.push(b'\n');
            }
            b"event" => name = value.to_vec(),
            _ => {}
        }
    }
    out
}

#[test]
fn lines_may_end_in_any_of_the_three_ways() {
    let expected = vec![named("a", "1"), named("message", "2")];
    for end in ["\n", "\r", "\r\n"] {
        let stream = format!("event: a{end}data: 1{end}{end}data:2{end}{end}");
        assert_eq!(whole(stream.as_bytes()), expected, "{end:?}");
    }
}

#[test]
fn several_data_lines_are_joined_and_one_space_is_dropped() {
    assert_eq!(
        whole(b"data:  a\ndata\ndata:b\n\n"),
        [named("message", " a\n\nb")]
    );
}

#[test]
fn comments_ids_retries_and_unknown_fields_are_passed_over() {
    let stream =
        b": keep-alive\nid: 7\nretry: 10\ndatum: x\ndata-x: y\n:\ndata: 1\neventual: z\n\n";
    assert_eq!(whole(stream), [named("message", "1")]);
}

#[test]
fn an_event_without_data_is_none_and_forgets_its_name() {
    assert_eq!(
        whole(b"event: a\n\ndata: 1\n\n\n\nevent: b\ndata\n\n"),
        [named("message", "1"), named("b", "")]
    );
}

#[test]
fn a_byte_order_mark_is_dropped_at_the_beginning_only() {
    let stream = b"\xEF\xBB\xBFdata: 1\n\n\xEF\xBB\xBFdata: 2\n\n";
    assert_eq!(whole(stream), [named("message", "1")]);
}

#[test]
fn what_lies_whole_in_a_chunk_is_borrowed_from_it() {
    let chunk = b"\nevent: x\ndata: abc\n\n".to_vec();
    let mut decoder = SseDecoder::default();
    let mut rest = &chunk[..];
    let event = decoder.next(&mut rest).unwrap().unwrap();
    assert!(chunk.as_ptr_range().contains(&event.data.as_ptr()));
    assert!(chunk.as_ptr_range().contains(&event.name.as_ptr()));
}

#[test]
fn the_event_that_was_never_closed_is_offered_at_the_end() {
    let (seen, last, error) = events(99, [&b"data: 1\n\nevent: x\ndata: 2"[..]]);
    assert_eq!(seen, [named("message", "1")]);
    assert_eq!(last, Some(named("x", "2")));
    assert_eq!(error, None);
}

#[test]
fn a_line_over_the_limit_is_a_typed_error_that_stays() {
    let mut decoder = SseDecoder::with_limit(10);
    let mut rest = &b"data: 1\n\ndata: 23456789"[..];
    assert!(decoder.next(&mut rest).unwrap().is_some());
    assert_eq!(decoder.next(&mut rest), Err(EventTooLong { limit: 10 }));
    assert_eq!(
        decoder.next(&mut &b"\n\n"[..]),
        Err(EventTooLong { limit: 10 })
    );
    assert_eq!(decoder.finish(), Err(EventTooLong { limit: 10 }));
}

#[test]
fn many_short_data_lines_do_not_escape_the_limit() {
    let stream = "data: 12345\n".repeat(3);
    let (seen, _, error) = events(12, [stream.as_bytes()]);
    assert_eq!((seen.len(), error), (0, Some(EventTooLong { limit: 12 })));
}

/// Streams that are mostly well-formed and full of the bytes that matter.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => Just(b"data: ".to_vec()),
        2 => Just(b"data:".to_vec()),
        2 => Just(b"event: ".to_vec()),
        1 => Just(b": comment".to_vec()),
        1 => Just(b"id: 1".to_vec()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
        4 => Just(b"\n".to_vec()),
        3 => Just(b"\n\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        3 => Just(b"\r\n".to_vec()),
        1 => Just(b"data".to_vec()),
        2 => proptest::collection::vec(any::<u8>(), 0..8),
        2 => "[a-z{}\":é ]{0,20}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_chunking_gives_the_same_events(stream in stream(), seed: u64, limit in 0usize..60) {
        let expected = events(limit, [&stream[..]]);
        prop_assert_eq!(&events(limit, crate::support::cut(&stream, seed)), &expected);
        prop_assert_eq!(&events(limit, stream.chunks(1)), &expected);
    }

    #[test]
    fn no_event_is_lost_or_invented(stream in stream()) {
        prop_assert_eq!(whole(&stream), by_the_book(&stream));
    }
}
