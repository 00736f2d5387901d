//! Converts the bytes of a response to text, by its content type and its encoding; HTML becomes Markdown.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::html;

/// How many bytes are examined to guess the kind of content.
const HEAD: usize = 2_048;

/// The kind of content of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageContentKind {
    Html,
    Text,
    Other,
}

/// The text of a response; an error names what it is instead.
pub(super) async fn read(content_type: Option<String>, bytes: Vec<u8>) -> Result<String, String> {
    let content_type = content_type.unwrap_or_default();
    let mut parts = content_type.split(';').map(str::trim);
    let mime = parts.next().unwrap_or_default().to_ascii_lowercase();
    let named = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        (name.trim().eq_ignore_ascii_case("charset")).then(|| value.trim().trim_matches('"'))
    });
    let kind = match &*mime {
        "" | "application/octet-stream" => guessed(&bytes),
        mime => declared(mime),
    };
    let label = match kind {
        PageContentKind::Other if mime.is_empty() => return Err("a binary file".to_owned()),
        PageContentKind::Other => return Err(mime),
        PageContentKind::Html => named.map(str::to_owned).or_else(|| in_head(&bytes)),
        PageContentKind::Text => named.map(str::to_owned),
    };
    let text = decoded(&bytes, label.as_deref());
    Ok(match kind {
        PageContentKind::Html => html::markdown(text).await,
        PageContentKind::Text | PageContentKind::Other => text,
    })
}

fn declared(mime: &str) -> PageContentKind {
    const TEXT: [&str; 13] = [
        "json",
        "xml",
        "javascript",
        "x-javascript",
        "ecmascript",
        "ndjson",
        "x-ndjson",
        "jsonl",
        "yaml",
        "x-yaml",
        "toml",
        "x-sh",
        "graphql",
    ];
    match mime.split_once('/') {
        Some(("text", "html")) | Some(("application", "xhtml+xml")) => PageContentKind::Html,
        Some(("text", _)) => PageContentKind::Text,
        Some(("application", name)) if TEXT.contains(&name) => PageContentKind::Text,
        Some((_, name)) => match name.rsplit_once('+') {
            Some((_, "json" | "xml" | "yaml")) => PageContentKind::Text,
            _ => PageContentKind::Other,
        },
        None => PageContentKind::Other,
    }
}

/// Guesses the kind of content where no content type is given.
fn guessed(bytes: &[u8]) -> PageContentKind {
    let head = &bytes[..bytes.len().min(HEAD)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The text was cut within a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return PageContentKind::Other,
    };
    let begins = text.trim_start().to_ascii_lowercase();
    match () {
        () if text.contains('\0') => PageContentKind::Other,
        () if begins.starts_with("<!doctype html") || begins.starts_with("<html") => {
            PageContentKind::Html
        }
        () => PageContentKind::Text,
    }
}

/// The encoding that a page names in its own head.
fn in_head(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let (_, behind) = head.split_once("charset=")?;
    let name = behind.trim_start_matches(['"', '\'', ' ']);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
    Some(name[..end.unwrap_or(name.len())].to_owned())
}

/// Decodes the text with the given encoding, or a guessed one. A byte order mark at its beginning takes precedence.
fn decoded(bytes: &[u8], label: Option<&str>) -> String {
    let named = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = named.unwrap_or_else(|| match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        _ => UTF_8,
    });
    encoding.decode(bytes).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn q1_text_is_read_in_the_encoding_it_is_in() {
        let read = async |kind: &str, bytes: &[u8]| {
            read(Some(kind.to_owned()), bytes.to_vec()).await.unwrap()
        };
        assert_eq!(
            read("text/plain; charset=ISO-8859-1", b"gr\xfcn").await,
            "grün"
        );
        assert_eq!(read("text/plain", b"gr\xfcn").await, "grün");
        assert_eq!(read("text/plain", b"\xff\xfea\0b\0").await, "ab");
        assert_eq!(read("", "grün".as_bytes()).await, "grün");
        assert_eq!(read("application/problem+json", b"{}").await, "{}");
        let meta = b"<html><head><meta charset='shift_jis'></head><p>\x93\xfa\x96{</p>";
        assert_eq!(read("text/html", meta).await, "日本");
    }

    #[tokio::test]
    async fn q1_what_is_not_text_is_named() {
        let read = async |kind: &str, bytes: &[u8]| {
            read(Some(kind.to_owned()), bytes.to_vec())
                .await
                .unwrap_err()
        };
        assert_eq!(read("application/pdf", b"%PDF").await, "application/pdf");
        assert_eq!(read("image/png", b"").await, "image/png");
        assert_eq!(read("", b"\x7fELF\0\0").await, "a binary file");
    }
}
