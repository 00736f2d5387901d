//! Whose conversations they are: a keyed hash of the client's key, or of the organisation that the upstream says it
//! belongs to, since tokens rotate and organisations stay.
//!
//! The key itself is never kept. The secret of the hash lies in a private file beside the store, so that a copy of the
//! store alone does not even tell whether a known key was used.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use http::{HeaderMap, header};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// Whose conversations: 64 bits of a keyed hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(pub u64);

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The secret cannot be read or made.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the secret {}: {source}; delete it to begin anew, or choose another store", path.display())]
pub struct TenantError {
    path: PathBuf,
    source: io::Error,
}

const SECRET_BYTES: usize = 32;
/// Organisations that are remembered.
const MOST_KNOWN: usize = 100_000;

/// Tells tenants apart.
pub struct Tenants {
    secret: hmac::Key,
    organisations: HashMap<Tenant, Tenant>,
}

impl fmt::Debug for Tenants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenants").finish_non_exhaustive()
    }
}

impl Tenants {
    /// With a secret that is forgotten when the process ends.
    pub fn passing() -> Self {
        Self::of_secret(&drawn().unwrap_or([7; SECRET_BYTES]))
    }

    /// With the secret in a file, which is made, private, if it is missing.
    pub fn of_file(path: &Path) -> Result<Self, TenantError> {
        let failed = |source| TenantError {
            path: path.to_owned(),
            source,
        };
        longhaul_store::create_private_file(path).map_err(failed)?;
        let mut secret = fs::read(path).map_err(failed)?;
        if secret.is_empty() {
            secret = drawn().map_err(failed)?.to_vec();
            fs::write(path, &secret).map_err(failed)?;
        }
        if secret.len() != SECRET_BYTES {
            let wrong = io::Error::new(io::ErrorKind::InvalidData, "it is not 32 bytes long");
            return Err(failed(wrong));
        }
        Ok(Self::of_secret(&secret))
    }

    pub(crate) fn of_secret(secret: &[u8]) -> Self {
        Self {
            secret: hmac::Key::new(hmac::HMAC_SHA256, secret),
            organisations: HashMap::new(),
        }
    }

    fn hash(&self, kind: &[u8], text: &[u8]) -> Tenant {
        let mut context = hmac::Context::with_key(&self.secret);
        context.update(kind);
        context.update(text);
        let tag = context.sign();
        let first = tag.as_ref().first_chunk().copied().unwrap_or_default();
        Tenant(u64::from_le_bytes(first))
    }

    /// The hash of a request's key: `x-api-key`, else `authorization`, else that of having none.
    pub fn of_key(&self, headers: &HeaderMap) -> Tenant {
        let key = headers
            .get("x-api-key")
            .or_else(|| headers.get(header::AUTHORIZATION));
        let key = key.map(http::HeaderValue::as_bytes).unwrap_or_default();
        self.hash(b"key\0", key.strip_prefix(b"Bearer ").unwrap_or(key))
    }

    /// Whose request it is: the organisation that the key is known to belong to, else the key's own.
    pub fn whose(&self, of_key: Tenant) -> Tenant {
        self.organisations.get(&of_key).copied().unwrap_or(of_key)
    }

    /// The upstream says which organisation a key belongs to. The tenant to use from now on, if that is news.
    pub fn belongs_to(&mut self, of_key: Tenant, organisation: &[u8]) -> Option<Tenant> {
        let tenant = self.hash(b"organisation\0", organisation);
        if self.organisations.get(&of_key) == Some(&tenant) {
            return None;
        }
        self.know(of_key, tenant);
        Some(tenant)
    }

    /// Takes what was learned before.
    pub fn know(&mut self, of_key: Tenant, tenant: Tenant) {
        if self.organisations.len() >= MOST_KNOWN {
            self.organisations.clear();
        }
        self.organisations.insert(of_key, tenant);
    }
}

fn drawn() -> io::Result<[u8; SECRET_BYTES]> {
    let mut secret = [0; SECRET_BYTES];
    SystemRandom::new()
        .fill(&mut secret)
        .map_err(|_| io::Error::other("the system gives no random bytes"))?;
    Ok(secret)
}
