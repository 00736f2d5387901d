//! A scripted server: one script per connection, on a separate thread and so outside of paused time.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What to do with a connection once its request has been read.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Read another request from the same connection.
    NextRequest,
    /// Wait in real time.
    Pause(Duration),
    /// Send nothing more until the client is gone.
    Stall,
}

/// How a connection is handled.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    acts: Vec<Act>,
    /// Leave the body unread, so that closing the connection resets it.
    reset: bool,
}

impl Script {
    pub(crate) fn new(acts: Vec<Act>) -> Self {
        Self { acts, reset: false }
    }

    pub(crate) fn send(text: impl Into<String>) -> Self {
        Self::new(vec![Act::Send(text.into().into_bytes())])
    }

    pub(crate) fn then_reset(mut self) -> Self {
        self.acts.push(Act::Pause(Duration::from_millis(30)));
        self.reset = true;
        self
    }

    pub(crate) fn then_stall(mut self) -> Self {
        self.acts.push(Act::Stall);
        self
    }
}

/// A plain response.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Script {
    let length = body.len();
    Script::send(format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}

/// An event stream that ends when the connection does.
pub(crate) fn events(body: &str) -> Script {
    Script::send(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_1\r\nconnection: close\r\n\r\n{body}"
    ))
}

#[derive(Debug, Default)]
struct Seen {
    requests: Mutex<Vec<String>>,
    answered: AtomicUsize,
    stalled: AtomicBool,
    left: AtomicBool,
}

/// The server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
}

impl Server {
    /// Serves as many connections as there are scripts, in order.
    pub(crate) fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for script in scripts {
                let Ok((connection, _)) = listener.accept() else {
                    return;
                };
                serve(connection, script, &shared);
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, headers and bodies.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// How many scripts have been played to their end.
    pub(crate) fn answered(&self) -> usize {
        self.seen.answered.load(Ordering::SeqCst)
    }

    /// Whether a script has reached its stall.
    pub(crate) fn stalled(&self) -> bool {
        self.seen.stalled.load(Ordering::SeqCst)
    }

    /// Waits until the client has closed a connection that stalled.
    pub(crate) fn wait_until_left(&self) {
        for _ in 0..500 {
            if self.seen.left.load(Ordering::SeqCst) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the client holds the connection");
    }
}

fn serve(mut connection: TcpStream, script: Script, seen: &Seen) {
    let request = read_request(&mut connection, script.reset);
    seen.requests.lock().unwrap().push(request);
    for act in script.acts {
        match act {
            Act::Send(bytes) => {
                // The client may have hung up, which is the point of some tests.
                let _ = connection.write_all(&bytes);
            }
            Act::NextRequest => {
                let request = read_request(&mut connection, false);
                seen.requests.lock().unwrap().push(request);
            }
            Act::Pause(length) => std::thread::sleep(length),
            Act::Stall => {
                seen.stalled.store(true, Ordering::SeqCst);
                let mut rest = [0];
                while connection.read(&mut rest).is_ok_and(|count| count > 0) {}
                seen.left.store(true, Ordering::SeqCst);
            }
        }
    }
    seen.answered.fetch_add(1, Ordering::SeqCst);
}

fn read_request(connection: &mut TcpStream, head_only: bool) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).is_ok_and(|count| count > 0) {
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    if head_only {
        return head;
    }
    let length = head
        .lines()
        .find_map(|line| {
            line.to_lowercase()
                .strip_prefix("content-length: ")
                .map(str::to_owned)
        })
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    connection.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}
