//! The trait for storages, which hold the lines of a session.
//!
//! [`FileStorage`] appends to a transcript file, [`MemoryStorage`] keeps lines in memory, and a host may write its own:
//! two methods are required.

mod error;
mod file;
mod memory;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::message::Entry;

pub use error::StorageError;
pub use file::FileStorage;
pub use memory::MemoryStorage;

/// Holds the lines of one session.
///
/// # What a session does
///
/// - **Reading.** [`SessionBuilder::open`](crate::SessionBuilder::open) calls [`load`](Storage::load) once, on the thread
///   of its caller. [`SessionBuilder::open_async`](crate::SessionBuilder::open_async) does so on a thread where blocking
///   is allowed.
/// - **Order.** Later calls come one at a time, in the order in which the lines belong, and each only after the one
///   before it has returned. A call that the host drops half-way is finished all the same.
/// - **Acknowledgement.** Nothing depends on lines before [`append`](Storage::append) has returned `Ok`: no request is
///   sent and no entry leaves the window. After an error the call of the session fails with
///   [`TurnError::NotKept`](crate::TurnError::NotKept). Messages and replies are appended again with the next call, the
///   same lines in front of the new ones; a clearing or a compaction is made anew when it is next due.
/// - **Threads.** Calls run on a thread where blocking is allowed, unless
///   [`blocking_writes`](Storage::blocking_writes) says that it never happens. A storage with an async client can wait
///   there with `tokio::runtime::Handle::block_on`.
///
/// # What an implementer guarantees
///
/// - **Durability.** `Ok` means that the lines survive whatever the storage promises to survive: for a file, a crash of
///   the machine.
/// - **All or nothing.** The lines of one call are one unit, such as a compaction: either [`load`](Storage::load) returns
///   all of them later, or none. An error means none: lines that were stored in spite of an error come a second time,
///   with the same `uuid`.
/// - **The same bytes.** [`load`](Storage::load) returns every line as it was, byte for byte, in the order of the calls.
///   A column type that rewrites JSON changes what is sent to the model, and the provider's cache misses.
/// - **One writer.** Two sessions on the same lines would each continue from what they know. A storage that others can
///   reach refuses the second one, in [`load`](Storage::load) or in [`append`](Storage::append).
///
/// # Example
///
/// A storage that keeps sessions in a map, as one would keep them in a table of a database:
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// use bytes::Bytes;
/// use longhaul::{AppendPosition, Prompt, Reply, Session, Storage, StorageError, model_fn};
///
/// type Table = Arc<Mutex<HashMap<String, Vec<Bytes>>>>;
///
/// struct TableStorage { table: Table, session: String }
///
/// impl Storage for TableStorage {
///     fn load(&self) -> Result<Vec<Bytes>, StorageError> {
///         let table = self.table.lock().map_err(StorageError::custom)?;
///         Ok(table.get(&self.session).cloned().unwrap_or_default())
///     }
///
///     fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError> {
///         let mut table = self.table.lock().map_err(StorageError::custom)?;
///         table.entry(self.session.clone()).or_default().extend_from_slice(lines);
///         Ok(AppendPosition::AfterLast)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let table = Table::default();
/// for day in 1..=2 {
///     let mut session = Session::builder()
///         .model(model_fn(|_| async { Ok(Reply::from_text("Good morning.")) }))
///         .prompt(Prompt::new("claude-sonnet-4-6", "You are polite."))
///         .storage(TableStorage { table: table.clone(), session: "greetings".into() })
///         .open_async()
///         .await?;
///     session.say(format!("It is day {day}.")).await?;
///     session.turn().await?;
///     let messages = session.engine().live().entries().len();
///     assert_eq!(messages, 2 * day, "the second session continues the first one");
/// }
/// # Ok(())
/// # }
/// ```
pub trait Storage: Send + Sync {
    /// Returns all lines of the session, without line ends; none if the session is new. For a storage with a
    /// [`transcript_path`](Storage::transcript_path) the session reads the end of that file in place of this.
    ///
    /// # Errors
    /// If the lines cannot be read. The session is not opened then.
    fn load(&self) -> Result<Vec<Bytes>, StorageError>;

    /// Appends lines as one unit. They have no line ends and contain none.
    ///
    /// # Errors
    /// If the lines are not safe.
    fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError>;

    /// Archives what is about to leave the window, so that it can be found again. The lines that it comes from have
    /// been appended before. By default there is no archive.
    ///
    /// # Errors
    /// If the archive could not take it. Nothing leaves the window then.
    fn archive(&self, departing: DepartingEntries) -> Result<ArchiveLocation, StorageError> {
        let _ = departing;
        Ok(ArchiveLocation::InTranscript)
    }

    /// The transcript file that holds exactly the appended lines, if there is one. Then the session resumes from the
    /// end of that file, locks it against other processes, tells hooks and the model where it is, and takes notes in
    /// the folder beside it.
    fn transcript_path(&self) -> Option<&Path> {
        None
    }

    /// Whether a call may have to wait, for a disk, a network or a lock. The default is that it may.
    fn blocking_writes(&self) -> BlockingWrites {
        BlockingWrites::Perhaps
    }
}

impl<S: Storage + ?Sized> Storage for Arc<S> {
    fn load(&self) -> Result<Vec<Bytes>, StorageError> {
        S::load(self)
    }

    fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError> {
        S::append(self, lines)
    }

    fn archive(&self, departing: DepartingEntries) -> Result<ArchiveLocation, StorageError> {
        S::archive(self, departing)
    }

    fn transcript_path(&self) -> Option<&Path> {
        S::transcript_path(self)
    }

    fn blocking_writes(&self) -> BlockingWrites {
        S::blocking_writes(self)
    }
}

/// Where appended lines begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendPosition {
    /// Directly after the lines of the call before. The session keeps count.
    AfterLast,
    /// At this byte of the transcript file, to which other programs may have appended meanwhile.
    Offset(u64),
}

/// Entries that are about to leave the window.
#[derive(Debug, Clone)]
pub struct DepartingEntries {
    /// The entries, in order.
    pub entries: Vec<Entry>,
    /// The part of them that leaves.
    pub part: DepartingPart,
}

/// The part of entries that leaves the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DepartingPart {
    /// The whole entries leave, because a summary replaces them.
    Whole,
    /// The results of these calls are cleared.
    Results(Vec<String>),
}

/// Where entries that leave the window can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveLocation {
    /// They are in the archive.
    InArchive,
    /// There is no archive: they are only in the transcript.
    InTranscript,
}

/// Whether a call of a storage may block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockingWrites {
    /// A call may block, so it runs on a thread of its own.
    Perhaps,
    /// A call never blocks, so it runs at once.
    Never,
}
