//! The seam to a small model that looks through a page.

use longhaul::Boxed;
use longhaul_core::normalize::fragment::fill;
use tokio_util::sync::CancellationToken;

/// Answers a question from a page, so that the page itself does not fill the window.
///
/// An implementer asks a small model with [`digest_prompt`], and ends soon after it is cancelled. An error is half a
/// sentence that says why; the model then gets the page.
pub trait Digest: Send + Sync {
    /// What the page says to the prompt.
    fn digest<'a>(
        &'a self,
        page: &'a str,
        prompt: &'a str,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<String, String>>;
}

/// What a small model is asked.
pub fn digest_prompt(page: &str, prompt: &str) -> String {
    let gaps = [("page", page), ("prompt", prompt)];
    fill(include_str!("fragments/digest.md"), &gaps)
}
