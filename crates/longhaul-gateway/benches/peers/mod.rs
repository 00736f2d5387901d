//! Other proxies that a bench compares with ours: started by whoever runs the bench, and known to it by their address.
//!
//! `LONGHAUL_PEERS` lists them as `name=URL,name=URL`. The bench's upstream then listens on the port
//! `LONGHAUL_PEERS_UPSTREAM` of this machine, so that a proxy can be started with it as its provider before the bench
//! runs. docs/benchmarks.md has the commands.

use url::Url;

/// A proxy to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) name: String,
    /// The address without a path: the paths of the Messages API are added to it.
    pub(crate) url: Url,
}

/// The proxies of the environment, in their order.
pub(crate) fn of_environment() -> Vec<Peer> {
    let named = std::env::var("LONGHAUL_PEERS").unwrap_or_default();
    named
        .split(',')
        .filter(|peer| !peer.trim().is_empty())
        .map(|peer| {
            let (name, url) = peer
                .split_once('=')
                .expect("LONGHAUL_PEERS is a list of name=URL");
            Peer {
                name: name.trim().to_owned(),
                url: Url::parse(url.trim()).expect("a peer has the address of a server"),
            }
        })
        .collect()
}

/// The port on which proxies expect the upstream; without proxies any free one will do.
pub(crate) fn upstream_port() -> Option<u16> {
    let port = std::env::var("LONGHAUL_PEERS_UPSTREAM").ok()?;
    Some(port.parse().expect("LONGHAUL_PEERS_UPSTREAM is a port"))
}
