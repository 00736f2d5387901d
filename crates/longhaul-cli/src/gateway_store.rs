//! The store of the gateway's usage log and compacted prefixes: a file, memory, or a server that several gateways
//! share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::store::{
    GatewayStorage, InMemoryStore, PeerStore, SqliteStore, is_server_url, open_shared_store,
};
use longhaul_store::layout::Home;
use longhaul_store::{Lease, LeaseError};

use crate::failure::{CliError, warn};
use crate::settings::CommandSettings;

/// The default database, below LONGHAUL_HOME.
const BOOKS: &str = "gateway/books.sqlite";

/// A store, with the secret that belongs to it.
pub(crate) struct GatewayStore {
    pub(crate) store: Arc<dyn GatewayStorage>,
    pub(crate) peers: Option<Arc<dyn PeerStore>>,
    pub(crate) tenants: Tenants,
    /// Tells another gateway that this one uses the file.
    pub(crate) lease: Option<Arc<Lease>>,
}

/// Whether it is said that another gateway uses the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharedStoreNotice {
    Told,
    Quiet,
}

/// The file of the store that a flag names, or of the default one; `None` if it is not in a file.
pub(crate) fn file(
    named: Option<&str>,
    given: &CommandSettings,
) -> Result<Option<PathBuf>, CliError> {
    match named {
        Some("memory") => Ok(None),
        Some(url) if is_server_url(url) => Ok(None),
        Some(text) => match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => Ok(Some(PathBuf::from(path))),
            // The text may hold a password, so anything that could be one is not repeated.
            _ => {
                let rest = text.rsplit('@').next().unwrap_or_default();
                Err(CliError::NotAStore(rest.to_owned()))
            }
        },
        None => Ok(Some(Home::longhaul(&given.env)?.root().join(BOOKS))),
    }
}

/// The file with the secret of a store.
pub(crate) fn secret_of(path: &Path) -> PathBuf {
    let mut secret = path.to_owned().into_os_string();
    secret.push(".secret");
    PathBuf::from(secret)
}

/// Opens the store that a flag names, or the default one. Must be called on a tokio runtime.
pub(crate) async fn open(
    named: Option<&str>,
    given: &CommandSettings,
    notice: SharedStoreNotice,
) -> Result<GatewayStore, CliError> {
    match named {
        Some("memory") => {
            return Ok(GatewayStore {
                store: Arc::new(InMemoryStore::new()?),
                peers: None,
                tenants: Tenants::passing(),
                lease: None,
            });
        }
        Some(url) if is_server_url(url) => {
            let shared = open_shared_store(url).await?;
            return Ok(GatewayStore {
                store: shared.store,
                peers: Some(shared.peers),
                tenants: shared.tenants,
                lease: None,
            });
        }
        _ => {}
    }
    let path = file(named, given)?.unwrap_or_default();
    // A link to a file is the same store, with the same secret.
    let path = longhaul_store::real_path(&path).unwrap_or(path);
    let store = SqliteStore::open(&path)?;
    Ok(GatewayStore {
        store: Arc::new(store),
        peers: None,
        tenants: Tenants::of_file(&secret_of(&path))?,
        lease: lease(&path, notice),
    })
}

/// Says so if another gateway uses the file. Both can work with it, but neither knows which conversations the other has
/// begun, nor what it makes smaller.
fn lease(path: &Path, notice: SharedStoreNotice) -> Option<Arc<Lease>> {
    match Lease::take(path) {
        Ok(lease) => Some(lease),
        Err(LeaseError::InUse(in_use)) if notice == SharedStoreNotice::Told => {
            warn(&format!(
                "{in_use}, too. Gateways on one file know nothing of each other: a conversation that goes through both is begun twice, and each makes it smaller and pays for that. Use PostgreSQL (`--store postgres://…`), which several gateways can share, or another file"
            ));
            None
        }
        Err(_) => None,
    }
}
