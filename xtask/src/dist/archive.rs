//! Archives whose bytes depend on nothing but the files in them: no dates, no owners, one order.

use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;

/// A file to be packed.
#[derive(Debug, Clone)]
pub(super) struct PackedFile {
    /// Where it is in the archive, with `/` between folders.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) kind: PackedFileKind,
}

/// What a file may do once it is unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackedFileKind {
    Program,
    Data,
}

impl PackedFileKind {
    fn mode(self) -> u32 {
        match self {
            Self::Program => 0o755,
            Self::Data => 0o644,
        }
    }
}

impl PackedFile {
    pub(super) fn data(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            bytes: bytes.into(),
            kind: PackedFileKind::Data,
        }
    }

    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            kind: PackedFileKind::Program,
            ..Self::data(path, bytes)
        }
    }
}

/// A compressed tar archive with everything below one folder.
pub(super) fn tar_gz(folder: &str, files: &[PackedFile]) -> Result<Vec<u8>, Vec<String>> {
    let failed = |error: std::io::Error| vec![format!("cannot make the archive {folder}: {error}")];
    let gzip = flate2::GzBuilder::new().write(Vec::new(), Compression::default());
    let mut tar = tar::Builder::new(gzip);
    for file in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.bytes.len() as u64);
        header.set_mode(file.kind.mode());
        // npm takes files without a date for damaged ones in some versions; any fixed date will do.
        header.set_mtime(1_000_000_000);
        header.set_cksum();
        let path = format!("{folder}/{}", file.path);
        tar.append_data(&mut header, path, file.bytes.as_slice())
            .map_err(failed)?;
    }
    let gzip: GzEncoder<Vec<u8>> = tar.into_inner().map_err(failed)?;
    gzip.finish().map_err(failed)
}

/// A zip archive.
pub(super) fn zip(files: &[PackedFile]) -> Result<Vec<u8>, Vec<String>> {
    let failed = |error: String| vec![format!("cannot make the zip archive: {error}")];
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        let options = SimpleFileOptions::default().unix_permissions(file.kind.mode());
        zip.start_file(file.path.as_str(), options)
            .map_err(|error| failed(error.to_string()))?;
        zip.write_all(&file.bytes)
            .map_err(|error| failed(error.to_string()))?;
    }
    let written = zip.finish().map_err(|error| failed(error.to_string()))?;
    Ok(written.into_inner())
}

/// The SHA-256 of bytes.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The SHA-256 of bytes, in hexadecimal.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    let digits = sha256(bytes);
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn files() -> [PackedFile; 2] {
        [
            PackedFile::program("bin/run", "x"),
            PackedFile::data("a/long/README", "text"),
        ]
    }

    #[test]
    fn a_tar_archive_holds_the_files_below_its_folder_and_is_the_same_again() {
        let bytes = tar_gz("top-1.0", &files()).unwrap();
        assert!(bytes == tar_gz("top-1.0", &files()).unwrap());
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let found: Vec<(String, u32)> = tar
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let path = entry.path().unwrap().display().to_string();
                (path, entry.header().mode().unwrap())
            })
            .collect();
        assert_eq!(found[0], ("top-1.0/bin/run".to_owned(), 0o755));
        assert_eq!(found[1], ("top-1.0/a/long/README".to_owned(), 0o644));
    }

    #[test]
    fn a_zip_archive_holds_the_files_and_is_the_same_again() {
        let bytes = zip(&files()).unwrap();
        assert!(bytes == zip(&files()).unwrap());
        let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut file = zip.by_name("bin/run").unwrap();
        assert_eq!(file.unix_mode().map(|mode| mode & 0o777), Some(0o755));
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
    }

    #[test]
    fn checksums_are_those_of_sha256sum() {
        assert_eq!(
            sha256_hex(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
