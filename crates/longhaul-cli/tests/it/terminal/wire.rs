//! The network traffic: a relay in front of the provider that keeps every request to the byte.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What came over each connection so far.
type Heard = Arc<Mutex<Vec<Arc<Mutex<Vec<u8>>>>>>;

/// A relay. It listens until the process ends.
pub(super) struct Wire {
    address: SocketAddr,
    heard: Heard,
}

impl Wire {
    /// Relays to a provider.
    pub(super) fn before(provider: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Heard::default();
        let keep = Arc::clone(&heard);
        std::thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                // If the provider is gone, the connection closes.
                let Ok(server) = TcpStream::connect(provider) else {
                    continue;
                };
                let bytes = Arc::new(Mutex::new(Vec::new()));
                keep.lock().unwrap().push(Arc::clone(&bytes));
                let (back_from, back_to) =
                    (server.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || relay(client, server, Some(&bytes)));
                std::thread::spawn(move || relay(back_from, back_to, None));
            }
        });
        Self { address, heard }
    }

    /// Where it listens.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The bodies of all requests for a reply, in the order of their connections and on each in order.
    pub(super) fn requests(&self) -> Vec<Vec<u8>> {
        let heard = self.heard.lock().unwrap();
        let connections = heard.iter().map(|bytes| bytes.lock().unwrap().clone());
        connections.flat_map(|bytes| bodies(&bytes)).collect()
    }
}

fn relay(mut from: TcpStream, mut to: TcpStream, keep: Option<&Mutex<Vec<u8>>>) {
    let mut bytes = [0; 16_384];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if let Some(keep) = keep {
            keep.lock().unwrap().extend_from_slice(&bytes[..count]);
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    // If one end is gone, the other must notice.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

/// The bodies of the calls in one connection's bytes. An incomplete one does not count.
fn bodies(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some(end) = find(bytes, b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let rest = &bytes[end + 4..];
        let field = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(':'));
            lines
                .find(|(field, _)| *field == name)
                .map(|(_, value)| value.trim().to_owned())
        };
        let length: usize = match (field("transfer-encoding"), field("content-length")) {
            (Some(coding), _) => panic!("a body in {coding}"),
            (None, Some(length)) => length.parse().unwrap(),
            (None, None) => 0,
        };
        if rest.len() < length {
            break;
        }
        let path = head.split_whitespace().nth(1).unwrap_or_default();
        if path.split('?').next() == Some("/v1/messages") {
            found.push(rest[..length].to_vec());
        }
        bytes = &rest[length..];
    }
    found
}

pub(super) fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|found| found == what)
}
