//! Tests the order of an append's steps, on a disk that records them and can be told to fail.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::medium::{DiskMedium, Medium};
use super::{AppendError, Durability, TranscriptWriter};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AppendStep {
    Write,
    Sync,
    SyncFolder,
    Acknowledge,
}

use AppendStep::{Acknowledge, Sync, SyncFolder, Write};

#[derive(Debug, Clone, Default)]
struct StepRecord {
    steps: Arc<Mutex<Vec<AppendStep>>>,
    fails: Arc<Mutex<Option<AppendStep>>>,
}

impl StepRecord {
    fn note(&self, step: AppendStep) -> io::Result<()> {
        self.steps.lock().unwrap().push(step);
        match *self.fails.lock().unwrap() {
            Some(failing) if failing == step => Err(ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn take(&self) -> Vec<AppendStep> {
        std::mem::take(&mut *self.steps.lock().unwrap())
    }

    fn fail(&self, step: Option<AppendStep>) {
        *self.fails.lock().unwrap() = step;
    }
}

#[derive(Debug)]
struct RecordingMedium {
    disk: DiskMedium,
    record: StepRecord,
}

impl Medium for RecordingMedium {
    fn file(&self) -> &Arc<File> {
        self.disk.file()
    }

    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        if self.record.note(Write).is_err() {
            // As on a full disk, only a part of the bytes arrives.
            self.disk.append(&bytes[..bytes.len() / 2])?;
            return Err(ErrorKind::StorageFull.into());
        }
        self.disk.append(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.record.note(Sync)
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.record.note(SyncFolder)
    }
}

fn writer(path: &Path, durability: Durability) -> (TranscriptWriter, StepRecord) {
    let record = StepRecord::default();
    let medium = RecordingMedium {
        disk: DiskMedium::open(path).unwrap(),
        record: record.clone(),
    };
    let writer = TranscriptWriter::over(path, Box::new(medium), durability).unwrap();
    (writer, record)
}

fn append(
    writer: &mut TranscriptWriter,
    record: &StepRecord,
    uuid: &str,
) -> Result<(), AppendError> {
    let line = format!(r#"{{"type":"user","uuid":"{uuid}"}}"#);
    let _ = writer.append(line.as_bytes())?;
    record.note(Acknowledge).unwrap();
    Ok(())
}

#[test]
fn y7_an_append_is_written_then_on_disk_then_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let (mut writer, record) = writer(&folder.path().join("t.jsonl"), Durability::EveryAppend);
    append(&mut writer, &record, "a").unwrap();
    assert_eq!(record.take(), [Write, Sync, SyncFolder, Acknowledge]);
    append(&mut writer, &record, "b").unwrap();
    assert_eq!(record.take(), [Write, Sync, Acknowledge]);
    drop(writer);
    assert_eq!(record.take(), [], "nothing was owed");
}

#[test]
fn y7_on_close_waits_for_the_disk_once_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let (mut first, record) = writer(&path, Durability::OnClose);
    append(&mut first, &record, "a").unwrap();
    append(&mut first, &record, "b").unwrap();
    assert_eq!(record.take(), [Write, Acknowledge, Write, Acknowledge]);
    first.close().unwrap();
    assert_eq!(record.take(), [Sync, SyncFolder]);
    let (mut dropped, record) = writer(&path, Durability::OnClose);
    append(&mut dropped, &record, "c").unwrap();
    drop(dropped);
    assert_eq!(record.take(), [Write, Acknowledge, Sync, SyncFolder]);
}

#[test]
fn y7_what_the_disk_did_not_confirm_is_not_acknowledged_and_may_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    for failing in [Sync, SyncFolder] {
        let (mut writer, record) = writer(&path, Durability::EveryAppend);
        let uuid = format!("{failing:?}");
        record.fail(Some(failing));
        let error = append(&mut writer, &record, &uuid).unwrap_err();
        assert!(matches!(error, AppendError::NotSynced { .. }), "{error}");
        assert!(error.to_string().contains("nothing was acknowledged"));
        assert!(!record.take().contains(&Acknowledge));
        record.fail(None);
        append(&mut writer, &record, &uuid).unwrap();
        let again = append(&mut writer, &record, &uuid).unwrap_err();
        assert!(
            matches!(again, AppendError::DuplicateUuid { .. }),
            "{again}"
        );
    }
}

#[test]
fn y7_half_a_write_stays_alone_on_its_line_and_the_entries_may_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let (mut writer, record) = writer(&path, Durability::EveryAppend);
    append(&mut writer, &record, "a").unwrap();
    record.take();
    record.fail(Some(Write));
    let error = append(&mut writer, &record, "b").unwrap_err();
    assert!(matches!(error, AppendError::NotWritten { .. }), "{error}");
    assert!(error.to_string().contains("free some space"), "{error}");
    assert_eq!(record.take(), [Write]);
    record.fail(None);
    append(&mut writer, &record, "b").unwrap();
    let loaded = crate::load(&path).unwrap();
    let intact: Vec<u64> = (loaded.lines().iter())
        .filter(|line| line.entry().is_some())
        .map(|line| line.number)
        .collect();
    assert_eq!(intact, [1, 3]);
    assert_eq!(loaded.damaged().count(), 1);
}
