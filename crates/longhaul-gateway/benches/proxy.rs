//! The gateway against nginx as a plain reverse proxy, in one run: both with one thread, keep-alive, in front of the
//! same fixed upstream (another nginx), fed by the same eight clients with the same requests of a known conversation.
//!
//! Throughput is that of eight clients that send requests without a pause. Latency is that of one client: with eight,
//! both cores are busy and what is measured is the queue. Both are printed.
//!
//! `cargo bench -p longhaul-gateway --bench proxy [-- "50 KB"]`. Needs `nginx` on the PATH; without it, the benchmark
//! only reports that. `--profile=gateway:1` runs only the gateway, with one client, for a profiler. At the end, it
//! measures the resident memory of a thousand idle conversations. If `LONGHAUL_PEERS` names other proxies (`peers/mod.rs`), these
//! are measured instead, with one client and the smaller JSON request, in turns with nginx.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench talks and may fail loudly"
)]

mod peers;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::policy::RequestPolicy;
use longhaul_gateway::store::SqliteStore;
use url::Url;

const CLIENTS: usize = 8;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(1_000);

const JSON: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"Yes, that is done."}],"stop_reason":"end_turn","usage":{"input_tokens":12,"cache_read_input_tokens":12000,"cache_creation_input_tokens":200,"output_tokens":20}}"#;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let fixed = peers::upstream_port().unwrap_or_else(free_port);
    let plain = free_port();
    // Short, because nginx accepts parameters of at most 4,096 bytes.
    let events: String = std::iter::once(format!("event: message_start\\ndata: {{\\\"type\\\":\\\"message_start\\\",\\\"message\\\":{}}}\\n\\n", JSON.replace('"', "\\\"")))
        .chain((0..14).map(|n| format!("event: content_block_delta\\ndata: {{\\\"type\\\":\\\"content_block_delta\\\",\\\"index\\\":0,\\\"delta\\\":{{\\\"type\\\":\\\"text_delta\\\",\\\"text\\\":\\\"word {n}\\\"}}}}\\n\\n")))
        .collect();
    let upstream = nginx(
        folder.path(),
        "upstream",
        &format!(
            "server {{ listen 127.0.0.1:{fixed}; location /v1/messages {{ default_type application/json; return 200 '{JSON}'; }} \
             location /v1/stream {{ default_type text/event-stream; return 200 \"{events}\"; }} }}"
        ),
    );
    let Some(upstream) = upstream else {
        println!("skipped: nginx is not on the PATH (Debian: apt install nginx-light)");
        return;
    };
    let proxy = nginx(
        folder.path(),
        "proxy",
        &format!(
            "upstream fixed {{ server 127.0.0.1:{fixed}; keepalive 64; }}
             server {{ listen 127.0.0.1:{plain}; location / {{ proxy_pass http://fixed; proxy_http_version 1.1; proxy_set_header Connection ''; }} }}"
        ),
    )
    .unwrap();
    let gateway = start_gateway(folder.path(), fixed);
    wait_for(fixed);
    wait_for(plain);
    println!(
        "keep-alive, one serving thread each; medians of {ROUNDS} rounds of {} ms in turns",
        ROUND.as_millis()
    );
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let others = peers::of_environment();
    if !others.is_empty() {
        compare_peers(
            &request("/v1/messages", 50_000),
            at(fixed),
            at(plain),
            &others,
        );
        drop((upstream, proxy));
        std::process::exit(0);
    }
    for (what, path, size) in [
        ("50 KB, JSON", "/v1/messages", 50_000),
        ("800 KB, JSON", "/v1/messages", 800_000),
        ("50 KB, events", "/v1/stream", 50_000),
        ("800 KB, events", "/v1/stream", 800_000),
    ] {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| what.contains(wanted)) {
            continue;
        }
        // The stream is at another path of the upstream: the gateway uses it through its base path.
        let via_gateway = match path {
            "/v1/stream" => gateway.streaming,
            _ => gateway.plain,
        };
        let request = request("/v1/messages", size);
        let to_nginx = self::request(path, size);
        let servers = [
            ("direct", at(fixed), &to_nginx),
            ("nginx", at(plain), &to_nginx),
            ("gateway", via_gateway, &request),
            ("observe", gateway.observe, &request),
            ("off", gateway.off, &request),
        ];
        let looked_at =
            std::env::args().find_map(|arg| Some(arg.strip_prefix("--profile=")?.to_owned()));
        if let Some(looked_at) = looked_at {
            let (name, clients) = looked_at.split_once(':').unwrap_or((&looked_at, "8"));
            let looked_at = servers.iter().find(|(known, _, _)| *known == name);
            let (_, addr, request) = looked_at.unwrap();
            let rounds = (0..ROUNDS).map(|_| run(clients.parse().unwrap(), *addr, request));
            let it = median(rounds.collect());
            println!(
                "{what}: {:.0} req/s, p50 {:.0} µs, p99 {:.0} µs",
                it.rate, it.p50, it.p99
            );
            continue;
        }
        let mut alone: [Vec<Figures>; 5] = Default::default();
        let mut together: [Vec<Figures>; 5] = Default::default();
        for _ in 0..ROUNDS {
            for (at, (_, addr, request)) in servers.iter().enumerate() {
                alone[at].push(run(1, *addr, request));
                together[at].push(run(CLIENTS, *addr, request));
            }
        }
        let (alone, together) = (alone.map(median), together.map(median));
        println!("{what}");
        for (at, (name, _, _)) in servers.iter().enumerate() {
            let (one, all) = (&alone[at], &together[at]);
            println!(
                "  {name:<8} {CLIENTS} clients {:>7.0} req/s   p50 {:>6.0} µs   p99 {:>6.0} µs     one client p50 {:>6.0} µs   p99 {:>6.0} µs",
                all.rate, all.p50, all.p99, one.p50, one.p99
            );
        }
        let [_, nginx, ours, ..] = &together;
        println!("  throughput {:.2}x of nginx's", ours.rate / nginx.rate);
        for (who, [direct, nginx, ours, ..]) in [("one client", &alone), ("all clients", &together)]
        {
            let added = |of: fn(&Figures) -> f64| {
                (of(ours) - of(direct)) / (of(nginx) - of(direct)).max(1.0)
            };
            println!(
                "  {who}: added p50 {:.2}x, added p99 {:.2}x of nginx's",
                added(|it| it.p50),
                added(|it| it.p99)
            );
        }
    }
    idle_sessions(gateway.plain);
    drop((upstream, proxy));
    // The gateway's thread ends with the process.
    std::process::exit(0);
}

/// Measures other proxies with one client, in turns with the upstream itself and with nginx, and prints what each adds to a
/// request. What they add is compared within a round, because the machine may be busier in the next.
fn compare_peers(request: &[u8], direct: SocketAddr, nginx: SocketAddr, peers: &[peers::Peer]) {
    let mut rounds = vec![Vec::new(); peers.len() + 1];
    let addresses: Vec<SocketAddr> = std::iter::once(nginx)
        .chain(
            peers
                .iter()
                .map(|peer| peer.url.socket_addrs(|| None).unwrap()[0]),
        )
        .collect();
    for (peer, addr) in peers.iter().zip(&addresses[1..]) {
        if let Err(refusal) = first_answer(*addr, request) {
            println!("  {:<12} {refusal}", peer.name);
            return;
        }
    }
    for _ in 0..ROUNDS {
        let bare = run(1, direct, request).p50;
        for (rounds, addr) in rounds.iter_mut().zip(&addresses) {
            rounds.push(run(1, *addr, request).p50 - bare);
        }
    }
    let by_nginx = rounds[0].clone();
    let names = std::iter::once("nginx").chain(peers.iter().map(|peer| peer.name.as_str()));
    for (name, added) in names.zip(rounds) {
        let times: Vec<f64> = added
            .iter()
            .zip(&by_nginx)
            .map(|(it, nginx)| it / nginx.max(1.0))
            .collect();
        let ([least, middle, most], [fewest, usual, greatest]) = (spread(added), spread(times));
        println!(
            "  {name:<18} adds {middle:>9.0} µs ({least:.0} to {most:.0}), {usual:.1} times nginx's ({fewest:.1} to {greatest:.1})"
        );
    }
}

/// The least, the median and the greatest.
fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [
        values[0],
        values[values.len() / 2],
        values[values.len() - 1],
    ]
}

/// Whether a proxy answers at all; the error says what it does instead.
fn first_answer(addr: SocketAddr, request: &[u8]) -> Result<(), String> {
    let mut stream = TcpStream::connect(addr).map_err(|error| error.to_string())?;
    let patience = Some(Duration::from_secs(10));
    stream.set_read_timeout(patience).unwrap();
    let mut buffer = vec![0; 64 << 10];
    let read = stream
        .write_all(request)
        .and_then(|()| stream.read(&mut buffer));
    let read = read.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&buffer[..read]);
    match said.starts_with("HTTP/1.1 200") {
        true => Ok(()),
        false => Err(said.lines().next().unwrap_or("says nothing").to_owned()),
    }
}

/// An nginx that ends when it is dropped.
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

fn nginx(folder: &Path, name: &str, server: &str) -> Option<Nginx> {
    let folder = folder.join(name);
    std::fs::create_dir(&folder).unwrap();
    let at = folder.display();
    let conf = format!(
        "worker_processes 1; daemon off; pid {at}/pid; error_log {at}/error.log crit;
         events {{ worker_connections 1024; }}
         http {{ access_log off; keepalive_requests 100000000; client_max_body_size 300m; client_body_buffer_size 4m;
           client_body_temp_path {at}/body; proxy_temp_path {at}/proxy; fastcgi_temp_path {at}/f; uwsgi_temp_path {at}/u; scgi_temp_path {at}/s;
           {server} }}"
    );
    let file = folder.join("nginx.conf");
    std::fs::write(&file, conf).unwrap();
    let child = Command::new("nginx")
        .args(["-c", file.to_str().unwrap(), "-e", "stderr"])
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    Some(Nginx(child))
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn wait_for(port: u16) {
    let began = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "nginx does not start"
        );
        std::thread::yield_now();
    }
}

struct Gateways {
    plain: SocketAddr,
    streaming: SocketAddr,
    /// The gateway with the policy off: nothing is read or recorded.
    off: SocketAddr,
    /// The gateway with the policy to observe.
    observe: SocketAddr,
}

/// Two gateways on a separate thread: the second answers with a stream.
fn start_gateway(folder: &Path, fixed: u16) -> Gateways {
    let (sender, receiver) = std::sync::mpsc::channel();
    let books = ["one", "two", "three", "four"].map(|name| folder.join(name));
    let serving = std::thread::Builder::new().name("gateway".to_owned());
    let serve = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut running = Vec::new();
            for (books, base) in books.iter().zip(["", "/v1/stream", "", ""]) {
                let url = Url::parse(&format!("http://127.0.0.1:{fixed}{base}")).unwrap();
                let store = Arc::new(SqliteStore::open(books).unwrap());
                let mut options =
                    GatewayOptions::new(UpstreamChoice::Url(url), store, Tenants::passing());
                options.policies.otherwise = match running.len() {
                    2 => RequestPolicy::Off,
                    3 => RequestPolicy::Observe,
                    _ => RequestPolicy::Manage,
                };
                running.push(Gateway::start(options).await.unwrap());
            }
            sender
                .send(Gateways {
                    plain: running[0].addr(),
                    streaming: running[1].addr(),
                    off: running[2].addr(),
                    observe: running[3].addr(),
                })
                .unwrap();
            std::future::pending::<()>().await;
        });
    };
    serving.spawn(serve).unwrap();
    receiver.recv().unwrap()
}

/// A request of a conversation of about this many bytes.
fn request(path: &str, size: usize) -> Vec<u8> {
    raw(path, &body(size, "the same conversation"))
}

fn body(size: usize, about: &str) -> String {
    let text = "fn main() { println!(\\\"words of a tool result\\\"); }\\n".repeat(30);
    let mut messages = format!(r#"{{"role":"user","content":"{about}"}}"#);
    while messages.len() < size {
        messages += &format!(
            r#",{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"Read","input":{{"path":"a"}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{text}"}}]}}"#
        );
    }
    format!(
        r#"{{"model":"claude-opus-5-5","max_tokens":1000,"system":"be brief","messages":[{messages}],"stream":false}}"#
    )
}

fn raw(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: sk-bench\r\nAnthropic-Version: 2023-06-01\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

struct Figures {
    rate: f64,
    p50: f64,
    p99: f64,
}

/// This many clients for one round.
fn run(clients: usize, addr: SocketAddr, request: &[u8]) -> Figures {
    let began = Instant::now();
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..clients)
            .map(|_| scope.spawn(|| client(addr, request, began)))
            .collect();
        clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect()
    });
    let spent = began.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    Figures {
        rate: times.len() as f64 / spent,
        p50: at(0.5),
        p99: at(0.99),
    }
}

fn client(addr: SocketAddr, request: &[u8], began: Instant) -> Vec<f64> {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut times = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    while began.elapsed() < ROUND {
        let start = Instant::now();
        stream.write_all(request).unwrap();
        read_answer(&mut stream, &mut buffer);
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times
}

fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) {
    let mut filled = 0;
    loop {
        let count = stream.read(&mut buffer[filled..]).unwrap();
        assert_ne!(count, 0, "the connection was closed");
        filled += count;
        let Some(head) = buffer[..filled]
            .windows(4)
            .position(|part| part == b"\r\n\r\n")
        else {
            continue;
        };
        let text = std::str::from_utf8(&buffer[..head]).unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        let field = |name: &str| {
            text.lines()
                .find_map(|line| Some(line.to_ascii_lowercase().strip_prefix(name)?.to_owned()))
        };
        let is_whole = match field("content-length: ") {
            Some(length) => filled >= head + 4 + length.parse::<usize>().unwrap(),
            // In chunks, the last of which is empty.
            None => buffer[..filled].ends_with(b"\r\n0\r\n\r\n"),
        };
        if is_whole {
            return;
        }
    }
}

fn median(mut rounds: Vec<Figures>) -> Figures {
    let mut middle = |of: fn(&Figures) -> f64| {
        rounds.sort_by(|a, b| of(a).total_cmp(&of(b)));
        of(&rounds[rounds.len() / 2])
    };
    Figures {
        rate: middle(|it| it.rate),
        p50: middle(|it| it.p50),
        p99: middle(|it| it.p99),
    }
}

/// Resident memory before and after a thousand conversations.
fn idle_sessions(addr: SocketAddr) {
    const SESSIONS: usize = 1_000;
    let mut stream = TcpStream::connect(addr).unwrap();
    let mut buffer = vec![0; 64 << 10];
    let mut talk = |from: usize, count: usize| {
        for number in from..from + count {
            let request = raw(
                "/v1/messages",
                &body(50_000, &format!("conversation {number}")),
            );
            stream.write_all(&request).unwrap();
            read_answer(&mut stream, &mut buffer);
        }
    };
    talk(0, 200);
    settle();
    let before = resident();
    talk(1_000, SESSIONS);
    settle();
    let grown = resident().saturating_sub(before);
    println!(
        "{SESSIONS} idle conversations of 50 KB: {:.1} KB resident each",
        grown as f64 / 1_000.0 / SESSIONS as f64
    );
}

/// Waits until the usage log is written.
fn settle() {
    std::thread::sleep(Duration::from_millis(500));
}

/// Resident bytes of this process.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4_096
}
