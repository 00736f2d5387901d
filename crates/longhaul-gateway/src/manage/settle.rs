//! Where thinking is bound to what came before it (N2), what was thought before a new beginning came into use cannot be
//! sent behind it. So with its first use the new beginning is drawn out to the model's last words in that request, without
//! thinking; from there on all of it is sent as it comes.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use super::material::Material;
use super::rewrites::{Rewrites, Shelved};
use super::sending::Sending;
use super::{join, thinking};
use crate::body::Role;
use crate::store::{Kind, Made, Rewrite};

/// Settles the beginning that a request is about to be sent with, if that was not done yet.
pub(super) async fn settle(rewrites: &Rewrites, material: &mut Material) {
    if let Some((base, _)) = &material.sending.replaced
        && !base.rewrite.settled
    {
        // Seldom done, and large.
        Box::pin(without_thinking(rewrites, material)).await;
    }
}

/// The same for a request that is only counted: nothing comes into use by that, so nothing is kept.
pub(super) fn as_if_settled(material: &mut Material) {
    if let Some((base, _)) = &material.sending.replaced
        && !base.rewrite.settled
        && let Some(settled) = settled(material)
    {
        let settled = Arc::new(Shelved::new(settled));
        let behind = Sending::behind(&material.body, &material.recognised, &settled);
        material.sending = behind.unwrap_or_else(|| material.sending.clone());
    }
}

/// Leaves out all that was thought so far, from this request on. Gives whether that is how it is sent now.
pub(super) async fn without_thinking(rewrites: &Rewrites, material: &mut Material) -> bool {
    let Some(settled) = settled(material) else {
        return false;
    };
    match rewrites.put_at_once(settled).await {
        Ok(settled) => {
            let behind = Sending::behind(&material.body, &material.recognised, &settled);
            let is_so = behind.is_some();
            material.sending = behind.unwrap_or_else(|| Sending::as_it_came(&material.body));
            is_so
        }
        // What was to be used is not safe; the history as it came is right, if it fits.
        Err(error) => {
            tracing::warn!(%error, "a summary cannot be used: it cannot be kept");
            material.sending = Sending::as_it_came(&material.body);
            false
        }
    }
}

fn settled(material: &Material) -> Option<Rewrite> {
    let (base, from) = match &material.sending.replaced {
        Some((base, from)) => (Some(base), *from),
        None => (None, material.recognised.lead),
    };
    if material.size.is_some() {
        return None;
    }
    // What the client says last keeps its bytes, and with them its cache marker: nothing is thought there.
    let mut roles = material.roles().iter();
    let last = roles.rposition(|role| *role == Role::Assistant);
    let Some(last) = last.filter(|last| *last >= from) else {
        return base.map(|base| Rewrite {
            settled: true,
            ..base.rewrite.clone()
        });
    };
    let rest = (from..=last).map(|index| material.element(index));
    let rest: Vec<Bytes> = rest.collect::<Option<_>>()?;
    let rest = rest.iter().map(thinking::without_marks);
    let beginning = base.iter().flat_map(|base| base.elements.iter());
    let elements: Vec<Bytes> = (beginning.map(|(_, element)| element.clone()))
        .chain(rest)
        .map(|element| thinking::without_thinking(&element))
        .collect();
    Some(Rewrite {
        tenant: material.tenant,
        at: *material.recognised.hashes.get(last)?,
        messages: material.spoken_until(last),
        text: join(&elements),
        root: base.and_then(|base| base.rewrite.root),
        summary: base.map_or(0, |base| base.rewrite.summary),
        lines: base.map_or_else(Bytes::new, |base| base.rewrite.lines.clone()),
        cleared: base.map_or_else(Vec::new, |base| base.rewrite.cleared.clone()),
        settled: true,
        made: made(material, base),
    })
}

fn made(material: &Material, base: Option<&Arc<Shelved>>) -> Made {
    let (session, line) = (material.placed.session, material.placed.line);
    let at = Timestamp::now();
    match base {
        Some(base) => Made {
            session,
            line,
            at,
            kind: Kind::Settled,
            cost: None,
            report: base.rewrite.made.settled_report(),
            ..base.rewrite.made.clone()
        },
        None => Made {
            session,
            line,
            at,
            kind: Kind::Settled,
            before: 0,
            after: 0,
            millis: 0,
            waited: None,
            cost: None,
            report: "{}".to_owned(),
        },
    }
}
