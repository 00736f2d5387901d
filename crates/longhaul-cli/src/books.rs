//! Which store the gateway keeps its books in: a file, nothing, or a server that several gateways share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_gateway::line::Tenants;
use longhaul_gateway::store::{Memory, Peers, Postgres, Sqlite, Storage};
use longhaul_store::layout::Home;

use crate::failure::Failure;
use crate::settings::Given;

/// Below LONGHAUL_HOME.
const BOOKS: &str = "gateway/books.sqlite";

/// A store, with the secret that belongs to it.
pub(crate) struct Books {
    pub(crate) store: Arc<dyn Storage>,
    pub(crate) peers: Option<Arc<dyn Peers>>,
    pub(crate) tenants: Tenants,
}

/// Opens the store that a flag names, or the usual one. Must be called on a tokio runtime.
pub(crate) async fn open(named: Option<&str>, given: &Given) -> Result<Books, Failure> {
    let path = match named {
        Some("memory") => {
            return Ok(Books {
                store: Arc::new(Memory::new()?),
                peers: None,
                tenants: Tenants::passing(),
            });
        }
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            let store = Arc::new(Postgres::open(url).await?);
            return Ok(Books {
                tenants: store.tenants(),
                peers: Some(Arc::clone(&store) as Arc<dyn Peers>),
                store,
            });
        }
        Some(text) => match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => PathBuf::from(path),
            // The text may hold a password: what could be one is not repeated.
            _ => {
                let rest = text.rsplit('@').next().unwrap_or_default();
                return Err(Failure::NotAStore(rest.to_owned()));
            }
        },
        None => Home::longhaul(&given.env)?.root().join(BOOKS),
    };
    let mut secret = path.clone().into_os_string();
    secret.push(".secret");
    Ok(Books {
        store: Arc::new(Sqlite::open(&path)?),
        peers: None,
        tenants: Tenants::of_file(Path::new(&secret))?,
    })
}
