//! Reads a conversation, places it, decides what is sent for it, and records that.

use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Uri};
use longhaul_core::config::ResultReduction;
use longhaul_provider::Dialect;

use super::call_details::{CallDetails, UnrecordedPlacement};
use crate::body::NotAConversation;
use crate::branch::{self, BranchPlacement, BranchRelation, ClientGroup, RecognizedBody};
use crate::manage::{OwnRequestBooks, RequestContext, UpstreamCaller};
use crate::options::SessionNames;
use crate::peer_sync::KeyTenant;
use crate::policy::RequestPolicy;
use crate::refusal::GatewayRefusal;
use crate::state::GatewayState;
use crate::store::BranchRecord;
use crate::watch::{SentRequest, WatchedRequest};

/// Bodies with more unknown bytes than this are read on a blocking thread.
const LONG: usize = 512 << 10;
/// Before its real size is known, reading a body is charged with at most one part in this many of the memory.
const BEFORE: usize = 8;
/// The cache is not watched for requests whose beta features are longer than this.
const LONGEST_BETAS: usize = 4 << 10;

/// Reads a conversation, on a blocking thread if it would keep others waiting. A body that is not a conversation is
/// reported as such; a conversation that is too large, or that there is no memory for, is rejected.
pub(super) async fn recognize(
    state: &Arc<GatewayState>,
    request: branch::RecognitionRequest<'_>,
    body: &Bytes,
) -> Result<Result<RecognizedBody, NotAConversation>, GatewayRefusal> {
    let (starts, shared) = state.recognizer.shared(request);
    let (bytes, messages) = (shared.as_ref()).map_or((0, 0), |it| (it.known(), it.messages()));
    let unknown = body.len() - bytes;
    // Before the body is read, only the maximum is known; a body with few messages must not be rejected for that.
    let most = RecognizedBody::most(unknown, messages).min(state.budget.limit() / BEFORE);
    let mut charge = state.budget.take(most)?;
    let read = if unknown < LONG {
        state.recognizer.read_rest(request, starts, shared)
    } else {
        read_apart(state, request, body, starts, shared).await
    };
    match read {
        Ok(mut recognized) => {
            match recognized.bytes().checked_sub(charge.bytes()) {
                Some(more) => charge.grow(more)?,
                None => charge.shrink_to(recognized.bytes()),
            }
            recognized.charge = Some(Arc::new(charge));
            Ok(Ok(recognized))
        }
        Err(NotAConversation::TooManyMessages) => Err(GatewayRefusal::TooManyMessages),
        Err(NotAConversation::LongModelName) => Err(GatewayRefusal::LongModelName),
        Err(not) => Ok(Err(not)),
    }
}

async fn read_apart(
    state: &Arc<GatewayState>,
    request: branch::RecognitionRequest<'_>,
    body: &Bytes,
    starts: branch::BodyBeginnings,
    shared: Option<branch::SharedBeginning>,
) -> Result<RecognizedBody, NotAConversation> {
    let (state, body) = (Arc::clone(state), body.clone());
    let (tenant, dialect) = (request.tenant, request.dialect);
    let reading = tokio::task::spawn_blocking(move || {
        let request = branch::RecognitionRequest {
            tenant,
            dialect,
            body: &body,
        };
        state.recognizer.read_rest(request, starts, shared)
    });
    reading.await.unwrap_or(Err(NotAConversation::OtherShape))
}

/// A conversation that was read.
pub(super) struct RequestPlacement<'r> {
    pub(super) state: &'r Arc<GatewayState>,
    pub(super) asked: branch::RecognitionRequest<'r>,
    pub(super) body: &'r Bytes,
    /// All headers of the client; `passed` has only those that are passed on.
    pub(super) headers: &'r HeaderMap,
    pub(super) passed: &'r Arc<HeaderMap>,
    pub(super) uri: &'r Uri,
}

impl RequestPlacement<'_> {
    /// Places the conversation and records it; compacts it, if the policy is to manage.
    pub(super) async fn place(&self, call: &mut CallDetails, mut recognized: RecognizedBody) {
        let Self { state, asked, .. } = self;
        if call.policy == RequestPolicy::Off {
            return;
        }
        let model = recognized.outline.model(self.body).into_owned();
        call.model = Some(model.clone());
        // The other API has none.
        call.has_breakpoints =
            (asked.dialect == Dialect::Anthropic).then(|| recognized.breakpoints.are_set());
        if call.is_apart {
            call.note = Some("sent without a key, and so not recognized".to_owned());
            return;
        }
        let members = &recognized.outline.members;
        if members.threaded {
            // The messages are not the whole history: the upstream stores it.
            call.note = Some("a thread that the upstream holds; not recognized".to_owned());
            return;
        }
        let metadata = members.metadata.clone();
        let metadata = metadata.and_then(|span| self.body.get(span));
        let group = ClientGroup::of(self.headers, metadata);
        let agent = group.as_ref().is_some_and(|group| group.agent);
        // The organization may have become known since the request arrived.
        let whose = || {
            let tenants = state.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            tenants.whose(call.of_key)
        };
        let (of_key, tenant) = (KeyTenant(call.of_key), whose());
        let catching_up =
            (state.peer_sync).catch_up(&state.recognizer, (of_key, tenant), &recognized.hashes);
        catching_up.await;
        let pending = state.recognizer.find(whose(), *asked, &recognized, group);
        recognized.is_placed();
        let placed = pending.found();
        let messages = recognized.chain.messages;
        call.placed = Some((placed, messages));
        call.note = Some(describe_relation(placed.relation, messages));
        let mut line = BranchRecord {
            line: placed.line,
            tenant: placed.tenant,
            session: placed.session,
            parent: match placed.relation {
                BranchRelation::Branches(from, _) => Some(from),
                _ => None,
            },
            chain: placed.stands,
            model: model.clone(),
            agent,
            seen: call.at,
            title: None,
        };
        let recognized = Arc::new(recognized);
        if call.policy == RequestPolicy::Manage {
            line.title = self.prepare(call, placed, &model, &recognized).await;
        }
        let watch = match &call.context {
            Some(context) => watched(state, context),
            None => betas(self.passed).and_then(|betas| {
                let (heads, budget) = (state.usage_queue.prefixes(), &state.budget);
                let (session, dialect) = (placed.session, asked.dialect);
                WatchedRequest::new(
                    heads, budget, session, dialect, self.body, recognized, betas,
                )
            }),
        };
        let sent = SentRequest {
            call: call.number,
            at: call.at,
            line,
            watch,
        };
        call.waiting = Some(Box::new(UnrecordedPlacement { pending, sent }));
    }

    /// Decides what is sent for a managed conversation. Returns the title of one that begins.
    async fn prepare(
        &self,
        call: &mut CallDetails,
        placed: BranchPlacement,
        model: &str,
        recognized: &Arc<RecognizedBody>,
    ) -> Option<String> {
        let state = self.state;
        let mut context = self.request_context(call, placed, model, recognized);
        context.economy = call.economy.unwrap_or(state.compactor.default_economy());
        context.of_key = call.of_key;
        context.recall = call.recall;
        context.reduce = self.reduction(call);
        let begins = matches!(
            placed.relation,
            BranchRelation::New | BranchRelation::Branches(..)
        );
        let title = (begins && state.session_names == SessionNames::FirstWords)
            .then(|| state.compactor.title(&context))
            .flatten();
        let prepared = state.compactor.prepare(&mut context).await;
        call.waited = prepared.waited;
        call.context = Some(Box::new(context));
        title
    }

    /// Handles a request that only counts tokens: the count is of what would be sent. It is not placed anywhere.
    pub(super) async fn count(&self, call: &mut CallDetails, recognized: RecognizedBody) {
        if call.policy != RequestPolicy::Manage {
            return;
        }
        let model = recognized.outline.model(self.body).into_owned();
        let placed = BranchPlacement {
            line: branch::BranchId(0),
            tenant: self.asked.tenant,
            session: branch::GatewaySessionId(0),
            relation: BranchRelation::New,
            stands: recognized.chain,
            last_used: None,
        };
        let mut context = self.request_context(call, placed, &model, &Arc::new(recognized));
        context.of_key = call.of_key;
        context.reduce = self.reduction(call);
        self.state.compactor.found(&mut context).await;
        call.context = Some(Box::new(context));
    }

    /// How new results are made smaller. Nothing may be remembered of a request that is apart.
    fn reduction(&self, call: &CallDetails) -> ResultReduction {
        if call.is_apart {
            return ResultReduction::Off;
        }
        call.reduce
            .unwrap_or(self.state.compactor.default_reduction())
    }

    fn request_context(
        &self,
        call: &CallDetails,
        placed: BranchPlacement,
        model: &str,
        recognized: &Arc<RecognizedBody>,
    ) -> RequestContext {
        let asking = UpstreamCaller {
            upstream: Arc::clone(&self.state.upstream),
            dialect: self.asked.dialect,
            headers: Arc::clone(self.passed),
            uri: self.uri.clone(),
            budget: self.state.budget.clone(),
            books: OwnRequestBooks {
                queue: self.state.usage_queue.clone(),
                session: placed.session,
                line: placed.line,
                model: model.to_owned(),
                caller: call.caller.clone(),
                of_key: call.of_key,
            },
        };
        let named = (self.asked.dialect, model.to_owned());
        RequestContext::new(placed, named, self.body, Arc::clone(recognized), asking)
    }
}

/// What is sent for a managed request, for the cache watch. `None` if it cannot be kept for that.
pub(super) fn watched(state: &GatewayState, context: &RequestContext) -> Option<WatchedRequest> {
    let sending = &context.outgoing;
    let messages = sending.restored.as_ref().unwrap_or(&context.messages);
    let mut watch = WatchedRequest::new(
        state.usage_queue.prefixes(),
        &state.budget,
        context.placed.session,
        messages.dialect,
        &messages.body,
        Arc::clone(&messages.recognized),
        betas(&context.asking.headers)?,
    )?;
    let replaced = sending.replaced.as_ref();
    watch.replaced = replaced.map(|(base, until)| (Arc::clone(&base.elements), *until));
    watch.sent_parts = sending.marked.as_ref().map(|_| sending.parts.clone());
    watch.rewriting = Some(context.rewriting());
    Some(watch)
}

/// The beta features that a request names; `None` if they are too long to be kept.
fn betas(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all("anthropic-beta").iter();
    let texts: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    let betas = texts.join(",");
    (betas.len() <= LONGEST_BETAS).then_some(betas)
}

fn describe_relation(relation: BranchRelation, messages: u32) -> String {
    match relation {
        BranchRelation::New => "a new conversation".to_owned(),
        BranchRelation::Again => "the same request as before".to_owned(),
        BranchRelation::Extends(known) => {
            format!("{} messages more", messages.saturating_sub(known))
        }
        BranchRelation::Branches(from, at) => format!("a branch of {from} after {at} messages"),
    }
}
