//! The gateways that this user runs, found through private files below LONGHAUL_HOME.
//!
//! `longhaul serve` writes one while it runs, if it listens on this machine alone and anybody here may send it requests.
//! The file holds a secret, and a gateway counts only once it has answered a challenge with it: an agent's keys must never
//! reach another user's program that listens where a gateway used to.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_gateway::proof::{GatewayProof, PROOF_PATH};
use longhaul_provider::{Certificates, chain, http_client};
use longhaul_store::layout::Home;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::settings::CommandSettings;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// The folder, below LONGHAUL_HOME.
const FOLDER: &str = "gateway/running";
/// The largest file that is read.
const LARGEST: u64 = 16 << 10;
/// How long a gateway on this machine may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a file says of a gateway.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct GatewayFile {
    pid: u32,
    port: u16,
    url: String,
    upstream: String,
    secret: String,
}

/// A gateway of this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunningGateway {
    pub(crate) pid: u32,
    pub(crate) url: String,
    pub(crate) upstream: String,
}

/// A gateway that others of this user can find, until this is dropped.
#[derive(Debug)]
pub(crate) struct PublishedGateway(PathBuf);

impl Drop for PublishedGateway {
    fn drop(&mut self) {
        // A file that stays proves nothing once the process has ended.
        let _ = fs::remove_file(&self.0);
    }
}

fn folder(given: &CommandSettings) -> Option<PathBuf> {
    let home = Home::longhaul(&given.env).ok()?;
    Some(home.root().join(FOLDER))
}

/// Lets other programs of this user find the gateway at this address.
pub(crate) fn publish(
    given: &CommandSettings,
    url: &str,
    port: u16,
    upstream: &str,
    proof: &GatewayProof,
) -> io::Result<PublishedGateway> {
    let folder = folder(given).ok_or(io::ErrorKind::NotFound)?;
    remove_stale(&folder);
    let pid = std::process::id();
    let path = folder.join(format!("{pid}-{port}.json"));
    // One that is left of an earlier process with the same id may have other permissions.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    longhaul_store::create_private_file(&path)?;
    let file = GatewayFile {
        pid,
        port,
        url: url.to_owned(),
        upstream: normal(upstream),
        secret: proof.to_hex(),
    };
    fs::write(&path, serde_json::to_vec(&file)?)?;
    Ok(PublishedGateway(path))
}

/// An upstream as it is compared: `sim`, or a URL as URLs are written.
fn normal(upstream: &str) -> String {
    let url = url::Url::parse(upstream);
    let text = url.map_or_else(|_| upstream.to_owned(), |url| url.to_string());
    text.trim_end_matches('/').to_owned()
}

/// The gateways of this user that have proved themselves.
pub(crate) async fn find(given: &CommandSettings) -> Vec<RunningGateway> {
    let files = folder(given).map(|folder| files(&folder));
    let mut found = Vec::new();
    for (_, file) in files.unwrap_or_default() {
        if proves_itself(&file).await == Some(true) {
            found.push(RunningGateway {
                pid: file.pid,
                url: file.url,
                upstream: file.upstream,
            });
        }
    }
    found
}

/// Deletes the files of processes that have ended.
fn remove_stale(folder: &Path) {
    for (path, file) in files(folder) {
        if !system::is_alive(file.pid) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The files that only this user can have written.
fn files(folder: &Path) -> Vec<(PathBuf, GatewayFile)> {
    if !system::is_private(folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let readable = paths.filter(|path| system::is_private(path) && is_small(path));
    readable
        .filter_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            Some((path, serde_json::from_str(&text).ok()?))
        })
        .collect()
}

fn is_small(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() <= LARGEST)
}

/// Whether the process at the address knows the secret; `None` if nobody answers.
async fn proves_itself(file: &GatewayFile) -> Option<bool> {
    let url = url::Url::parse(&file.url).ok()?;
    let is_here = match url.host()? {
        url::Host::Ipv4(address) => address.is_loopback(),
        url::Host::Ipv6(address) => address.is_loopback(),
        url::Host::Domain(_) => false,
    };
    if !is_here || url.port() != Some(file.port) || !system::is_alive(file.pid) {
        return Some(false);
    }
    let proof = GatewayProof::of_hex(&file.secret)?;
    let challenge = GatewayProof::challenge().ok()?;
    let asked = format!("{}{PROOF_PATH}?challenge={challenge}", file.url);
    let answer = local_json(&asked, None).await.ok()?;
    let answer = answer["proof"].as_str().unwrap_or_default();
    Some(proof.accepts(file.pid, file.port, &challenge, answer))
}

/// The JSON that a gateway on this machine answers. Never asked through a proxy.
pub(crate) async fn local_json(url: &str, token: Option<&str>) -> Result<Value, String> {
    let client = http_client(Certificates::None, None).map_err(|error| error.to_string())?;
    let told = |error| chain(&error);
    let client = client
        .timeout(PATIENCE)
        .build()
        .map_err(|error| told(error.without_url()))?;
    let mut request = client.get(url);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request
        .send()
        .await
        .map_err(|error| told(error.without_url()))?;
    let status = answer.status();
    let body = answer
        .bytes()
        .await
        .map_err(|error| told(error.without_url()))?;
    if !status.is_success() {
        return Err(format!("it answered {status}"));
    }
    serde_json::from_slice(&body).map_err(|error| error.to_string())
}
