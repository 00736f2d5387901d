//! Output on stdout: pages for people, objects for programs. Messages go to stderr, through `failure.rs`. Nothing that
//! is written here can control a terminal; only bytes that were requested unchanged go to a pipe unchanged.

mod charset;

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};

use longhaul_core::listing::{harmless_but_colored, harmless_json};
use serde::Serialize;

use crate::failure::CliError;
use charset::Charset;

/// Prints a page for a person: without color where it would not be seen, and in ASCII where the locale has nothing else.
pub(crate) fn page(text: &str) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    let text = harmless_but_colored(text);
    let text = match charset::of_locale(|name| std::env::var(name).ok()) {
        Charset::Unicode => text,
        Charset::Ascii => charset::to_ascii(&text).into(),
    };
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(CliError::Stdout)
}

/// Prints bytes unchanged; on a terminal, control characters are escaped as in JSON.
pub(crate) fn bytes<B: AsRef<[u8]>>(slices: impl IntoIterator<Item = B>) -> Result<(), CliError> {
    let stdout = std::io::stdout().lock();
    let is_seen = stdout.is_terminal();
    let mut out = BufWriter::new(stdout);
    let write = || {
        for slice in slices {
            let slice = slice.as_ref();
            if is_seen {
                let text = String::from_utf8_lossy(slice);
                let text = harmless_but_colored(&text);
                out.write_all(harmless_json(&text).as_bytes())?;
            } else {
                out.write_all(slice)?
            }
        }
        out.flush()
    };
    write().map_err(CliError::Stdout)
}

/// Prints an object for a program. It goes straight to stdout: the filter that removes color for people would remove
/// bytes from texts.
pub(crate) fn json(object: &impl Serialize) -> Result<(), CliError> {
    let mut out = EscapingWriter(BufWriter::new(std::io::stdout().lock()));
    let mut write = || {
        serde_json::to_writer_pretty(&mut out, object)?;
        writeln!(out)?;
        out.flush()
    };
    write().map_err(CliError::Stdout)
}

/// Writes JSON with all control characters escaped. No call splits a character, because texts are written whole.
struct EscapingWriter<W>(W);

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => harmless_json(text),
            Err(_) => Cow::Owned(harmless_json(&String::from_utf8_lossy(bytes)).into_owned()),
        };
        self.0.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
