//! The columns of a row that PostgreSQL returned.

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use crate::store::columns::Columns;

impl Columns for PgRow {
    type Error = sqlx::Error;

    fn integer(&self, at: usize) -> sqlx::Result<Option<i64>> {
        self.try_get(at)
    }

    fn float(&self, at: usize) -> sqlx::Result<Option<f64>> {
        self.try_get(at)
    }

    fn flag(&self, at: usize) -> sqlx::Result<bool> {
        self.try_get(at)
    }

    fn text(&self, at: usize) -> sqlx::Result<Option<String>> {
        self.try_get(at)
    }

    fn bytes(&self, at: usize) -> sqlx::Result<Option<Vec<u8>>> {
        self.try_get(at)
    }
}
