//! What goes to stdout: pages for people, objects for programs. Talk goes to stderr, through `failure.rs`.

use std::io::{BufWriter, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Prints a page for a person, without colour where it would not be seen.
pub(crate) fn page(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Failure::Stdout)
}

/// Prints bytes as they are.
pub(crate) fn bytes<B: AsRef<[u8]>>(slices: impl IntoIterator<Item = B>) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let write = || {
        for slice in slices {
            out.write_all(slice.as_ref())?;
        }
        out.flush()
    };
    write().map_err(Failure::Stdout)
}

/// Prints an object for a program. Straight to stdout: what takes colour out for people would take bytes out of texts.
pub(crate) fn json(object: &impl Serialize) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut write = || {
        serde_json::to_writer_pretty(&mut out, object)?;
        writeln!(out)?;
        out.flush()
    };
    write().map_err(Failure::Stdout)
}
