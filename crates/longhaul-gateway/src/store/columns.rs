//! A row of either database, column by column: the part of reading that differs between them. The meaning of the
//! columns is in `rows.rs`; PostgreSQL's half is in `postgres/columns.rs`.

/// Reads the values of a row by their position in the query. A column that is NULL reads as `None`; one with another
/// type is an error.
pub(super) trait Columns {
    /// Why a column cannot be read.
    type Error;

    /// Reads a whole number.
    fn integer(&self, at: usize) -> Result<Option<i64>, Self::Error>;
    /// Reads a number with a fraction.
    fn float(&self, at: usize) -> Result<Option<f64>, Self::Error>;
    /// Reads a Boolean.
    fn flag(&self, at: usize) -> Result<bool, Self::Error>;
    /// Reads a text.
    fn text(&self, at: usize) -> Result<Option<String>, Self::Error>;
    /// Reads bytes.
    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>, Self::Error>;
}

impl Columns for rusqlite::Row<'_> {
    type Error = rusqlite::Error;

    fn integer(&self, at: usize) -> rusqlite::Result<Option<i64>> {
        self.get(at)
    }

    fn float(&self, at: usize) -> rusqlite::Result<Option<f64>> {
        self.get(at)
    }

    fn flag(&self, at: usize) -> rusqlite::Result<bool> {
        self.get(at)
    }

    fn text(&self, at: usize) -> rusqlite::Result<Option<String>> {
        self.get(at)
    }

    fn bytes(&self, at: usize) -> rusqlite::Result<Option<Vec<u8>>> {
        self.get(at)
    }
}
