//! A storage in memory, for trying things out and for tests.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::{AppendPosition, BlockingWrites, Storage, StorageError};

/// Stores a session in memory. A host that keeps a clone of `Arc<MemoryStorage>` can look at the lines, or open the
/// session again:
///
/// ```
/// use std::sync::Arc;
///
/// use longhaul::{MemoryStorage, Prompt, Reply, Session, model_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let storage = Arc::new(MemoryStorage::new());
/// let mut session = Session::builder()
///     .model(model_fn(|_| async { Ok(Reply::from_text("Hello.")) }))
///     .prompt(Prompt::new("claude-sonnet-4-6", "You are polite."))
///     .storage(storage.clone())
///     .open()?;
/// session.say("Hi").await?;
/// session.turn().await?;
/// assert!(storage.lines().iter().any(|line| line.windows(6).any(|six| six == b"Hello.")));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct MemoryStorage {
    lines: Mutex<Vec<Bytes>>,
}

impl MemoryStorage {
    /// Creates a storage for a new session.
    pub fn new() -> Self {
        Self::default()
    }

    /// The lines so far.
    pub fn lines(&self) -> Vec<Bytes> {
        self.slot().clone()
    }

    fn slot(&self) -> MutexGuard<'_, Vec<Bytes>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for MemoryStorage {
    fn load(&self) -> Result<Vec<Bytes>, StorageError> {
        Ok(self.lines())
    }

    fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError> {
        self.slot().extend_from_slice(lines);
        Ok(AppendPosition::AfterLast)
    }

    fn blocking_writes(&self) -> BlockingWrites {
        BlockingWrites::Never
    }
}
