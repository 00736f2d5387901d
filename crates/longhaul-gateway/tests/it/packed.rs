//! Usage in compressed answers: read, bounded, and never in the way.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::HeaderMap;
use longhaul_core::message::Usage;
use longhaul_gateway::memory::MemoryBudget;
use longhaul_gateway::store::CallEnding;
use longhaul_gateway::watch::UsageTap;
use longhaul_provider::Dialect;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::support::{self, Upstream, gateway, post, read_message, sessions_when};

const TEXT: &str = "{\"type\":\"message\",\"usage\":{\"input_tokens\":11,\"output_tokens\":22}}";
/// [`TEXT`] and [`events`], as compressed by brotli.
const TEXT_BR: &str = "1b4000689c077683f3055a58c22829f1af456264f6d65b5db2e8f4d5d79c53ce34206ccbd29674a2c3061c278364dbfbc62b7698740579cd82c263db03";
const EVENTS_BR: &str = "1b0c05208cd463ad315949e7d65fe23305e25b213a8bba39122340cc76e0131a88eefe6eb7db6eb8ce83acc02ba10421dda13dd19d16a358182db522a71d7457732b2f45bed15a8b6a560db5c8bbd807bb1bef9e736600c5f1f659425f3fa106856f7c772fe505597134288a00";
const JSON: &str = "application/json; charset=utf-8";
const EVENTS: &str = "text/event-stream";

fn events() -> String {
    format!(
        "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"usage\":{{\"input_tokens\":11,\"output_tokens\":1}}}}}}\n\n{}event: message_delta\ndata: {{\"type\":\"message_delta\",\"usage\":{{\"output_tokens\":22}}}}\n\n",
        "event: ping\ndata: {}\n\n".repeat(50)
    )
}

fn of_hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// A text compressed in all ways that need no additional library here.
fn packed(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(text).unwrap();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(text).unwrap();
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
    raw.write_all(text).unwrap();
    vec![
        ("gzip", gzip.finish().unwrap()),
        ("GZIP", packed_twice(text)),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
        ("zstd", compress_to_vec(text, CompressionLevel::Fastest)),
    ]
}

/// Two members, as a server that flushes may write them.
fn packed_twice(text: &[u8]) -> Vec<u8> {
    let (first, second) = text.split_at(text.len() / 2);
    let pack = |part: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(part).unwrap();
        gzip.finish().unwrap()
    };
    [pack(first), pack(second)].concat()
}

fn heard(encoding: &str, kind: &str, bytes: &[u8]) -> Option<Usage> {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", kind.parse().unwrap());
    headers.insert("content-encoding", encoding.parse().unwrap());
    let mut tap = UsageTap::new(Dialect::Anthropic, &headers, &MemoryBudget::new(1 << 20));
    for chunk in bytes.chunks(37) {
        tap.take(&Bytes::copy_from_slice(chunk));
    }
    tap.end(CallEnding::Whole).reading().usage
}

fn counts(usage: Option<Usage>) -> Option<(u64, u64)> {
    usage.map(|usage| (usage.input, usage.output))
}

#[test]
fn x8_usage_is_read_however_an_answer_is_packed() {
    let mut texts = packed(TEXT.as_bytes());
    texts.push(("br", of_hex(TEXT_BR)));
    let mut streams = packed(events().as_bytes());
    streams.push(("br", of_hex(EVENTS_BR)));
    for (encoding, bytes) in &texts {
        assert_eq!(
            counts(heard(encoding, JSON, bytes)),
            Some((11, 22)),
            "{encoding}"
        );
    }
    for (encoding, bytes) in &streams {
        assert_eq!(
            counts(heard(encoding, EVENTS, bytes)),
            Some((11, 22)),
            "{encoding}"
        );
    }
    for encoding in ["compress", "gzip, br", "x-unheard-of"] {
        assert_eq!(heard(encoding, JSON, TEXT.as_bytes()), None);
    }
}

#[test]
fn x8_of_a_stream_that_broke_off_is_known_what_came() {
    for (encoding, bytes) in packed(events().as_bytes()) {
        let usage = counts(heard(encoding, EVENTS, &bytes[..bytes.len() - 12]));
        assert!(
            matches!(usage, None | Some((11, 1 | 22))),
            "{encoding}: {usage:?}"
        );
    }
}

#[test]
fn x8_what_grows_without_measure_is_not_read_to_its_end() {
    // The usage comes after more than is ever unpacked.
    let pad = " ".repeat(33 << 20);
    let long =
        format!("{{\"pad\":\"{pad}\",\"usage\":{{\"input_tokens\":11,\"output_tokens\":22}}}}");
    for (encoding, bytes) in packed(long.as_bytes()) {
        assert!(
            bytes.len() < 1 << 20,
            "{encoding} packs it to {}",
            bytes.len()
        );
        assert_eq!(heard(encoding, JSON, &bytes), None, "{encoding}");
    }
    // Formats that request far too much memory.
    let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 0x0b, 0x00, 0x00, 0x20];
    assert_eq!(heard("zstd", JSON, &zstd), None);
    assert_eq!(
        heard("br", JSON, &[0x11, 0x1e, 0xff, 0xff, 0xff, 0x20]),
        None
    );
}

proptest! {
    #[test]
    fn x8_damaged_packings_are_only_unknown(
        at in 0_usize..200, byte: u8, cut in 0_usize..400, noise in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut all = packed(events().as_bytes());
        all.push(("br", of_hex(EVENTS_BR)));
        for (encoding, mut bytes) in all {
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(cut.max(1));
            // Whatever is read, it terminates.
            heard(encoding, EVENTS, &bytes);
            heard(encoding, JSON, &noise);
        }
    }
}

#[tokio::test]
async fn x8_packed_answers_pass_as_they_came_and_are_measured() {
    let mut upstream = Upstream::start().await;
    let gateway = gateway(upstream.url()).await;
    let mut all = packed(TEXT.as_bytes());
    all.push(("br", of_hex(TEXT_BR)));
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    let mut stream = None;
    for (encoding, bytes) in &all {
        let body = support::body(&json!([{"role": "user", "content": "hi"}]));
        client
            .write_all(&post("/v1/messages", "", &body))
            .await
            .unwrap();
        let stream = match &mut stream {
            Some(stream) => stream,
            None => stream.insert(upstream.next().await),
        };
        read_message(stream).await.unwrap();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {JSON}\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
            bytes.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let answer = read_message(&mut client).await.unwrap();
        assert!(answer.ends_with(bytes), "{encoding}");
    }
    let calls = all.len();
    let all = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == calls).await;
    assert_eq!(all["sessions"][0]["output_tokens"], 22 * calls);
    gateway.stop().await;
}
