//! Makes a text harmless in a web page. Names of files and models come from others, and they may hold anything.

use crate::text::clean;

/// The text as it may stand in an element or in an attribute in double quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in clean(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v7_no_text_can_become_an_element_or_an_attribute() {
        assert_eq!(
            escaped("<script>alert('x')</script> & \"y\"\u{202e}\u{0}"),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;  "
        );
    }
}
