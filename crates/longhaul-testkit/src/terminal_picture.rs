//! A terminal's screen as a picture (SVG), for documents.
//!
//! Each run of cells with one look is one text of a fixed width, so that the columns stay where they are whatever
//! monospaced font a reader has.

use std::fmt::Write as _;
use std::num::NonZeroU16;

/// The size of a cell, and the space around the screen.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 18.0;
const MARGIN: f64 = 16.0;
/// The bar at the top, with the title.
const BAR: f64 = 30.0;
const BACKGROUND: &str = "#16181d";
const TEXT: &str = "#d6d9e0";
const FAINT: &str = "#8a90a0";
/// The sixteen colors that programs name by number.
const PALETTE: [&str; 16] = [
    "#2b2f38", "#e06c75", "#8fc379", "#d9b36c", "#6aa7ee", "#c68ade", "#5fb8c2", "#c3c8d2",
    "#6b7282", "#ef8b93", "#a9d895", "#ecca8d", "#8cc0ff", "#dba7ef", "#82d2db", "#f2f4f8",
];

/// How a cell looks.
#[derive(Clone, PartialEq)]
struct CellLook {
    color: String,
    background: Option<String>,
    is_bold: bool,
    is_italic: bool,
}

impl CellLook {
    fn of(cell: &vt100::Cell) -> Self {
        let (mut color, mut background) = (named(cell.fgcolor()), named(cell.bgcolor()));
        if cell.inverse() {
            (color, background) = (
                Some(background.unwrap_or_else(|| BACKGROUND.to_owned())),
                Some(color.unwrap_or_else(|| TEXT.to_owned())),
            );
        }
        let usual = if cell.dim() { FAINT } else { TEXT };
        Self {
            color: color.unwrap_or_else(|| usual.to_owned()),
            background,
            is_bold: cell.bold(),
            is_italic: cell.italic(),
        }
    }
}

fn named(color: vt100::Color) -> Option<String> {
    match color {
        vt100::Color::Default => None,
        vt100::Color::Idx(index @ 0..16) => Some(PALETTE[usize::from(index)].to_owned()),
        vt100::Color::Idx(index @ 16..232) => {
            let step = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
            let (red, green, blue) = ((index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6);
            Some(format!(
                "#{:02x}{:02x}{:02x}",
                step(red),
                step(green),
                step(blue)
            ))
        }
        vt100::Color::Idx(index) => {
            let gray = 8 + 10 * (index - 232);
            Some(format!("#{gray:02x}{gray:02x}{gray:02x}"))
        }
        vt100::Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

/// The screen as a picture with a title, described by a sentence for those who cannot see it.
#[must_use]
pub fn svg(screen: &vt100::Screen, title: &str, description: &str) -> String {
    let (rows, columns): (NonZeroU16, NonZeroU16) = screen.size();
    let width = f64::from(columns.get()) * WIDTH + 2.0 * MARGIN;
    let height = f64::from(rows.get()) * HEIGHT + 2.0 * MARGIN + BAR;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n\
         <title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"{BACKGROUND}\"/>\n\
         <g fill=\"{FAINT}\"><circle cx=\"20\" cy=\"17\" r=\"5\"/><circle cx=\"37\" cy=\"17\" r=\"5\"/><circle cx=\"54\" cy=\"17\" r=\"5\"/></g>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n\
         <text x=\"{:.0}\" y=\"22\" fill=\"{FAINT}\" text-anchor=\"middle\">{}</text>\n",
        escaped(title),
        escaped(description),
        width / 2.0,
        escaped(title),
    );
    for row in 0..rows.get() {
        for (column, look, text) in runs(screen, row, columns.get()) {
            put_run(&mut out, row, column, &look, &text);
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// The runs of a row: where each begins, how it looks, what it says. A wide character is a run of its own.
fn runs(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<(u16, CellLook, String)> {
    let mut runs: Vec<(u16, CellLook, String)> = Vec::new();
    let mut was_wide = false;
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        if cell.is_wide_continuation() {
            continue;
        }
        let look = CellLook::of(cell);
        let text = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        match runs.last_mut() {
            Some((_, last, said)) if *last == look && !was_wide && !cell.is_wide() => {
                said.push_str(text)
            }
            _ => runs.push((column, look, text.to_owned())),
        }
        was_wide = cell.is_wide();
    }
    runs
}

fn put_run(out: &mut String, row: u16, column: u16, look: &CellLook, text: &str) {
    let x = MARGIN + f64::from(column) * WIDTH;
    let y = BAR + MARGIN + f64::from(row) * HEIGHT;
    let count = text.chars().count() as f64;
    if let Some(background) = &look.background {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{HEIGHT}\" fill=\"{background}\"/>",
            count * WIDTH
        );
    }
    let words = text.trim_end();
    if words.trim().is_empty() {
        return;
    }
    let lead = words
        .chars()
        .take_while(|character| *character == ' ')
        .count();
    let words = words.trim_start();
    let shown = words.chars().count() as f64;
    let _ = write!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" textLength=\"{:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" fill=\"{}\"",
        x + lead as f64 * WIDTH,
        y + 13.5,
        shown * WIDTH,
        look.color
    );
    if look.is_bold {
        out.push_str(" font-weight=\"bold\"");
    }
    if look.is_italic {
        out.push_str(" font-style=\"italic\"");
    }
    let _ = writeln!(out, ">{}</text>", escaped(words));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_and_places_of_a_screen_are_in_its_picture() {
        let size = |count| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
        let mut parser = vt100::Parser::new(size(2), size(20), 0);
        parser.process(b"a \x1b[31mred\x1b[0m <b>\r\n  \x1b[1mbold\x1b[0m");
        let picture = svg(parser.screen(), "longhaul", "A test.");
        assert!(picture.contains(">red</text>"), "{picture}");
        assert!(picture.contains(PALETTE[1]), "{picture}");
        assert!(picture.contains("&lt;b&gt;"), "{picture}");
        assert!(picture.contains("font-weight=\"bold\">bold<"), "{picture}");
        assert!(picture.contains("<desc>A test.</desc>"), "{picture}");
    }
}
