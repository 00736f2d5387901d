//! Writes JSON text with keys in the order given.
//!
//! `serde_json`'s values are not used: their key order needs the `preserve_order` feature, and Cargo would then switch
//! it on for every crate of the workspace, including the benches' baseline.

/// An object under construction.
#[derive(Debug)]
pub(crate) struct ObjectBuilder(String);

impl ObjectBuilder {
    /// Opens the object with `{`.
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    /// Adds a string member.
    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        quote_into(&mut self.0, value);
        self
    }

    /// Adds a string member, or `null`.
    pub(crate) fn text_or_null(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(key, value),
            None => self.raw(key, "null"),
        }
    }

    /// Adds a whole number.
    pub(crate) fn number(self, key: &str, value: u64) -> Self {
        self.raw(key, &value.to_string())
    }

    /// Adds `true` or `false`.
    pub(crate) fn flag(self, key: &str, value: bool) -> Self {
        self.raw(key, if value { "true" } else { "false" })
    }

    /// Adds a member whose value is already JSON.
    pub(crate) fn raw(mut self, key: &str, json: &str) -> Self {
        self.key(key);
        self.0.push_str(json);
        self
    }

    /// Closes the object with `}`.
    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        quote_into(&mut self.0, key);
        self.0.push(':');
    }
}

/// An array of JSON texts.
pub(crate) fn array<I: IntoIterator<Item = S>, S: AsRef<str>>(items: I) -> String {
    let mut out = String::from("[");
    for item in items {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(item.as_ref());
    }
    out.push(']');
    out
}

/// A JSON string.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16 + 2);
    quote_into(&mut out, text);
    out
}

/// Escapes exactly what JavaScript's `JSON.stringify` escapes, since that writes the real files.
fn quote_into(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_in_order_and_text_survives() {
        let text = "tab\t quote\" back\\ bell\u{7} émoji 🚢\r\n\u{8}\u{c}";
        let json = ObjectBuilder::new()
            .text("z", text)
            .number("a", 7)
            .flag("m", true)
            .text_or_null("n", None)
            .end();
        assert!(json.starts_with("{\"z\":") && json.ends_with("\"a\":7,\"m\":true,\"n\":null}"));
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["z"], text);
        assert_eq!(
            array([quote("x"), ObjectBuilder::new().end()]),
            "[\"x\",{}]"
        );
    }
}
