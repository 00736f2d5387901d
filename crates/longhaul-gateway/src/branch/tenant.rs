//! Tenants own conversations. A tenant is a keyed hash of all credentials that a request carries, or of the
//! organization that the upstream says they belong to, because tokens rotate and organizations stay.
//!
//! The credentials themselves are never stored. The secret of the hash is in a private file beside the store, so a copy
//! of the store alone does not even reveal whether a known key was used.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use http::HeaderMap;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::credentials::Credentials;
use super::key::HistoryKey;
use super::seal::SealKey;

/// The owner of conversations: 64 bits of a keyed hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(pub u64);

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The secret cannot be read or created.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the secret {}: {source}; delete it to begin anew, or choose another store", path.display())]
pub struct TenantError {
    path: PathBuf,
    source: io::Error,
}

const SECRET_BYTES: usize = 32;
/// How many organizations are remembered.
const MOST_KNOWN: usize = 100_000;

/// Tells tenants apart.
#[derive(Clone)]
pub struct Tenants {
    secret: hmac::Key,
    organizations: HashMap<Tenant, Tenant>,
}

impl fmt::Debug for Tenants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenants").finish_non_exhaustive()
    }
}

impl Tenants {
    /// Tenants with a secret that is forgotten when the process ends.
    pub fn passing() -> Self {
        Self::of_secret(&drawn().unwrap_or([7; SECRET_BYTES]))
    }

    /// Tenants with the secret in a file, which is created as a private file if it is missing.
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
            organizations: HashMap::new(),
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

    /// The hash of the credentials in a request's headers, as they are passed on. Requests without credentials share
    /// one hash.
    pub fn of_key(&self, headers: &HeaderMap) -> Tenant {
        self.of(&Credentials::of(headers, None))
    }

    /// The hash of a request's credentials. Requests without credentials share one hash.
    pub fn of(&self, credentials: &Credentials) -> Tenant {
        let mut text = Vec::new();
        for (name, value) in credentials.iter() {
            for part in [name.as_bytes(), value] {
                text.extend((part.len() as u64).to_le_bytes());
                text.extend(part);
            }
        }
        self.hash(b"credentials\0", &text)
    }

    /// A tenant of a single call, for a caller without credentials.
    pub fn nobody(&self, call: u64) -> Tenant {
        self.hash(b"nobody\0", &call.to_le_bytes())
    }

    /// The key of the hash that identifies histories.
    pub(crate) fn history_key(&self) -> HistoryKey {
        HistoryKey::new(self.derived(b"history\0"))
    }

    /// The key with which summaries and notes are sealed in the store.
    pub fn seal_key(&self) -> SealKey {
        SealKey::new(&self.derived(b"seal\0"))
    }

    fn derived(&self, purpose: &[u8]) -> [u8; SECRET_BYTES] {
        let tag = hmac::sign(&self.secret, purpose);
        tag.as_ref().first_chunk().copied().unwrap_or_default()
    }

    /// The tenant of a request: the organization that its key is known to belong to, otherwise the key itself.
    pub fn whose(&self, of_key: Tenant) -> Tenant {
        self.organizations.get(&of_key).copied().unwrap_or(of_key)
    }

    /// Records the organization that, according to the upstream, a key belongs to. Returns the tenant to use from now
    /// on, if that is new.
    pub(crate) fn belongs_to(&mut self, of_key: Tenant, organization: &[u8]) -> Option<Tenant> {
        let tenant = self.hash(b"organisation\0", organization);
        if self.organizations.get(&of_key) == Some(&tenant) {
            return None;
        }
        self.know(of_key, tenant);
        Some(tenant)
    }

    /// Adds a mapping that was learned before.
    pub fn know(&mut self, of_key: Tenant, tenant: Tenant) {
        if self.organizations.len() >= MOST_KNOWN {
            self.organizations.clear();
        }
        self.organizations.insert(of_key, tenant);
    }
}

fn drawn() -> io::Result<[u8; SECRET_BYTES]> {
    let mut secret = [0; SECRET_BYTES];
    SystemRandom::new()
        .fill(&mut secret)
        .map_err(|_| io::Error::other("the system gives no random bytes"))?;
    Ok(secret)
}
