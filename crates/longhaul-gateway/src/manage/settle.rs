//! Where thinking is bound to what came before it (N2), what was thought before a new beginning came into use cannot be
//! sent behind it. So with its first use the new beginning is drawn out to the end of that request, without thinking; from
//! there on all of it is sent as it comes.

use bytes::Bytes;

use super::material::Material;
use super::rewrites::Rewrites;
use super::sending::Sending;
use super::{join, thinking};
use crate::body::Role;
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
    // What the client says last keeps its bytes, and with them its cache marker: nothing is thought there.
    let thought = (outline.elements.iter().enumerate().skip(from))
        .rfind(|(_, element)| element.role == Role::Assistant);
    let until = thought.map(|(at, _)| at);
    let rest = outline
        .elements
        .iter()
        .take(until.map_or(from, |at| at + 1));
    let rest = rest.skip(from).map(|element| {
        let element = material.body.slice(element.span.clone());
        thinking::without_marks(&element)
    });
    let beginning = base.elements.iter().map(|(_, element)| element.clone());
    let elements: Vec<Bytes> = beginning
        .chain(rest)
        .map(|element| thinking::without_thinking(&element))
        .collect();
    let spoken = outline.elements.iter().take(until.map_or(0, |at| at + 1));
    let spoken = spoken.filter(|element| element.role != Role::System);
    let settled = Rewrite {
        at: until
            .and_then(|at| recognised.hashes.get(at).copied())
            .unwrap_or(base.rewrite.at),
        messages: match until {
            Some(_) => u32::try_from(spoken.count()).unwrap_or(u32::MAX),
            None => base.rewrite.messages,
        },
        text: join(&elements),
        settled: true,
        made: Made {
            session: material.placed.session,
            line: material.placed.line,
            kind: match until {
                Some(_) => Kind::Settled,
                None => base.rewrite.made.kind,
            },
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
