//! Simple Markdown: headings, lists, code, quotes, tables as lines of text. Anything else is shown as it is written.
//! `highlight.rs` colors code, `markdown_table.rs` aligns tables.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Style;
use ratatui::text::Span;

use super::flow::WrappedLine;
use super::highlight;
use super::markdown_table::MarkdownTable;
use super::style::{BOLD, CODE, ITALIC, dim, styled};
use super::text::clean;

/// A text of the model as lines for a terminal of this width. It is made harmless first.
pub(crate) fn render(text: &str, width: usize) -> Vec<WrappedLine> {
    let text = clean(text);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = MarkdownPage::new(&text, width);
    for (event, at) in Parser::new_ext(&text, options).into_offset_iter() {
        page.event(event, at);
    }
    page.end_line();
    while page
        .lines
        .last()
        .is_some_and(|line| *line == WrappedLine::blank())
    {
        page.lines.pop();
    }
    page.lines
}

struct MarkdownPage<'t> {
    source: &'t str,
    width: usize,
    lines: Vec<WrappedLine>,
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    /// For each open `Strong`: whether its markers are part of a name and are shown.
    names: Vec<bool>,
    /// The number of the next item of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// What the next line begins with, in place of its indent.
    marker: Option<String>,
    quotes: usize,
    /// The open block of code: its language and its text.
    code: Option<(String, String)>,
    link: Option<String>,
    table: Option<MarkdownTable>,
}

impl<'t> MarkdownPage<'t> {
    fn new(source: &'t str, width: usize) -> Self {
        Self {
            source,
            width,
            lines: Vec::new(),
            spans: Vec::new(),
            styles: Vec::new(),
            names: Vec::new(),
            lists: Vec::new(),
            marker: None,
            quotes: 0,
            code: None,
            link: None,
            table: None,
        }
    }

    fn event(&mut self, event: Event<'_>, at: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, at),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                let style = self.style().patch(CODE);
                self.spans.push(styled(text.into_string(), style));
            }
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.end_line();
                self.spans.push(dim("────────"));
                self.end_block();
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>, at: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.end_line();
                let mark = if level == HeadingLevel::H1 {
                    BOLD.patch(ITALIC)
                } else {
                    BOLD
                };
                self.styles.push(mark);
            }
            Tag::BlockQuote(_) => {
                self.end_line();
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.end_line();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info
                        .split([' ', ',', '{'])
                        .next()
                        .unwrap_or_default()
                        .to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => {
                self.end_line();
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_line();
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                });
            }
            Tag::Emphasis => self.styles.push(ITALIC),
            Tag::Strong => {
                let is_name = is_name(self.source.get(at).unwrap_or_default());
                if is_name {
                    self.text("__");
                }
                self.names.push(is_name);
                self.styles.push(if is_name { Style::new() } else { BOLD });
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some(dest_url.into_string());
            }
            Tag::Table(alignments) => {
                self.end_line();
                self.table = Some(MarkdownTable::new(alignments));
            }
            Tag::TableHead => self.styles.push(BOLD),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                if self.lists.is_empty() {
                    self.end_block()
                } else {
                    self.end_line()
                }
            }
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => {
                if let Some((language, code)) = self.code.take() {
                    for spans in highlight::lines(&code, &language) {
                        self.spans.push(Span::raw("  "));
                        self.spans.extend(spans);
                        self.push_line(4);
                    }
                }
                self.end_block();
            }
            TagEnd::List(_) => {
                self.end_line();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.end_block();
                }
            }
            TagEnd::Item => {
                self.end_line();
                self.marker = None;
            }
            TagEnd::Emphasis => {
                self.styles.pop();
            }
            TagEnd::Strong => {
                self.styles.pop();
                if self.names.pop() == Some(true) {
                    self.text("__");
                }
            }
            TagEnd::Link | TagEnd::Image => {
                let shown: String = self.spans.iter().map(|span| &*span.content).collect();
                if let Some(url) = self.link.take().filter(|url| !shown.ends_with(url)) {
                    self.spans.push(dim(format!(" ({url})")));
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if matches!(tag, TagEnd::TableHead) {
                    self.styles.pop();
                }
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::Table => {
                let room = self.width.saturating_sub(self.indent());
                let table = self.table.take();
                for spans in table.map(|table| table.lines(room)).unwrap_or_default() {
                    self.spans = spans;
                    self.push_line(0);
                }
                self.end_block();
            }
            TagEnd::HtmlBlock => self.end_block(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let style = self.style();
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.end_line();
            }
            if !line.is_empty() {
                self.spans.push(styled(line.to_owned(), style));
            }
        }
    }

    fn style(&self) -> Style {
        let styles = self.styles.iter();
        styles.fold(Style::new(), |sum, style| sum.patch(*style))
    }

    fn end_line(&mut self) {
        if !self.spans.is_empty() {
            self.push_line(0);
        }
    }

    /// The number of columns that lists and quotes take.
    fn indent(&self) -> usize {
        (self.lists.len() + self.quotes) * 2
    }

    fn push_line(&mut self, hang: usize) {
        let mut flow = WrappedLine::new(std::mem::take(&mut self.spans), hang);
        let depth = self.lists.len().saturating_sub(1) * 2;
        let in_list = !self.lists.is_empty();
        let begin = match self.marker.take() {
            Some(marker) => format!("{}{marker}", " ".repeat(depth)),
            None if in_list => " ".repeat(depth + 2),
            None => String::new(),
        };
        if !begin.is_empty() {
            flow = flow.indented(Span::raw(begin));
        }
        if self.quotes > 0 {
            flow = flow.indented(dim("│ ".repeat(self.quotes)));
        }
        self.lines.push(flow);
    }

    /// Ends a line, and adds an empty one after it.
    fn end_block(&mut self) {
        self.end_line();
        if self.lists.is_empty()
            && self
                .lines
                .last()
                .is_some_and(|line| *line != WrappedLine::blank())
        {
            self.lines.push(WrappedLine::blank());
        }
    }
}

/// Whether what Markdown takes for bold is a name such as `__init__`: people write names that way, and bold with stars.
fn is_name(strong: &str) -> bool {
    strong.starts_with("__") && !strong.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_markdown_is_rendered_lightly() {
        let text = "# Title\n\nSome *text* with `code`,\nand [a link](http://x.y).\n\n1. one\n2. two\n   - inner\n\n```rust\nfn main() {\n\tlet a = 1;\n}\n```\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\nend";
        let lines = render(text, 80);
        let lines: Vec<String> = lines.iter().map(WrappedLine::text).collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        Title

        Some text with code, and a link (http://x.y).

        1. one
        2. two
          • inner

          fn main() {
              let a = 1;
          }

        │ quoted

        a │ b
        ──┼──
        1 │ 2

        ────────

        end
        ");
    }

    #[test]
    fn q2_markdown_never_hides_escape_sequences() {
        assert_eq!(render("a\u{1b}[2Jb", 80)[0].text(), "a␛[2Jb");
    }

    #[test]
    fn q2_names_with_underscores_are_not_bold() {
        let lines = render("Edit __init__.py and __main__, **not** __two words__.", 80);
        assert_eq!(
            lines[0].text(),
            "Edit __init__.py and __main__, not two words."
        );
        let bold: Vec<&str> = (lines[0].line.spans.iter())
            .filter(|span| span.style == BOLD)
            .map(|span| &*span.content)
            .collect();
        assert_eq!(bold, ["not", "two words"]);
    }

    #[test]
    fn q2_tables_are_aligned_and_fit_the_width() {
        let text = "| name | size |\n|:---|---:|\n| a | 1 |\n| `longer` | 1,000 |\n| a cell of many words | 7 |";
        let shown = |width: usize| -> String {
            let lines = render(text, width);
            let lines: Vec<String> = lines.iter().map(WrappedLine::text).collect();
            lines.join("\n")
        };
        insta::assert_snapshot!(shown(80), @r"
        name                 │  size
        ─────────────────────┼──────
        a                    │     1
        longer               │ 1,000
        a cell of many words │     7
        ");
        insta::assert_snapshot!(shown(20), @r"
        name         │  size
        ─────────────┼──────
        a            │     1
        longer       │ 1,000
        a cell of    │     7
        many words   │
        ");
    }

    #[test]
    fn q2_code_is_colored_and_never_dim() {
        let lines = render("```rust\nlet a = \"b\"; // c\n```\n\n```\nplain\n```", 80);
        let spans: Vec<&Span<'_>> = lines.iter().flat_map(|line| &line.line.spans).collect();
        let style_of = |text: &str| {
            let span = spans.iter().find(|span| span.content.contains(text));
            span.map(|span| span.style)
        };
        assert!(style_of("let").is_some_and(|style| style.fg.is_some()));
        assert_ne!(style_of("let"), style_of("// c"));
        assert_eq!(lines[0].text(), "  let a = \"b\"; // c");
        let is_dim = |span: &&Span<'_>| {
            span.style
                .add_modifier
                .contains(ratatui::style::Modifier::DIM)
        };
        assert!(!spans.iter().any(is_dim));
    }
}
