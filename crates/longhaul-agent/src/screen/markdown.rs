//! Simple Markdown: headings, lists, code, quotes, tables as lines of text. Anything else is shown as it is written.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Style;
use ratatui::text::Span;

use super::flow::WrappedLine;
use super::style::{BOLD, CODE, DIM, ITALIC, dim, styled};
use super::text::clean;

/// A text of the model as lines. It is made harmless first.
pub(crate) fn render(text: &str) -> Vec<WrappedLine> {
    let text = clean(text);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = MarkdownPage::default();
    for event in Parser::new_ext(&text, options) {
        page.event(event);
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

#[derive(Default)]
struct MarkdownPage {
    lines: Vec<WrappedLine>,
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    /// The number of the next item of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// What the next line begins with, in place of its indent.
    marker: Option<String>,
    quotes: usize,
    code: bool,
    link: Option<String>,
    cells: usize,
}

impl MarkdownPage {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code => {
                for line in text.lines() {
                    self.spans.push(styled(format!("  {line}"), DIM));
                    self.push_line(4);
                }
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
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

    fn start(&mut self, tag: Tag<'_>) {
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
            Tag::CodeBlock(_) => {
                self.end_line();
                self.code = true;
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
            Tag::Strong => self.styles.push(BOLD),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some(dest_url.into_string());
            }
            Tag::TableHead => self.styles.push(BOLD),
            Tag::TableRow => self.cells = 0,
            Tag::TableCell => {
                if self.cells > 0 {
                    self.spans.push(dim(" │ "));
                }
                self.cells += 1;
            }
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
                self.code = false;
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
            TagEnd::Emphasis | TagEnd::Strong => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                let shown: String = self.spans.iter().map(|span| &*span.content).collect();
                if let Some(url) = self.link.take().filter(|url| !shown.ends_with(url)) {
                    self.spans.push(dim(format!(" ({url})")));
                }
            }
            TagEnd::TableHead => {
                self.styles.pop();
                self.cells = 0;
                self.end_line();
            }
            TagEnd::TableRow => self.end_line(),
            TagEnd::Table => self.end_block(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_markdown_is_rendered_lightly() {
        let text = "# Title\n\nSome *text* with `code`,\nand [a link](http://x.y).\n\n1. one\n2. two\n   - inner\n\n```rust\nfn main() {\n\tlet a = 1;\n}\n```\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\nend";
        let lines = render(text);
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
        1 │ 2

        ────────

        end
        ");
    }

    #[test]
    fn q2_markdown_never_hides_escape_sequences() {
        assert_eq!(render("a\u{1b}[2Jb")[0].text(), "a␛[2Jb");
    }
}
