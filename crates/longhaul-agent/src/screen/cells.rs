//! A line in the form that a terminal takes: cut at the width, with the colors and characters that the terminal has.

use std::fmt::Write as _;

use longhaul_core::listing::harmless;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::text::Line;

use super::ascii;
use super::text::columns;
use super::{Charset, ColorSupport};

/// What a terminal can show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TerminalCapabilities {
    pub(crate) color: ColorSupport,
    pub(crate) charset: Charset,
}

/// A row in the form in which it is sent to the terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EncodedRow {
    pub(crate) code: String,
    pub(crate) wide: usize,
}

/// A line as cells, cut at the width.
pub(crate) fn encode(line: &Line<'_>, width: usize, shows: TerminalCapabilities) -> EncodedRow {
    let width = u16::try_from(width.max(1)).unwrap_or(u16::MAX);
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
    buffer.set_line(0, 0, line, width);
    let cells = &buffer.content;
    let end = cells.iter().rposition(|cell| *cell != Cell::EMPTY);
    let end = end.map_or(0, |at| at + 1);
    let mut row = EncodedRow::default();
    let mut style = None;
    let mut at = 0;
    while at < end {
        let cell = &cells[at];
        let now = (cell.fg, cell.modifier);
        if style.replace(now) != Some(now) {
            row.code.push_str(&sgr(cell, shows.color));
        }
        let wide = columns(cell.symbol()).max(1);
        // Texts are made harmless when they are taken in; this catches anything that was missed.
        let symbol = harmless(cell.symbol());
        match shows.charset {
            Charset::Ascii => row.code.push_str(&ascii::fallback(&symbol, wide)),
            Charset::Utf8 => row.code.push_str(&symbol),
        }
        at += wide;
        // Terminals differ about how wide a character of several parts is.
        if cell.symbol().chars().nth(1).is_some() && at < usize::from(width) {
            let _ = write!(row.code, "\x1b[{}G", at + 1);
        }
    }
    if style.is_some() {
        row.code.push_str("\x1b[0m");
    }
    row.wide = at;
    row
}

fn sgr(cell: &Cell, color: ColorSupport) -> String {
    let mut code = String::from("\x1b[0");
    for (modifier, number) in [
        (Modifier::BOLD, 1),
        (Modifier::DIM, 2),
        (Modifier::ITALIC, 3),
        (Modifier::REVERSED, 7),
    ] {
        if cell.modifier.contains(modifier) {
            let _ = write!(code, ";{number}");
        }
    }
    if let (Some(number), ColorSupport::On) = (foreground(cell.fg), color) {
        let _ = write!(code, ";{number}");
    }
    code.push('m');
    code
}

/// The number of one of the sixteen colors, whose look each terminal's user chooses.
fn foreground(color: Color) -> Option<u8> {
    Some(match color {
        Color::Black => 30,
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Magenta => 35,
        Color::Cyan => 36,
        Color::Gray => 37,
        Color::DarkGray => 90,
        Color::LightRed => 91,
        Color::LightGreen => 92,
        Color::LightYellow => 93,
        Color::LightBlue => 94,
        Color::LightMagenta => 95,
        Color::LightCyan => 96,
        Color::White => 97,
        Color::Reset | Color::Rgb(..) | Color::Indexed(_) => return None,
    })
}

/// A line for line mode: its text, with colors where they are wanted.
pub(crate) fn plain(line: &Line<'_>, shows: TerminalCapabilities) -> String {
    let mut text = String::new();
    for span in &line.spans {
        let content = harmless(&span.content);
        let content = match shows.charset {
            Charset::Ascii => ascii::line(&content),
            Charset::Utf8 => content.into_owned(),
        };
        let style = line.style.patch(span.style);
        match style
            .fg
            .and_then(foreground)
            .filter(|_| shows.color == ColorSupport::On)
        {
            Some(number) => {
                let _ = write!(text, "\x1b[{number}m{content}\x1b[0m");
            }
            None => text.push_str(&content),
        }
    }
    text.truncate(text.trim_end().len());
    text
}
