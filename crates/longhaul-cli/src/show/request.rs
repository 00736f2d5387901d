//! The request of a session, put together as a host would: from the head on disk, or without one.
//!
//! Nothing is written: what a host must have on disk before it sends is only handed back to the assembly.

use std::borrow::Cow;

use longhaul_core::collapse::Folds;
use longhaul_core::config::Config;
use longhaul_core::listing::Listing;
use longhaul_core::message::{Entry, HeadError, Subtype};
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::{
    Assembled, Assembly, Beginning, Birth, HeadReason, Latched, Marks, NotReady, Predecessor,
    Replay, RequestHead, RequestKind, Standing,
};
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::reading::{Seen, Sighted};
use crate::failure::{Failure, warn};
use crate::settings;

/// What is known of what stands before the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum HeadState {
    /// It is in the file.
    Recorded,
    /// It is in the file, and the conversation was changed behind it: the next request begins with a new one.
    Outdated,
    /// It is in the file and cannot be read.
    Unreadable,
    /// There is none.
    None,
}

/// A request, as far as there is one.
pub(super) struct Prepared {
    pub(super) head: HeadState,
    /// The model that is asked, if anything names one.
    pub(super) model: Option<String>,
    assembly: Assembly,
    marks: Marks,
    /// What the summary consists of, if old rounds were folded.
    folds: Option<Folds>,
    pub(super) body: Result<Assembled, NotReady>,
}

impl Prepared {
    /// What the request holds.
    pub(super) fn listing(&self) -> Listing<'_> {
        let is_known = matches!(self.head, HeadState::Recorded | HeadState::Outdated);
        let head = Some(self.assembly.head()).filter(|_| is_known);
        let listing = Listing::of(head, self.assembly.rendering(), &self.marks);
        match &self.folds {
            Some(folds) => listing.with_folds(folds),
            None => listing,
        }
    }

    /// The body, in slices.
    pub(super) fn body(&self) -> Result<&[impl AsRef<[u8]> + use<>], Failure> {
        let body = self.body.as_ref();
        let body = body.map_err(|not_ready| Failure::NoRequest(not_ready.clone()))?;
        match self.model {
            Some(_) => Ok(&body.slices),
            None => Err(Failure::NoModel),
        }
    }

    pub(super) fn head_is_unreadable(&self) -> bool {
        self.head == HeadState::Unreadable
    }

    /// How many messages there are.
    pub(super) fn messages(&self) -> usize {
        self.assembly.rendering().messages().len()
    }
}

/// Puts the request together; `say` is what the user says next.
pub(super) fn prepare(
    seen: &Seen,
    say: Option<&str>,
    config: &Config,
) -> Result<Prepared, Failure> {
    let models = settings::models(config)?;
    let spec = |model: Option<&str>| models.resolve(model.unwrap_or("unknown")).spec;
    let view = |index: usize| seen.entries[index].entry.view();
    let mut more = None;
    let (head, model, mut assembly) = match seen.replay() {
        Some(Ok(replay)) => {
            more = replay.more_fields();
            let model = replay.head.model().map(Cow::into_owned);
            let (state, assembly) = match replay.standing {
                Standing::Goes => (HeadState::Recorded, Assembly::resume(replay, view)),
                Standing::Outdated => {
                    let assembly = follow(&replay, &spec(model.as_deref()), &seen.entries);
                    (HeadState::Outdated, assembly)
                }
            };
            (state, model, assembly)
        }
        none => {
            let state = match none {
                Some(Err(unreadable)) => {
                    warn(&unreadable.to_string());
                    HeadState::Unreadable
                }
                _ => HeadState::None,
            };
            let recorded = seen.model.clone().or_else(|| newest_model(&seen.entries));
            let model = recorded.or_else(|| config.model.clone());
            let assembly = headless(model.as_deref(), &spec(model.as_deref()), config, seen)?;
            (state, model, assembly)
        }
    };
    acknowledge(&mut assembly)?;
    if let Some(text) = say {
        let line = json!({"type": "user", "message": {"role": "user", "content": text}});
        // What was just written can be read.
        if let Ok(entry) = Entry::read(line.to_string().into_bytes().into()) {
            let _ = assembly.push(entry.view());
        }
    }
    let body = assembly.request(RequestKind::Main, more.as_deref());
    let marks = match &body {
        Ok(assembled) => assembled.marks,
        // The next request marks what is not there yet. What the last one marked is what a fork would.
        Err(_) => (assembly.request(RequestKind::Fork { text: "" }, None))
            .map(|fork| fork.marks)
            .unwrap_or_default(),
    };
    let boundary = seen.entries.iter().rev().map(|seen| seen.entry.view());
    let mut boundary = boundary.filter(|entry| entry.facets.subtype == Subtype::CompactBoundary);
    let folds = boundary.next().and_then(Folds::from_boundary);
    Ok(Prepared {
        head,
        model,
        assembly,
        marks,
        folds,
        body,
    })
}

/// A rendering that begins anew under a head whose own is over.
fn follow(replay: &Replay, spec: &ModelSpec, entries: &[Sighted]) -> Assembly {
    let beginning = Beginning {
        before: Predecessor::Head(&replay.head),
        head: replay.head.clone(),
        reason: HeadReason::Rewound,
        binding: spec.thinking.binding,
    };
    Assembly::begin(beginning, entries.iter().map(|seen| seen.entry.view()))
}

/// A rendering of a session that has no head: messages only, and no cache marks.
fn headless(
    model: Option<&str>,
    spec: &ModelSpec,
    config: &Config,
    seen: &Seen,
) -> Result<Assembly, Failure> {
    let most = config.max_output.unwrap_or(u64::MAX);
    let body = json!({"model": model, "max_tokens": spec.max_output.min(most)});
    let head = RequestHead {
        system: RawValue::NULL.to_owned(),
        tools: RawValue::NULL.to_owned(),
        user_context: None,
        latched: Latched::new(
            None,
            [],
            spec,
            to_raw_value(&body).map_err(HeadError::Json)?,
        ),
    };
    let beginning = Beginning {
        before: Predecessor::None,
        head,
        reason: HeadReason::First,
        binding: spec.thinking.binding,
    };
    let views = seen.entries.iter().map(|seen| seen.entry.view());
    Ok(Assembly::begin(beginning, views))
}

/// The model of the newest reply.
fn newest_model(entries: &[Sighted]) -> Option<String> {
    let newest_first = entries.iter().rev().map(|seen| &seen.entry);
    let mut replies = newest_first.filter(|entry| entry.facets().is_reply());
    let reply = replies.find(|entry| entry.facets().model.is_present())?;
    Some(reply.view().text(reply.facets().model).into_owned())
}

/// Hands back what a host would have on disk by now.
fn acknowledge(assembly: &mut Assembly) -> Result<(), Failure> {
    let birth = Birth {
        session_id: "",
        uuid: "",
        parent: None,
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    };
    let entries = assembly.before_sending(birth)?;
    // These were made just now, so they are intact.
    let _ = assembly.persisted(&entries);
    Ok(())
}
