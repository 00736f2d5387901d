//! Shared helpers of the tests: the corpora, generated entries and files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhaul_store::{Home, HomeOwner};

/// Every file below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A user entry.
pub(crate) fn entry(uuid: &str, parent: Option<&str>) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"parentUuid":{parent},"type":"user","uuid":"{uuid}","sessionId":"s","message":{{"role":"user","content":"text of {uuid}"}}}}"#
    )
}

/// A reader that gives a few bytes at a time, and is interrupted now and then.
pub(crate) struct Dribble<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) step: usize,
    pub(crate) calls: usize,
}

impl std::io::Read for Dribble<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let size = self.step.min(self.bytes.len()).min(into.len());
        into[..size].copy_from_slice(&self.bytes[..size]);
        self.bytes = &self.bytes[size..];
        Ok(size)
    }
}

/// Bytes in which line ends, byte order marks and entries are mixed in every way.
pub(crate) fn messy_bytes() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
    use proptest::prelude::*;
    let piece = prop_oneof![
        4 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
        1 => Just(b"\xEF\xBB".to_vec()),
        2 => Just(b" ".to_vec()),
        2 => Just(br#"{"type":"user","uuid":"u"}"#.to_vec()),
        1 => Just(b"[]".to_vec()),
        2 => proptest::collection::vec(any::<u8>(), 0..12),
        1 => (60_000_usize..140_000).prop_map(|size| vec![b'x'; size]),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Writes a file, and its parent folders, with a modification time in seconds after 1970.
pub(crate) fn file_at(path: &Path, content: &str, seconds: u64) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(at(seconds)).unwrap();
}

/// A time in seconds after 1970.
pub(crate) fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Our home at a folder.
pub(crate) fn our_home(root: &Path) -> Home {
    Home::at(root, HomeOwner::Longhaul).unwrap()
}
