//! The store of the gateway's usage log and compacted prefixes: a file, memory, or a server that several gateways
//! share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::store::{
    GatewayStorage, InMemoryStore, PeerStore, PostgresStore, SqliteStore,
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

/// Opens the store that a flag names, or the default one. Must be called on a tokio runtime.
pub(crate) async fn open(
    named: Option<&str>,
    given: &CommandSettings,
) -> Result<GatewayStore, CliError> {
    let path = match named {
        Some("memory") => {
            return Ok(GatewayStore {
                store: Arc::new(InMemoryStore::new()?),
                peers: None,
                tenants: Tenants::passing(),
                lease: None,
            });
        }
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            let store = Arc::new(PostgresStore::open(url).await?);
            return Ok(GatewayStore {
                tenants: store.tenants(),
                peers: Some(Arc::clone(&store) as Arc<dyn PeerStore>),
                store,
                lease: None,
            });
        }
        Some(text) => match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => PathBuf::from(path),
            // The text may hold a password, so anything that could be one is not repeated.
            _ => {
                let rest = text.rsplit('@').next().unwrap_or_default();
                return Err(CliError::NotAStore(rest.to_owned()));
            }
        },
        None => Home::longhaul(&given.env)?.root().join(BOOKS),
    };
    let mut secret = path.clone().into_os_string();
    secret.push(".secret");
    let store = SqliteStore::open(&path)?;
    Ok(GatewayStore {
        store: Arc::new(store),
        peers: None,
        tenants: Tenants::of_file(Path::new(&secret))?,
        lease: lease(&path),
    })
}

/// Says so if another gateway uses the file. Both can work with it, but neither knows which summaries the other is
/// requesting.
fn lease(path: &Path) -> Option<Arc<Lease>> {
    match Lease::take(path) {
        Ok(lease) => Some(lease),
        Err(LeaseError::InUse(in_use)) => {
            warn(&format!(
                "{in_use}, too: each gateway may pay for the same summary. `--store` names another file, or a PostgreSQL server, which several gateways can share"
            ));
            None
        }
        Err(_) => None,
    }
}
