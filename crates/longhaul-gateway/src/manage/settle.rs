//! Where thinking is bound to what came before it (N2), what was thought before a new beginning came into use cannot be
//! sent behind it. So with its first use the new beginning is drawn out to the end of that request, without thinking; from
//! there on all of it is sent as it comes.

use bytes::Bytes;

use super::material::Material;
use super::rewrites::Rewrites;
use super::sending::Sending;
use super::{join, thinking};
use crate::store::{Kind, Made, Rewrite};

/// Settles the beginning that a request is about to be sent with.
pub(super) async fn settle(rewrites: &Rewrites, material: &mut Material) {
    let Some((base, from)) = material.sending.replaced.clone() else {
        return;
    };
    if base.rewrite.settled {
        return;
    }
    let recognised = &material.recognised;
    let Ok(outline) = crate::body::read(&material.body) else {
        return;
    };
    let rest: Vec<Bytes> = (outline.elements.iter().skip(from))
        .map(|element| material.body.slice(element.span.clone()))
        .map(|element| thinking::without_thinking(&thinking::without_marks(&element)))
        .collect();
    let mut elements = vec![base.rewrite.text.clone()];
    elements.extend(rest);
    let chain = recognised.chain;
    let settled = Rewrite {
        tenant: material.tenant,
        at: chain.hash,
        messages: chain.messages,
        text: join(&elements),
        settled: true,
        made: Made {
            session: material.placed.session,
            line: material.placed.line,
            kind: Kind::Settled,
            ..base.rewrite.made.clone()
        },
        ..base.rewrite.clone()
    };
    match rewrites.put(settled).await {
        Ok(settled) => {
            if let Some(sending) = Sending::behind(&material.body, recognised, &settled) {
                material.sending = sending;
            }
        }
        // What was to be used is not safe; the history as it came is right, if it fits.
        Err(error) => {
            tracing::warn!(%error, "a summary cannot be used: it cannot be kept");
            material.sending = Sending::as_it_came(&material.body);
        }
    }
}
