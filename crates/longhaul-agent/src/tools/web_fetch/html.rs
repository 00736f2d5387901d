//! Converts any HTML page to Markdown; a page that the converter cannot handle becomes plain text.
//!
//! The converter recurses for each level, so a page with many thousands of levels would crash the process. The depth of
//! a page is determined first, from its tags alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::{BulletListMarker, Options};
use htmd::{Element, HtmlToMarkdown};
use tokio::sync::oneshot;

use super::tags::HtmlTags;

/// The maximum depth. Deeper pages are not converted. Browsers stop at 512.
const DEEPEST: usize = 400;
/// The stack size for that depth.
const STACK: usize = 64 << 20;
/// Tags whose content is not meant for readers.
const HIDDEN: [&str; 6] = ["script", "style", "noscript", "template", "svg", "iframe"];
/// Tags without an end tag, and those that the next tag of their kind ends: they do not add levels.
const FLAT: [&str; 29] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr", "p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead",
    "tbody", "tfoot", "colgroup", "rt", "rp",
];

/// A page as Markdown.
pub(super) async fn markdown(html: String) -> String {
    let html: Arc<str> = html.into();
    let page = html.clone();
    let (done, converted) = oneshot::channel();
    let thread = std::thread::Builder::new().stack_size(STACK);
    let started = thread.spawn(move || {
        let _ = done.send(convert(&page));
    });
    match (started, converted.await) {
        (Ok(_), Ok(text)) => text,
        // The converter failed, or there is no thread for it.
        _ => plain(&html),
    }
}

fn convert(html: &str) -> String {
    if depth(html) > DEEPEST {
        return plain(html);
    }
    let converter = HtmlToMarkdown::builder()
        .skip_tags(HIDDEN.to_vec())
        .add_handler(vec!["img"], picture)
        .options(Options {
            bullet_list_marker: BulletListMarker::Dash,
            ul_bullet_spacing: 1,
            ol_number_spacing: 1,
            ..Options::default()
        })
        .build();
    converter.convert(html).unwrap_or_else(|_| plain(html))
}

/// A picture as it is, unless its address contains the picture's data, which is long and unreadable.
fn picture(handlers: &dyn Handlers, picture: Element<'_>) -> Option<HandlerResult> {
    let is_inline = |value: &str| value.trim_start().starts_with("data:");
    let inline = picture
        .attrs
        .iter()
        .any(|attribute| &*attribute.name.local == "src" && is_inline(&attribute.value));
    if inline {
        None
    } else {
        handlers.fallback(picture)
    }
}

/// An upper bound for the depth of a page: tags that were opened and not closed, counted by name, because an end tag of
/// another name closes nothing.
fn depth(html: &str) -> usize {
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    let (mut now, mut deepest) = (0_usize, 0);
    for tag in HtmlTags::of(html) {
        if FLAT.contains(&&*tag.name) || tag.closes_itself {
            continue;
        }
        let count = open.entry(tag.name).or_default();
        match (tag.is_end, *count) {
            (true, 0) => {}
            (true, _) => {
                *count -= 1;
                now -= 1;
            }
            (false, _) => {
                *count += 1;
                now += 1;
                deepest = deepest.max(now);
            }
        }
    }
    deepest
}

/// The text of a page without its tags.
fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut from = 0;
    for tag in HtmlTags::of(html) {
        text.push_str(&html[from..tag.start]);
        text.push(' ');
        from = tag.end;
    }
    text.push_str(&html[from..]);
    let text = text
        .replace("&nbsp;", " ")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    let text = text.replace("&quot;", "\"").replace("&amp;", "&");
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn q1_a_page_becomes_markdown() {
        let html = "<html><head><title>T</title><style>p{}</style><script>if (a<b) {}</script></head><body>\
            <h1>Title</h1><p>One <a href='/x'>link</a> &amp; more.</p><ul><li>a<li>b</ul>\
            <pre><code>let x = 1;</code></pre><img src='data:image/png;base64,AAAA' alt='x'><img src='/y.png' alt='y'>\
            <ol><li>one<li>two</ol></body></html>";
        let lines = [
            "T",
            "",
            "# Title",
            "",
            "One [link](/x) & more.",
            "",
            "- a",
            "- b",
            "",
            "```",
            "let x = 1;",
            "```",
            "",
            "![y](/y.png)",
            "",
            "1. one",
            "2. two",
        ];
        assert_eq!(markdown(html.to_owned()).await, lines.join("\n"));
    }

    #[tokio::test]
    async fn q1_a_page_of_any_depth_is_read() {
        let nested = [
            "<div>",
            "<div></b>",
            "<b>",
            "<div><table><td></div>",
            "<a><p>",
            "<ul><li>",
            "<svg>",
            "<DIV\n>",
            "<blockquote><ul><li>",
            "<b><i><p>",
            "<button><table><tr><td></button>",
        ];
        // Some pages that are converted, and some that are deeper than any stack holds.
        for (tags, times) in nested.iter().flat_map(|tags| [(tags, 120), (tags, 20_000)]) {
            let (open, end) = (tags.repeat(times), "</div>".repeat(times));
            let text = markdown(format!("<p>beginning</p>{open}deep inside{end}")).await;
            assert!(
                text.contains("beginning"),
                "{tags} {times}: {:.100}",
                text.trim()
            );
        }
        let icons = "<div><path d='1'/></div>".repeat(5_000);
        assert_eq!(depth(&icons), 1);
        assert_eq!(
            depth("<p>a<p>b<li>c<br><!-- <b> --><script>'<b>'</script>"),
            1
        );
    }

    proptest::proptest! {
        #[test]
        fn q1_any_soup_of_tags_is_read(
            soup in "(<(/?(div|p|b|a href='x'|table|td|ul|li|pre|code|img src=y|svg|h1|br)|!--|script)>|-->|[a-z&;\\n ]){0,200}",
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let _ = runtime.block_on(markdown(soup));
        }
    }

    #[test]
    fn q1_tags_that_never_end_take_no_time() {
        for begun in ["<!--", "<script>", "<a", "</", "<"] {
            let _ = depth(&begun.repeat(1 << 20));
        }
    }
}
