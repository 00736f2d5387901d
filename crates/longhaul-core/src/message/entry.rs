//! An entry: frozen bytes and their facets.

use bytes::Bytes;

use super::{EntryFacets, EntryView, LineDamage, LineScanner};

/// One intact line of a transcript. The bytes are the line as it is in the file, without the line end. They are never
/// changed, so everything that is written back or sent is exactly what was read (M2).
///
/// Cloning shares the bytes.
///
/// ```
/// use bytes::Bytes;
/// use longhaul_core::message::{Entry, EntryKind};
///
/// let line = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Fix it"},"unknown":[1, 2]}"#;
/// let entry = Entry::read(Bytes::from(line))?;
/// assert_eq!(entry.facets().kind, EntryKind::User);
/// assert_eq!(entry.view().text(entry.facets().uuid), "u1");
/// assert_eq!(entry.bytes(), line, "unknown fields and white space stay");
///
/// assert!(Entry::read(Bytes::from(r#"{"type":"user","#)).is_err(), "a torn line is damage");
/// # Ok::<(), longhaul_core::message::LineDamage>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    bytes: Bytes,
    facets: Box<EntryFacets>,
}

impl Entry {
    /// Reads a line.
    ///
    /// # Errors
    /// Fails if the line is not one JSON object in UTF-8. A caller keeps its bytes and reports it.
    pub fn read(bytes: Bytes) -> Result<Self, LineDamage> {
        let mut scanner = LineScanner::default();
        scanner.scan(&bytes)?;
        Ok(Self::noted(bytes, scanner.facets()))
    }

    /// Creates an entry from a line that has just been scanned.
    pub fn noted(bytes: Bytes, facets: &EntryFacets) -> Self {
        Self {
            bytes,
            facets: Box::new(facets.clone()),
        }
    }

    /// The line.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The facets of the line.
    pub fn facets(&self) -> &EntryFacets {
        &self.facets
    }

    /// The facets and the bytes together.
    pub fn view(&self) -> EntryView<'_> {
        self.facets.view(&self.bytes)
    }
}
