//! Metrics and traces, as a collector gets them from the program.
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

use super::serve::{end, hello, longhaul, started};

/// A collector that accepts everything it is sent: path and body.
fn collector() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, got) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let sender = sender.clone();
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                while let Some(request) = read_request(&mut stream) {
                    // The test may be over.
                    let _ = sender.send(request);
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                    stream.write_all(answer).unwrap();
                }
            });
        }
    });
    (url, got)
}

fn read_request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.to_lowercase();
    let length = length
        .split("content-length: ")
        .nth(1)?
        .split("\r\n")
        .next()?;
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).ok()?;
    Some((head.split(' ').nth(1)?.to_owned(), body))
}

fn holds(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|part| part == text.as_bytes())
}

fn serve(home: &std::path::Path) -> Command {
    let mut command = longhaul(home, &["--store", "memory"]);
    for name in ["ENDPOINT", "METRICS_ENDPOINT", "TRACES_ENDPOINT"] {
        command.env_remove(format!("OTEL_EXPORTER_OTLP_{name}"));
    }
    command
}

#[test]
fn e2_a_collector_gets_the_gateways_metrics_and_traces_and_nothing_that_was_said() {
    let home = tempfile::tempdir().unwrap();
    let (url, got) = collector();
    let mut command = serve(home.path());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    command.env("OTEL_SERVICE_NAME", "our-gateway");
    let (child, addr) = started(command);
    for _ in 0..3 {
        assert!(hello(&addr).starts_with("HTTP/1.1 200"));
    }
    let (code, told) = end(child);
    assert_eq!(code, Some(0), "{told}");
    let got: Vec<(String, Vec<u8>)> = got.try_iter().collect();
    let all_of = |path: &str| {
        let bodies = got.iter().filter(|(to, _)| to == path);
        bodies
            .flat_map(|(_, body)| body.clone())
            .collect::<Vec<u8>>()
    };
    let (metrics, traces) = (all_of("/v1/metrics"), all_of("/v1/traces"));
    for name in [
        "longhaul.gateway.requests",
        "longhaul.gateway.request_duration",
        "longhaul.gateway.tokens",
        "longhaul.gateway.cost_usd",
        "longhaul.gateway.refused",
        "longhaul.gateway.compactions",
        "cache_write",
        "manage",
        "2xx",
        "our-gateway",
    ] {
        assert!(holds(&metrics, name), "{name}");
    }
    for name in [
        "gateway_request",
        "claude-opus-5-5",
        "messages",
        "whole",
        "our-gateway",
    ] {
        assert!(holds(&traces, name), "{name}");
    }
    for body in [&metrics, &traces] {
        for secret in ["sk-secret-key-1", "Hello", env!("CARGO_MANIFEST_DIR")] {
            assert!(!holds(body, secret), "{secret}");
        }
    }
}

#[test]
fn e2_without_an_endpoint_or_when_disabled_nothing_is_sent() {
    let home = tempfile::tempdir().unwrap();
    let (url, got) = collector();
    let mut disabled = serve(home.path());
    disabled.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    disabled.env("OTEL_SDK_DISABLED", "true");
    for command in [disabled, serve(home.path())] {
        let (child, addr) = started(command);
        assert!(hello(&addr).starts_with("HTTP/1.1 200"));
        assert_eq!(end(child).0, Some(0));
    }
    // Commands that end quickly export nothing.
    let mut short = Command::new(env!("CARGO_BIN_EXE_longhaul"));
    short.args(["config"]).env("LONGHAUL_HOME", home.path());
    short.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    assert!(short.output().unwrap().status.success());
    assert_eq!(got.try_iter().count(), 0);
}

#[test]
fn e2_a_collector_that_is_not_there_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let mut command = serve(home.path());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", url);
    let (child, addr) = started(command);
    assert!(hello(&addr).starts_with("HTTP/1.1 200"));
    assert_eq!(end(child).0, Some(0));
}
