//! An upstream with TLS: trusted, or rejected with a reason, over both HTTP/1.1 and HTTP/2.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use longhaul_gateway::front::{Gateway, StartError};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use url::Url;

use super::support::{self, Upstream, body_of, exchange, options, post, read_head, sessions_when};

/// A certificate authority for the tests.
struct Authority {
    pem: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem().into_bytes();
        Self {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    /// The TLS setup of a server with this name and these protocols.
    fn server(&self, name: &str, last_year: i32, protocols: &[&str]) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(last_year, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .unwrap();
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// The requests that a server received, by protocol.
type Got = Arc<Mutex<Vec<(Version, Bytes)>>>;
/// The pieces of a response, given by the test.
type Pieces = mpsc::UnboundedReceiver<Bytes>;

/// Answers each request with a separate stream that the test controls.
async fn serve(
    tls: TlsAcceptor,
) -> (
    Url,
    Got,
    mpsc::UnboundedReceiver<mpsc::UnboundedSender<Bytes>>,
) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let got = Got::default();
    let (answers, asked) = mpsc::unbounded_channel();
    let keeps = Arc::clone(&got);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (tls, keeps, answers) = (tls.clone(), Arc::clone(&keeps), answers.clone());
            tokio::spawn(async move {
                let Ok(stream) = tls.accept(stream).await else {
                    return;
                };
                let second = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let service = service_fn(move |request: Request<Incoming>| {
                    let (keeps, answers) = (Arc::clone(&keeps), answers.clone());
                    async move {
                        let version = request.version();
                        let body = request.into_body().collect().await?.to_bytes();
                        keeps.lock().unwrap().push((version, body));
                        let (sender, pieces) = mpsc::unbounded_channel();
                        answers.send(sender).unwrap();
                        Ok::<_, hyper::Error>(streamed(pieces))
                    }
                });
                // The gateway may disconnect at any time.
                let io = TokioIo::new(stream);
                if second {
                    let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection(io, service).await;
                } else {
                    let builder = hyper::server::conn::http1::Builder::new();
                    let _ = builder.serve_connection(io, service).await;
                }
            });
        }
    });
    let url = Url::parse(&format!("https://localhost:{port}/")).unwrap();
    (url, got, asked)
}

fn streamed(
    pieces: Pieces,
) -> Response<impl http_body::Body<Data = Bytes, Error = std::io::Error>> {
    let frames = futures_util::stream::unfold(pieces, |mut pieces| async {
        let piece = pieces.recv().await?;
        Some((Ok(Frame::data(piece)), pieces))
    });
    Response::builder()
        .header("content-type", "text/event-stream")
        .header("x-from", "upstream")
        .body(StreamBody::new(frames))
        .unwrap()
}

async fn trusting(url: Url, authority: &Authority) -> Gateway {
    let mut options = options(url);
    options.upstream_ca = Some(authority.pem.clone());
    Gateway::start(options).await.unwrap()
}

fn request() -> Vec<u8> {
    let messages = json!([{"role": "user", "content": "grüße"}]);
    post(
        "/v1/messages?beta=true",
        "x-api-key: k\r\n",
        &support::body(&messages),
    )
}

async fn read_until(client: &mut TcpStream, seen: &mut Vec<u8>, end: &[u8]) {
    while !seen.windows(end.len()).any(|part| part == end) {
        assert_ne!(client.read_buf(seen).await.unwrap(), 0);
    }
}

async fn passes_bytes_and_streams(protocols: &[&str], version: Version) {
    let authority = Authority::new("ours");
    let tls = authority.server("localhost", 4_000, protocols);
    let (url, got, mut asked) = serve(tls).await;
    let gateway = trusting(url, &authority).await;
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&request()).await.unwrap();
    let answer = asked.recv().await.unwrap();
    let mut seen = Vec::new();
    for event in [
        "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n",
        "event: message_delta\ndata: {\"usage\":{\"output_tokens\":7}}\n\n",
    ] {
        // The next is not sent before this one has arrived.
        answer.send(Bytes::from(event)).unwrap();
        read_until(&mut client, &mut seen, event.as_bytes()).await;
    }
    drop(answer);
    read_until(&mut client, &mut seen, b"0\r\n\r\n").await;
    assert!(String::from_utf8_lossy(&seen).contains("x-from: upstream"));
    let (spoken, body) = got.lock().unwrap().pop().unwrap();
    assert_eq!(spoken, version);
    assert!(request().ends_with(&body) && !body.is_empty());
    let all = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 1).await;
    assert_eq!(all["sessions"][0]["output_tokens"], 7);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_tls_over_http_1_passes_bytes_and_streams() {
    passes_bytes_and_streams(&["http/1.1"], Version::HTTP_11).await;
    // A server that does not negotiate a protocol.
    passes_bytes_and_streams(&[], Version::HTTP_11).await;
}

#[tokio::test]
async fn x8_tls_over_http_2_passes_bytes_and_streams() {
    passes_bytes_and_streams(&["h2", "http/1.1"], Version::HTTP_2).await;
}

#[tokio::test]
async fn x8_clients_that_read_slowly_hold_nobody_up_on_the_same_connection() {
    const LONG: usize = 32 << 20;
    let authority = Authority::new("ours");
    let (url, got, mut asked) = serve(authority.server("localhost", 4_000, &["h2"])).await;
    let gateway = trusting(url, &authority).await;
    let mut slow = Vec::new();
    for _ in 0..8 {
        let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
        client.write_all(&request()).await.unwrap();
        let answer = asked.recv().await.unwrap();
        answer.send(Bytes::from(vec![b'x'; LONG])).unwrap();
        // It begins to read and then stops.
        read_head(&mut client).await.unwrap();
        slow.push((client, answer));
    }
    // Let the long answers fill whatever they can.
    for turn in 0..20 {
        let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
        client.write_all(&request()).await.unwrap();
        let answer = asked.recv().await.unwrap();
        answer
            .send(Bytes::from(format!("turn {turn} {}", "y".repeat(100_000))))
            .unwrap();
        drop(answer);
        read_until(&mut client, &mut Vec::new(), b"0\r\n\r\n").await;
    }
    assert!(
        got.lock()
            .unwrap()
            .iter()
            .all(|(version, _)| *version == Version::HTTP_2)
    );
    drop(slow);
    gateway.stop().await;
}

/// The error of a gateway whose upstream cannot be used.
async fn refused(gateway: &Gateway, host: &str) -> String {
    let answer = exchange(gateway.addr(), &request()).await;
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    let error: Value = serde_json::from_str(body_of(&answer)).unwrap();
    assert_eq!(error["error"]["type"], "api_error");
    let message = error["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(host), "{message}");
    message
}

#[tokio::test]
async fn x8_a_certificate_that_is_not_good_is_told_with_what_to_do() {
    let (authority, other) = (Authority::new("ours"), Authority::new("other"));
    let made_anew = Authority::new("ours");
    for (name, last_year, trusted, told) in [
        ("localhost", 4_000, &other, "--upstream-ca"),
        ("localhost", 4_000, &made_anew, "--upstream-ca"),
        ("localhost", 2_001, &authority, "expired"),
        ("elsewhere.test", 4_000, &authority, "another name"),
    ] {
        let (url, got, _) = serve(authority.server(name, last_year, &["h2"])).await;
        let gateway = trusting(url, trusted).await;
        let message = refused(&gateway, "localhost:").await;
        assert!(message.contains(told), "{message}");
        assert!(got.lock().unwrap().is_empty());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn x8_a_server_that_speaks_tls_where_http_is_expected_is_told_and_the_other_way_round() {
    let authority = Authority::new("ours");
    let (mut url, ..) = serve(authority.server("localhost", 4_000, &["http/1.1"])).await;
    url.set_scheme("http").unwrap();
    let gateway = Gateway::start(options(url)).await.unwrap();
    let message = refused(&gateway, "localhost:").await;
    assert!(message.contains("https://"), "{message}");
    gateway.stop().await;
    let mut upstream = Upstream::start().await;
    let mut url = upstream.url();
    url.set_scheme("https").unwrap();
    // Servers answer like this to what they cannot read.
    tokio::spawn(async move {
        let mut stream = upstream.next().await;
        let mut greeting = [0; 16];
        stream.read_exact(&mut greeting).await.unwrap();
        let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        stream.read_to_end(&mut Vec::new()).await
    });
    let gateway = trusting(url, &authority).await;
    let message = refused(&gateway, "127.0.0.1:").await;
    assert!(message.contains("http://"), "{message}");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_server_that_is_silent_about_tls_is_given_up() {
    let upstream = Upstream::start().await;
    let SocketAddr::V4(addr) = upstream.addr else {
        panic!("an address of this machine");
    };
    let mut options = options(Url::parse(&format!("https://{addr}")).unwrap());
    options.upstream_ca = Some(Authority::new("ours").pem);
    options.timeouts.connect = Duration::from_millis(30);
    let gateway = Gateway::start(options).await.unwrap();
    let message = refused(&gateway, &addr.to_string()).await;
    assert!(message.contains("too long"), "{message}");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_roots_that_are_none_keep_it_from_starting() {
    for (pem, told) in [
        (&b"nothing"[..], "PEM"),
        (
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "TLS",
        ),
    ] {
        let mut options = options(Url::parse("https://localhost:1").unwrap());
        options.upstream_ca = Some(pem.to_vec());
        let error = Gateway::start(options).await.unwrap_err();
        assert!(matches!(error, StartError::Upstream(_)), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
}
