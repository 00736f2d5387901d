//! The request of a session, put together as a host would: with the request prefix on disk, or without one.
//!
//! Nothing is written: lines that a host must have on disk before it sends are only handed back to the assembly.

use std::borrow::Cow;

use longhaul_core::collapse::Folds;
use longhaul_core::config::Config;
use longhaul_core::listing::Listing;
use longhaul_core::message::{Entry, PrefixEntryError, Subtype};
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::{
    AssembledRequest, LatchedSettings, MessageBreakpoints, NewEntryStamp, PrefixReason,
    PrefixValidity, PriorRendering, RenderingReplay, RenderingStart, RequestAssembly, RequestKind,
    RequestNotReady, RequestPrefix,
};
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::reading::{EntryAtOffset, SessionReading};
use crate::failure::{CliError, warn};
use crate::settings;

/// The known facts about the request prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PrefixState {
    /// It is in the file.
    Recorded,
    /// It is in the file, but the conversation was changed after it: the next request begins with a new one.
    Outdated,
    /// It is in the file and cannot be read.
    Unreadable,
    /// There is no request prefix.
    None,
}

/// A request, as far as it can be made.
pub(super) struct ReplayedRequest {
    pub(super) prefix: PrefixState,
    /// The model that is asked, if anything names one.
    pub(super) model: Option<String>,
    assembly: RequestAssembly,
    breakpoints: MessageBreakpoints,
    /// The folds that make up the summary, if old rounds were folded.
    folds: Option<Folds>,
    pub(super) body: Result<AssembledRequest, RequestNotReady>,
}

impl ReplayedRequest {
    /// The items of the request.
    pub(super) fn listing(&self) -> Listing<'_> {
        let is_known = matches!(self.prefix, PrefixState::Recorded | PrefixState::Outdated);
        let head = Some(self.assembly.prefix()).filter(|_| is_known);
        let listing = Listing::of(head, self.assembly.rendering(), &self.breakpoints);
        match &self.folds {
            Some(folds) => listing.with_folds(folds),
            None => listing,
        }
    }

    /// The body, in slices.
    pub(super) fn body(&self) -> Result<&[impl AsRef<[u8]> + use<>], CliError> {
        let body = self.body.as_ref();
        let body = body.map_err(|not_ready| CliError::NoRequest(not_ready.clone()))?;
        match self.model {
            Some(_) => Ok(&body.slices),
            None => Err(CliError::NoModel),
        }
    }

    pub(super) fn prefix_is_unreadable(&self) -> bool {
        self.prefix == PrefixState::Unreadable
    }

    /// The number of messages.
    pub(super) fn messages(&self) -> usize {
        self.assembly.rendering().messages().len()
    }
}

/// Puts the request together; `say` is the user's next message.
pub(super) fn prepare(
    seen: &SessionReading,
    say: Option<&str>,
    config: &Config,
) -> Result<ReplayedRequest, CliError> {
    let models = settings::models(config)?;
    let spec = |model: Option<&str>| models.resolve(model.unwrap_or("unknown")).spec;
    let view = |index: usize| seen.entries[index].entry.view();
    let mut more = None;
    let (head, model, mut assembly) = match seen.replay() {
        Some(Ok(replay)) => {
            more = replay.more_fields();
            let model = replay.prefix.model().map(Cow::into_owned);
            let (state, assembly) = match replay.standing {
                PrefixValidity::Goes => {
                    (PrefixState::Recorded, RequestAssembly::resume(replay, view))
                }
                PrefixValidity::Outdated => {
                    let assembly = follow(&replay, &spec(model.as_deref()), &seen.entries);
                    (PrefixState::Outdated, assembly)
                }
            };
            (state, model, assembly)
        }
        none => {
            let state = match none {
                Some(Err(unreadable)) => {
                    warn(&unreadable.to_string());
                    PrefixState::Unreadable
                }
                _ => PrefixState::None,
            };
            let recorded = seen.model.clone().or_else(|| newest_model(&seen.entries));
            let model = recorded.or_else(|| config.model.clone());
            let assembly = without_prefix(model.as_deref(), &spec(model.as_deref()), config, seen)?;
            (state, model, assembly)
        }
    };
    acknowledge(&mut assembly)?;
    if let Some(text) = say {
        let line = json!({"type": "user", "message": {"role": "user", "content": text}});
        // A line that was just written can be read.
        if let Ok(entry) = Entry::read(line.to_string().into_bytes().into()) {
            let _ = assembly.push(entry.view());
        }
    }
    let body = assembly.request(RequestKind::Main, more.as_deref());
    let marks = match &body {
        Ok(assembled) => assembled.breakpoints,
        // The next request puts a breakpoint on content that does not exist yet. The last request's breakpoint is where
        // a fork puts it.
        Err(_) => (assembly.request(RequestKind::Fork { text: "" }, None))
            .map(|fork| fork.breakpoints)
            .unwrap_or_default(),
    };
    let boundary = seen.entries.iter().rev().map(|seen| seen.entry.view());
    let mut boundary = boundary.filter(|entry| entry.facets.subtype == Subtype::CompactBoundary);
    let folds = boundary.next().and_then(Folds::from_boundary);
    Ok(ReplayedRequest {
        prefix: head,
        model,
        assembly,
        breakpoints: marks,
        folds,
        body,
    })
}

/// A new rendering with a request prefix whose own rendering is over.
fn follow(
    replay: &RenderingReplay,
    spec: &ModelSpec,
    entries: &[EntryAtOffset],
) -> RequestAssembly {
    let beginning = RenderingStart {
        before: PriorRendering::Head(&replay.prefix),
        head: replay.prefix.clone(),
        reason: PrefixReason::Rewound,
        binding: spec.thinking.binding,
    };
    RequestAssembly::begin(beginning, entries.iter().map(|seen| seen.entry.view()))
}

/// A rendering of a session that has no request prefix: messages only, and no cache breakpoints.
fn without_prefix(
    model: Option<&str>,
    spec: &ModelSpec,
    config: &Config,
    seen: &SessionReading,
) -> Result<RequestAssembly, CliError> {
    let most = config.max_output.unwrap_or(u64::MAX);
    let body = json!({"model": model, "max_tokens": spec.max_output.min(most)});
    let head = RequestPrefix {
        system: RawValue::NULL.to_owned(),
        tools: RawValue::NULL.to_owned(),
        user_context: None,
        latched: LatchedSettings::new(
            None,
            [],
            spec,
            to_raw_value(&body).map_err(PrefixEntryError::Json)?,
        ),
    };
    let beginning = RenderingStart {
        before: PriorRendering::None,
        head,
        reason: PrefixReason::First,
        binding: spec.thinking.binding,
    };
    let views = seen.entries.iter().map(|seen| seen.entry.view());
    Ok(RequestAssembly::begin(beginning, views))
}

/// The model of the newest reply.
fn newest_model(entries: &[EntryAtOffset]) -> Option<String> {
    let newest_first = entries.iter().rev().map(|seen| &seen.entry);
    let mut replies = newest_first.filter(|entry| entry.facets().is_reply());
    let reply = replies.find(|entry| entry.facets().model.is_present())?;
    Some(reply.view().text(reply.facets().model).into_owned())
}

/// Hands back the lines that a host would have on disk by now.
fn acknowledge(assembly: &mut RequestAssembly) -> Result<(), CliError> {
    let birth = NewEntryStamp {
        session_id: "",
        uuid: "",
        parent: None,
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    };
    let entries = assembly.entries_before_request(birth)?;
    // These lines were created just now, so they are intact.
    let _ = assembly.persisted(&entries);
    Ok(())
}
