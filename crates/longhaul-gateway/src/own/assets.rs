//! The files of the page. They contain no data of any session, so they are public.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use longhaul_core::xxh3::xxh3_128;

use crate::own_body::OwnBody;

/// The path of the files.
pub(super) const FOLDER: &str = "/longhaul/page/";

/// Nothing from other hosts, nothing inline, no text read as markup, and no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($name:literal: $kind:expr),* $(,)?) => {
        [$(($name, $kind, include_str!(concat!("page/", $name)))),*]
    };
}

/// Name, content type, content.
const FILES: [(&str, &str, &str); 27] = files! {
    "index.html": HTML,
    "style.css": CSS,
    "icon.svg": "image/svg+xml",
    "api.js": SCRIPT,
    "app.js": SCRIPT,
    "axis.js": SCRIPT,
    "breaks.js": SCRIPT,
    "calls.js": SCRIPT,
    "chart.js": SCRIPT,
    "columns.js": SCRIPT,
    "compactions.js": SCRIPT,
    "days.js": SCRIPT,
    "dom.js": SCRIPT,
    "download.js": SCRIPT,
    "labels.js": SCRIPT,
    "list.js": SCRIPT,
    "live.js": SCRIPT,
    "marks.js": SCRIPT,
    "plot.js": SCRIPT,
    "report.js": SCRIPT,
    "session.js": SCRIPT,
    "spend.js": SCRIPT,
    "table.js": SCRIPT,
    "welcome.js": SCRIPT,
    "went.js": SCRIPT,
    "withheld.js": SCRIPT,
    "words.js": SCRIPT,
};

/// A file of the page; `None` if there is no such file.
pub(super) fn answer(path: &str, asked: &HeaderMap) -> Option<Response<OwnBody>> {
    let name = match path {
        "/" => "index.html",
        _ => path.strip_prefix(FOLDER)?,
    };
    let (_, kind, text) = FILES.iter().find(|(had, ..)| *had == name)?;
    let tag = format!("\"{:032x}\"", xxh3_128(text.as_bytes()));
    let known = asked.get_all(header::IF_NONE_MATCH).iter().any(|had| {
        let had = had.to_str().unwrap_or_default().split(',');
        had.map(|one| one.trim().trim_start_matches("W/"))
            .any(|one| one == tag || one == "*")
    });
    let mut answer = if known {
        Response::new(OwnBody::whole(Bytes::new()))
    } else {
        Response::new(OwnBody::whole(Bytes::from_static(text.as_bytes())))
    };
    if known {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = answer.headers_mut();
    // Browsers may cache it but must revalidate: the next version of the gateway has another page.
    let fixed = [
        (header::CONTENT_TYPE, *kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    headers.extend(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))));
    headers.extend(
        HeaderValue::try_from(tag)
            .ok()
            .map(|tag| (header::ETAG, tag)),
    );
    Some(answer)
}
