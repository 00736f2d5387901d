//! Draws on a terminal without taking it over: finished lines go into its own scrollback, and below them a live region
//! is redrawn in place.
//!
//! The cursor's position is never queried, only moved from where it was left; so none of the user's input can be
//! mistaken for the answer. Rows come from `cells`: none is ever wider than the terminal.

use std::fmt::Write as _;
use std::io::{self, Write};

use ratatui::text::Line;

use super::cells::{EncodedRow, TerminalCapabilities, encode};

/// The live region of a terminal.
#[derive(Debug)]
pub(crate) struct Painter<W> {
    out: W,
    shows: TerminalCapabilities,
    drawn: Vec<EncodedRow>,
    /// Where the cursor was left: row and column of the region.
    cursor: (usize, usize),
}

/// Begins a synchronized update, so that a supporting terminal shows nothing half drawn. Rows are not wrapped by the
/// terminal: one that has just become narrower would make two rows of one, and every count of rows would be wrong.
const BEGIN: &str = "\x1b[?2026h\x1b[?25l\x1b[?7l";
const END: &str = "\x1b[?7h\x1b[?2026l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR_BELOW: &str = "\x1b[J";
const CLEAR_RIGHT: &str = "\x1b[K";

impl<W: Write> Painter<W> {
    pub(crate) fn new(out: W, shows: TerminalCapabilities) -> Self {
        Self {
            out,
            shows,
            drawn: Vec::new(),
            cursor: (0, 0),
        }
    }

    fn send(&mut self, code: &str) -> io::Result<()> {
        self.out.write_all(code.as_bytes())?;
        self.out.flush()
    }

    fn to_top(&self) -> String {
        match self.cursor.0 {
            0 => "\r".to_owned(),
            rows => format!("\x1b[{rows}A\r"),
        }
    }

    /// Writes finished rows above the live region and draws the region, with the cursor in it or hidden.
    pub(crate) fn draw(
        &mut self,
        finished: &[Line<'_>],
        live: &[Line<'_>],
        cursor: Option<(usize, usize)>,
        width: usize,
    ) -> io::Result<()> {
        let rows: Vec<EncodedRow> = live
            .iter()
            .map(|line| encode(line, width, self.shows))
            .collect();
        let at = cursor.unwrap_or((rows.len().saturating_sub(1), 0));
        if finished.is_empty() && rows == self.drawn && at == self.cursor {
            return Ok(());
        }
        let mut code = String::from(BEGIN);
        code.push_str(&self.to_top());
        let before = std::mem::take(&mut self.drawn);
        for line in finished {
            let row = encode(line, width, self.shows);
            put(&mut code, &row, width);
            code.push_str("\r\n");
        }
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                code.push_str("\r\n");
            }
            if !finished.is_empty() || before.get(index) != Some(row) {
                put(&mut code, row, width);
            }
        }
        let written = finished.len() + rows.len();
        if before.len() > written {
            // One row further down, so that a full last row keeps its last cell.
            let _ = write!(code, "\r\n{CLEAR_BELOW}\x1b[A");
        }
        let up = rows.len().saturating_sub(1).saturating_sub(at.0);
        code.push('\r');
        if up > 0 {
            let _ = write!(code, "\x1b[{up}A");
        }
        if at.1 > 0 {
            let _ = write!(code, "\x1b[{}C", at.1);
        }
        if cursor.is_some() {
            code.push_str(SHOW_CURSOR);
        }
        code.push_str(END);
        self.drawn = rows;
        self.cursor = at;
        self.send(&code)
    }

    /// Removes the region after a change of the terminal's size, so that it can be drawn again.
    ///
    /// Most terminals wrap rows that have become too long; this is taken into account.
    pub(crate) fn resized(&mut self, width: usize, height: usize) -> io::Result<()> {
        let width = width.max(1);
        let above = self.drawn.iter().take(self.cursor.0);
        let above: usize = above.map(|row| row.wide.div_ceil(width).max(1)).sum();
        let above = above + self.cursor.1 / width;
        self.cursor.0 = above.min(height.saturating_sub(1));
        self.clear()
    }

    /// Removes the region.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        let code = format!("{}\x1b[0m{CLEAR_BELOW}{SHOW_CURSOR}", self.to_top());
        self.forget();
        self.send(&code)
    }

    /// Forgets the region: the next drawing begins where the cursor is.
    pub(crate) fn forget(&mut self) {
        self.drawn.clear();
        self.cursor = (0, 0);
    }

    /// Draws a whole screen, on the terminal's other screen.
    pub(crate) fn draw_full(
        &mut self,
        rows: &[Line<'_>],
        cursor: Option<(usize, usize)>,
        width: usize,
    ) -> io::Result<()> {
        let mut code = String::from(BEGIN);
        for (at, line) in rows.iter().enumerate() {
            let _ = write!(code, "\x1b[{};1H", at + 1);
            put(&mut code, &encode(line, width, self.shows), width);
        }
        if let Some((row, column)) = cursor {
            let _ = write!(code, "\x1b[{};{}H{SHOW_CURSOR}", row + 1, column + 1);
        }
        code.push_str(END);
        self.send(&code)
    }

    /// Switches to the other screen, or back.
    pub(crate) fn other_screen(&mut self, to: OtherScreen) -> io::Result<()> {
        self.send(match to {
            OtherScreen::On => "\x1b[?1049h\x1b[2J",
            OtherScreen::Off => "\x1b[?1049l",
        })
    }
}

/// Whether the other screen of a terminal is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherScreen {
    On,
    Off,
}

fn put(code: &mut String, row: &EncodedRow, width: usize) {
    code.push_str(&row.code);
    if row.wide < width {
        code.push_str(CLEAR_RIGHT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::cells::plain;
    use crate::screen::style;
    use crate::screen::{Charset, ColorSupport};

    fn painter(shows: TerminalCapabilities) -> Painter<vt100::Parser> {
        Painter::new(
            vt100::Parser::new(6.try_into().unwrap(), 20.try_into().unwrap(), 100),
            shows,
        )
    }

    const PLAIN: TerminalCapabilities = TerminalCapabilities {
        color: ColorSupport::Off,
        charset: Charset::Utf8,
    };

    fn lines(texts: &[&str]) -> Vec<Line<'static>> {
        texts
            .iter()
            .map(|text| Line::from((*text).to_owned()))
            .collect()
    }

    #[test]
    fn q2_finished_lines_go_into_the_scrollback_and_the_region_stays_below() {
        let mut painter = painter(PLAIN);
        painter
            .draw(&[], &lines(&["tail", "> prompt"]), Some((1, 8)), 20)
            .unwrap();
        for n in 1..=9 {
            let finished = lines(&[&format!("line {n}")]);
            painter
                .draw(&finished, &lines(&["tail", "> prompt"]), Some((1, 8)), 20)
                .unwrap();
        }
        let screen = painter.out.screen();
        assert_eq!(
            screen.contents(),
            "line 6\nline 7\nline 8\nline 9\ntail\n> prompt"
        );
        assert_eq!(screen.cursor_position(), (5, 8));
        painter.out.screen_mut().set_scrollback(5);
        assert!(
            painter
                .out
                .screen()
                .contents()
                .starts_with("line 1\nline 2")
        );
    }

    #[test]
    fn q2_a_region_that_shrinks_leaves_nothing_behind() {
        let mut painter = painter(PLAIN);
        let full = "12345678901234567890";
        painter
            .draw(&[], &lines(&[full, full, full, full]), None, 20)
            .unwrap();
        painter.draw(&[], &lines(&[full]), None, 20).unwrap();
        assert_eq!(painter.out.screen().contents(), full);
        painter
            .draw(
                &lines(&["done"]),
                &lines(&["漢字漢字漢字漢字漢字漢"]),
                None,
                20,
            )
            .unwrap();
        assert_eq!(
            painter.out.screen().contents(),
            "done\n漢字漢字漢字漢字漢字"
        );
        painter.clear().unwrap();
        assert_eq!(painter.out.screen().contents(), "done");
    }

    #[test]
    fn q2_colors_and_signs_are_left_out_where_they_are_not_shown() {
        let line = Line::from(vec![style::styled("● ok", style::GOOD)]);
        let mut painter = painter(PLAIN);
        painter
            .draw(&[], std::slice::from_ref(&line), None, 20)
            .unwrap();
        let cell = painter.out.screen().cell(0, 0).unwrap();
        assert_eq!(cell.fgcolor(), vt100::Color::Default);
        let ascii = TerminalCapabilities {
            color: ColorSupport::On,
            charset: Charset::Ascii,
        };
        let row = encode(&line, 20, ascii);
        assert_eq!(row.code, "\x1b[0;32m* ok\x1b[0m");
        assert_eq!(plain(&line, PLAIN), "● ok");
    }
}
