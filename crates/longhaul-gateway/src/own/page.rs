//! The page: one file without any outside asset.

use http::{HeaderValue, Response, header};

use crate::front::Answer;

const PAGE: &str = include_str!("page.html");
/// Nothing from elsewhere, and nobody may frame it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn answer() -> Response<Answer> {
    let mut answer = super::text(PAGE.to_owned(), "text/html; charset=utf-8");
    let headers = answer.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(POLICY),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
