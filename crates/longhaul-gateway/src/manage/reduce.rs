//! Results are made smaller before they are first sent (V8): the core decides, by the client's own messages and the prefix
//! that is found for them. The decision for a message is stored under the hash of the history that ends with it, and the
//! same bytes are sent for it from then on. Results of a message that was sent before without a decision stay as they are.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use longhaul_core::config::ResultReduction;
use longhaul_core::message::{Id, ReductionStanding};
use longhaul_core::reduce::{ResultText, reduce_among, text_of_content};

use super::compactor::Compactor;
use super::loaded_prefix::LoadedPrefix;
use super::message_results::{MessageResults, content_place};
use super::reduced_request::first_after_root;
use super::reduction_records::{MessageReductions, StoredReduction};
use super::request_context::RequestContext;
use super::shorten::{RequestLimit, ShortenedResults};
use crate::body::BodyRole;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReductionPurpose {
    /// It is sent.
    Sending,
    /// It only counts tokens: nothing is decided for good.
    Counting,
}

/// How many results of one message are compared with earlier readings of their files: a comparison takes time.
const MOST_COMPARED: usize = 16;

impl Compactor {
    /// Sends results in the smaller form that was decided for them, and decides for those that are new.
    pub(super) async fn reduce(&self, context: &mut RequestContext, purpose: ReductionPurpose) {
        let results = self.results_of(context);
        let roles = context.roles().iter();
        let newest = roles.clone().rposition(|role| *role == BodyRole::Assistant);
        let tail = newest.map_or(0, |newest| newest + 1);
        let hashes = Arc::clone(&context.messages.recognized.hashes);
        let (tenant, dialect) = (context.of_key, context.messages.dialect);
        let mut reduced: BTreeMap<usize, MessageReductions> = BTreeMap::new();
        let mut unknown: Vec<usize> = Vec::new();
        for (index, found) in results.iter().enumerate() {
            let Some(at) = hashes.get(index).filter(|_| found.is_reducible()) else {
                continue;
            };
            match self.reductions.known(tenant, *at) {
                Some(known) => drop(reduced.insert(index, known)),
                None => unknown.push(index),
            }
        }
        if !unknown.is_empty() {
            let asked = unknown
                .iter()
                .filter_map(|index| hashes.get(*index).copied());
            let stored = self
                .reductions
                .stored(tenant, dialect, asked.collect())
                .await;
            let Ok(stored) = stored.inspect_err(|error| {
                tracing::warn!(%error, "reduced results cannot be looked up; results are sent as they come");
            }) else {
                return;
            };
            unknown.retain(|index| {
                let at = hashes.get(*index).copied().unwrap_or_default();
                let Some(known) = stored.get(&at) else {
                    return true;
                };
                self.reductions.keep(tenant, at, Arc::clone(known));
                reduced.insert(*index, Arc::clone(known));
                false
            });
        }
        let mut shortened = match unknown.iter().any(|index| *index >= tail) {
            true => self.shortened(context),
            false => ShortenedResults::new(),
        };
        for index in unknown {
            let is_new = index >= tail && context.reduce != ResultReduction::Off;
            let mut decided = match is_new {
                true => self.decide(context, &results, &reduced, index).await,
                false => Vec::new(),
            };
            for one in shortened.remove(&index).unwrap_or_default() {
                // What became smaller otherwise needs no shortening.
                if decided.iter().all(|decided| decided.call != one.call) {
                    decided.push(one);
                }
            }
            let at = hashes.get(index).copied().unwrap_or_default();
            let mut decided: MessageReductions = decided.into();
            if purpose == ReductionPurpose::Sending {
                if !decided.is_empty()
                    && let Err(error) = self
                        .reductions
                        .put(tenant, dialect, at, &decided, self.clock.now())
                        .await
                {
                    tracing::warn!(%error, "a reduced result cannot be stored; it is sent as it came");
                    decided = Arc::default();
                }
                self.reductions.keep(tenant, at, Arc::clone(&decided));
            }
            reduced.insert(index, decided);
        }
        reduced.retain(|_, reductions| !reductions.is_empty());
        if !reduced.is_empty() {
            context.apply_reductions(&results, &reduced);
        }
    }

    /// Shortens the newest results of a request, if they leave no room. Returns whether it did. The request was not sent, or
    /// was refused and never answered, so other bytes may be sent for it.
    pub(super) async fn reduce_newest(
        &self,
        context: &mut RequestContext,
        limit: &RequestLimit<'_>,
    ) -> bool {
        let shortened = self.shortened_within(context, limit);
        if shortened.is_empty() {
            return false;
        }
        let results = self.results_of(context);
        let (tenant, dialect) = (context.of_key, context.messages.dialect);
        let mut reduced: BTreeMap<usize, MessageReductions> = BTreeMap::new();
        for (index, new) in shortened {
            let at = context.messages.recognized.hashes.get(index).copied();
            let at = at.unwrap_or_default();
            let earlier = self.reductions.known(tenant, at).unwrap_or_default();
            let is_new = |one: &&StoredReduction| new.iter().all(|new| new.call != one.call);
            let kept: Vec<StoredReduction> = earlier.iter().filter(is_new).cloned().collect();
            let all: MessageReductions = kept.into_iter().chain(new.iter().cloned()).collect();
            if let Err(error) = self
                .reductions
                .put(tenant, dialect, at, &all, self.clock.now())
                .await
            {
                tracing::warn!(%error, "a shortened result cannot be stored; it is sent as it came");
                return false;
            }
            self.reductions.keep(tenant, at, all);
            reduced.insert(index, new.into());
        }
        context.apply_reductions(&results, &reduced);
        true
    }

    /// The results and calls of each message.
    fn results_of(&self, context: &RequestContext) -> Vec<Arc<MessageResults>> {
        let raws = context.messages.recognized.raws.iter().enumerate();
        let read = |index: usize| {
            let element = context.messages.element(index).unwrap_or_default();
            MessageResults::of(context.messages.dialect, &element, &self.settings.tools)
        };
        raws.map(|(index, raw)| self.results.of(*raw, || read(index)))
            .collect()
    }

    /// The views that a request may be sent with: that of the prefix that is found for it, and that of the conversation's
    /// last request, which goes on while a prefix that was made ahead is held back.
    async fn possible_views(&self, context: &RequestContext) -> Vec<PossibleView> {
        let found = self.beginning(context).await.ok().flatten();
        let former = self.branch_states.of(context.placed.line).beginning;
        let is_another = found.as_ref().map(|found| found.beginning()) != former;
        let mut views = vec![PossibleView::of(context, found.as_deref())];
        if is_another {
            let before = match former {
                Some(at) => self.prefixes.find(context.tenant, &[at]).await,
                None => Ok(None),
            };
            let before = before.ok().flatten();
            views.push(PossibleView::of(context, before.as_deref()));
        }
        views
    }

    /// Decides for the results of one message, which is sent for the first time.
    async fn decide(
        &self,
        context: &RequestContext,
        results: &[Arc<MessageResults>],
        reduced: &BTreeMap<usize, MessageReductions>,
        index: usize,
    ) -> Vec<StoredReduction> {
        let mut views = self.possible_views(context).await;
        let mut by_content: HashMap<u128, Vec<(usize, &str)>> = HashMap::new();
        let mut by_file: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
        let calls = results.iter().flat_map(|message| message.calls.iter());
        let files: HashMap<&str, Option<&str>> = calls
            .map(|call| (call.id.as_str(), call.reads.as_deref()))
            .collect();
        for (at, message) in results.iter().enumerate().take(index) {
            for result in message.results.iter() {
                let call = result.call.as_str();
                let mut known = reduced.get(&at).into_iter().flat_map(|all| all.iter());
                let known = known.find(|one| one.call == call);
                for view in views.iter_mut().filter(|view| view.from <= at) {
                    match known {
                        Some(one) => {
                            let base = one.refers_to.as_deref().map(Id::of);
                            view.standing.reduced(Id::of(call), base);
                        }
                        None => {
                            view.standing.whole(Id::of(call));
                        }
                    }
                }
                if let Some(content) = result.content {
                    by_content.entry(content).or_default().push((at, call));
                }
                if let Some(Some(file)) = files.get(call) {
                    by_file.entry(*file).or_default().push((at, call));
                }
            }
        }
        for view in &mut views {
            view.standing.clear(&view.cleared);
        }
        let is_whole = |call: &str| {
            let call = Id::of(call);
            views.iter().all(|view| view.standing.is_whole(call))
        };
        let whole = |found: Option<&Vec<(usize, &'_ str)>>| {
            let found = found.into_iter().flatten().rev().copied();
            let found = found.filter(|(_, call)| is_whole(call));
            found
                .filter_map(|(at, call)| Some((call.to_owned(), content(context, at, call)?)))
                .collect::<Vec<_>>()
        };
        let mut decided = Vec::new();
        let mut compared = 0;
        for result in results
            .get(index)
            .into_iter()
            .flat_map(|message| message.results.iter())
        {
            let Some((hash, reads)) = result.content.zip(files.get(result.call.as_str())) else {
                continue;
            };
            let Some(raw) = content(context, index, &result.call) else {
                continue;
            };
            let Some(text) = text_of_content(&raw) else {
                continue;
            };
            let same = whole(by_content.get(&hash));
            let same = same.iter().find(|(_, content)| *content == raw);
            let reads = reads.filter(|_| compared < MOST_COMPARED);
            let earlier = whole(reads.and_then(|file| by_file.get(file)));
            compared += usize::from(!earlier.is_empty());
            let earlier = (earlier.iter()).map(|(call, content)| (call.as_str(), &**content));
            let new = ResultText {
                call: &result.call,
                text: &text,
            };
            let same = same.map(|(call, _)| call.as_str());
            if let Some(made) = reduce_among(new, same, earlier, context.reduce) {
                decided.push(StoredReduction {
                    call: result.call.clone(),
                    refers_to: made.base,
                    text: made.text,
                });
            }
        }
        decided
    }
}

/// A view that a request may be sent with.
struct PossibleView {
    /// The first of the client's messages in it.
    from: usize,
    /// The results that are cleared in it.
    cleared: Vec<Id>,
    standing: ReductionStanding,
}

impl PossibleView {
    /// The view with this prefix.
    fn of(context: &RequestContext, base: Option<&LoadedPrefix>) -> Self {
        let prefix = base.map(|base| &base.prefix);
        let root = prefix.and_then(|prefix| prefix.root);
        let cleared = prefix.map_or(&[][..], |prefix| &prefix.cleared);
        Self {
            from: first_after_root(&context.messages.recognized, root),
            cleared: cleared.iter().map(|call| Id::of(call)).collect(),
            standing: ReductionStanding::default(),
        }
    }
}

/// The content of a call's result, as raw JSON.
fn content(context: &RequestContext, index: usize, call: &str) -> Option<Vec<u8>> {
    let element = context.messages.element(index)?;
    let place = content_place(context.messages.dialect, &element, call)?;
    element.get(place).map(<[u8]>::to_vec)
}
