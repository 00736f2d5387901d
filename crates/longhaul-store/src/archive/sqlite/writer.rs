//! Archives outside the turn: a separate thread takes work from a bounded queue.
//!
//! Handing work over copies no text and never waits. Only [`ArchiveWriter::flush`] waits, and only for work that was
//! handed over before: it is called before a clearing is written to the transcript, so that cleared content is archived
//! first.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

use longhaul_core::message::Entry;

use super::batch::{ArchiveBatch, ArchivedPart, NotQueued};
use super::entries::ItemReader;
use super::item::{ArchiveItem, ArchiveItemKind};
use super::{Archive, ArchiveError};

/// How many messages may wait in the queue. Entries share their bytes with the conversation, so this is little memory.
const QUEUE: usize = 1_024;
/// The amount of text committed at once.
const COMMIT: usize = 8 << 20;

enum ArchiveJob {
    Remember(Entry),
    Archive(ArchiveBatch),
    Flush(SyncSender<Result<(), ArchiveError>>),
}

/// Writes an archive in the background. Dropping it finishes the work that was handed over.
#[derive(Debug)]
pub struct ArchiveWriter {
    path: PathBuf,
    transcript: PathBuf,
    jobs: Option<SyncSender<ArchiveJob>>,
    thread: Option<JoinHandle<()>>,
    catching_up: Arc<CatchUp>,
}

/// A transcript that is being indexed on another thread, so that a flush never waits for it.
#[derive(Debug, Default)]
struct CatchUp {
    running: AtomicBool,
    stop: AtomicBool,
}

impl ArchiveWriter {
    /// Starts the thread for the archive of a transcript. The thread opens the archive, so this does not wait for the
    /// disk.
    ///
    /// # Errors
    /// Fails if the system starts no further thread.
    pub fn start(path: PathBuf, transcript: PathBuf) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::sync_channel(QUEUE);
        let catching_up = Arc::new(CatchUp::default());
        let worker = ArchiveWorker {
            path: path.clone(),
            transcript: transcript.clone(),
            archive: None,
            reader: ItemReader::default(),
            waiting: Vec::new(),
            failed: None,
            catching_up: Arc::clone(&catching_up),
        };
        let thread = thread::Builder::new()
            .name("longhaul-archive".to_owned())
            .spawn(move || worker.run(&queue))?;
        Ok(Self {
            path,
            transcript,
            jobs: Some(jobs),
            thread: Some(thread),
            catching_up,
        })
    }

    /// Tells the archive about an entry that makes calls, so that their results can be found by tool and path. Call it
    /// once for every entry of a view.
    ///
    /// # Errors
    /// Fails if the queue is full or the writer has ended. The transcript has the entry: [`ArchiveWriter::catch_up`]
    /// archives from there.
    pub fn remember(&self, entry: &Entry) -> Result<(), NotQueued> {
        self.send(ArchiveJob::Remember(entry.clone()))
    }

    /// Hands entries over to be archived, and never waits.
    ///
    /// # Errors
    /// Fails if the queue is full or the writer has ended. The transcript has the entries: [`ArchiveWriter::catch_up`]
    /// archives from there.
    pub fn archive(&self, batch: &ArchiveBatch) -> Result<(), NotQueued> {
        self.send(ArchiveJob::Archive(batch.clone()))
    }

    /// Waits until all work that was handed over is on disk. An error names the first thing since the last flush that
    /// could not be kept; later work is tried all the same.
    ///
    /// # Errors
    /// Fails with the first error since the last flush, or if the writer has ended.
    pub fn flush(&self) -> Result<(), ArchiveError> {
        let ended = || ArchiveError::Unusable {
            path: self.path.clone(),
            reason: "its writer has ended".to_owned(),
        };
        let (acknowledge, acknowledged) = mpsc::sync_channel(1);
        let jobs = self.jobs.as_ref().ok_or_else(ended)?;
        jobs.send(ArchiveJob::Flush(acknowledge))
            .map_err(|_| ended())?;
        acknowledged.recv().map_err(|_| ended())?
    }

    /// Indexes the whole transcript on another thread, unless that is already in progress. Dropping the writer
    /// interrupts the indexing, and the next call continues from there.
    pub fn catch_up(&self) {
        self.catching_up
            .begin(self.path.clone(), self.transcript.clone());
    }

    fn send(&self, job: ArchiveJob) -> Result<(), NotQueued> {
        let jobs = self.jobs.as_ref().ok_or(NotQueued::Ended)?;
        jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => NotQueued::Full,
            TrySendError::Disconnected(_) => NotQueued::Ended,
        })
    }
}

impl Drop for ArchiveWriter {
    fn drop(&mut self) {
        self.catching_up.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::warn!(path = %self.path.display(), "the archive's writer ended early");
        }
    }
}

impl CatchUp {
    fn begin(self: &Arc<Self>, path: PathBuf, transcript: PathBuf) {
        if self.running.swap(true, Ordering::AcqRel) {
            return;
        }
        let this = Arc::clone(self);
        let work = move || {
            if let Err(error) = this.index(&path, &transcript) {
                tracing::warn!(%error, "not caught up with the transcript");
            }
            this.running.store(false, Ordering::Release);
        };
        let builder = thread::Builder::new().name("longhaul-index".to_owned());
        if let Err(error) = builder.spawn(work) {
            tracing::warn!(%error, "not caught up with the transcript");
            self.running.store(false, Ordering::Release);
        }
    }

    fn index(&self, path: &Path, transcript: &Path) -> Result<(), ArchiveError> {
        // Opening would restore an archive that was deleted with its transcript.
        if !transcript.exists() {
            return Ok(());
        }
        let stopped = || self.stop.load(Ordering::Relaxed);
        Archive::open(path)?.index(transcript, |_| {
            if stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(())
    }
}

/// The state of the writer's thread.
struct ArchiveWorker {
    path: PathBuf,
    transcript: PathBuf,
    archive: Option<Archive>,
    reader: ItemReader,
    waiting: Vec<ArchiveItem>,
    failed: Option<ArchiveError>,
    catching_up: Arc<CatchUp>,
}

impl ArchiveWorker {
    fn run(mut self, queue: &Receiver<ArchiveJob>) {
        let mut size = 0;
        while let Ok(job) = queue.recv() {
            let mut next = Some(job);
            // All waiting work goes into one commit.
            while let Some(job) = next {
                match job {
                    ArchiveJob::Remember(entry) => self.reader.remember(entry.view()),
                    ArchiveJob::Archive(batch) => {
                        let items = self.items(&batch);
                        size += items.iter().map(|item| item.text.len()).sum::<usize>();
                        self.waiting.extend(items);
                    }
                    ArchiveJob::Flush(acknowledge) => {
                        self.commit();
                        // The caller may be gone.
                        let _ = acknowledge.send(self.failed.take().map_or(Ok(()), Err));
                    }
                }
                if size >= COMMIT {
                    self.commit();
                    size = 0;
                }
                next = queue.try_recv().ok();
            }
            self.commit();
            size = 0;
        }
        if let Some(error) = self.failed.take() {
            tracing::warn!(%error, "not all was archived; the transcript has it");
        }
    }

    fn items(&mut self, batch: &ArchiveBatch) -> Vec<ArchiveItem> {
        let mut items = Vec::new();
        for entry in &batch.entries {
            items.extend(self.reader.items(entry.view(), batch.presence));
        }
        if let ArchivedPart::Results(calls) = &batch.part {
            items.retain(|item| {
                let call = item.tool_use_id.as_ref();
                item.kind == ArchiveItemKind::ToolResult
                    && call.is_some_and(|call| calls.contains(call))
            });
        }
        items
    }

    fn commit(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let items = std::mem::take(&mut self.waiting);
        if let Err(error) = self.put(&items) {
            tracing::warn!(%error, items = items.len(), "not archived");
            self.failed.get_or_insert(error);
        }
    }

    /// Puts items. A database that is damaged or was replaced is rebuilt once, and filled from the transcript.
    fn put(&mut self, items: &[ArchiveItem]) -> Result<(), ArchiveError> {
        let mut archive = match self.archive.take() {
            Some(archive) => archive,
            None => Archive::open(&self.path)?,
        };
        let mut begun_anew = archive.notice().is_some();
        let done = match archive.put(items) {
            Err(ArchiveError::Damaged { .. }) => {
                begun_anew = true;
                archive = archive.mend()?;
                archive.put(items)
            }
            // If the transcript is gone too, somebody deleted both on purpose.
            Err(ArchiveError::Moved { .. }) if self.transcript.exists() => {
                begun_anew = true;
                drop(archive);
                archive = Archive::open(&self.path)?;
                archive.put(items)
            }
            done => done,
        };
        if begun_anew {
            self.catching_up
                .begin(self.path.clone(), self.transcript.clone());
            archive.notice = None;
        }
        self.archive = Some(archive);
        done
    }
}
