//! The offline model's prompt cache is kept beside the session, so that it is as warm in the next process as a
//! provider's would be: entries live for their own five minutes or hour, wherever the program is meanwhile.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use jiff::Timestamp;
use longhaul_sim::cache::KeptCacheEntry;
use serde::{Deserialize, Serialize};

use super::OfflineServer;
use crate::agent::SessionListener;

/// The name of the file in the session's folder.
const FILE: &str = "offline-cache.json";
/// The maximum number of entries that are kept; a request writes at most four.
const MOST: usize = 1_000;
/// The maximum number of bytes that are read.
const LARGEST: u64 = 1 << 20;

/// The file's content.
#[derive(Serialize, Deserialize)]
struct KeptCache {
    /// When it was written.
    at: Timestamp,
    entries: Vec<KeptCacheEntry>,
}

impl SessionListener for OfflineServer {
    fn opened(&self, folder: &Path) {
        match read(&folder.join(FILE)) {
            Ok(kept) => {
                let ago = Timestamp::now().duration_since(kept.at).as_millis();
                // A clock that was set back makes nothing younger.
                let ago = u64::try_from(ago).unwrap_or_default();
                let server = self.server();
                server.with_world(|world| world.take_in_cache(&kept.entries, ago));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Without it, the first request costs more, as it does with a provider whose cache has expired.
            Err(error) => tracing::debug!(%error, "the kept cache cannot be read"),
        }
    }

    fn rested(&self, folder: &Path) {
        let entries = self.server().with_world(|world| world.kept_cache(MOST));
        let kept = KeptCache {
            at: Timestamp::now(),
            entries,
        };
        if folder.is_dir()
            && let Err(error) = write(folder, &kept)
        {
            tracing::debug!(%error, "the cache cannot be kept");
        }
    }
}

fn read(path: &Path) -> io::Result<KeptCache> {
    let mut text = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn write(folder: &Path, kept: &KeptCache) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(kept)?)?;
    file.persist(folder.join(FILE))?;
    Ok(())
}
