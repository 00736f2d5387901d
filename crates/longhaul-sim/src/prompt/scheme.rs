//! What a layout depends on besides the request.

use std::collections::BTreeSet;

use longhaul_core::models::ModelSpec;

use crate::tokens::TokenizerFamily;

/// What a layout depends on besides the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayoutScheme<'a> {
    /// The model's specification.
    pub spec: &'a ModelSpec,
    /// The `anthropic-beta` header.
    pub betas: &'a BTreeSet<String>,
}

impl LayoutScheme<'_> {
    pub(super) fn family(&self) -> TokenizerFamily {
        TokenizerFamily::from(self.spec.tokenizer)
    }
}
