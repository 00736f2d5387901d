//! The best clearings between two points in time.
//!
//! What a clearing costs depends only on its first result and its time: everything removable after that result is gone
//! afterwards, whatever was cleared before. So the clearings of a stretch split at the one with the earliest first
//! result: those before it in time save only until then, and those after it begin with what it left.

use super::super::priced::PricedConversation;
use super::super::session::{ItemKind, RecordedItem};
use super::super::simulation::ScriptedAction;
use super::grid;
use crate::economy::PrefixWarmth;
use crate::economy::{KEPT_COLD, KEPT_HOT};

/// The facts of a conversation that the search needs, as sums.
pub(super) struct BestClearings {
    /// For each request, the tokens of the items that it sends.
    pub(super) sent: Vec<u64>,
    /// For each request, what sending a token again costs, in picodollars.
    again: Vec<i128>,
    /// The sums of these before each request.
    again_before: Vec<i128>,
    /// For each request, what reading a token for a summary costs.
    pub(super) reading: Vec<i128>,
    /// For each result, its item.
    pub(super) items: Vec<usize>,
    /// For each result, the tokens that results before it free.
    freed_before: Vec<u64>,
    /// For each request, how many of the oldest results may go.
    pub(super) removable: Vec<usize>,
    /// The requests and the results at which the search may act.
    times: Vec<usize>,
    cuts: Vec<usize>,
    /// The best saving of each cut and end: by the end of a stretch, and with one more reading for a summary.
    plain: SavingTable,
    read_once_more: SavingTable,
    /// For each cut and time: what the clearing costs, what it frees, and the first cut that is left.
    clearings: Vec<Option<(i128, u64, usize)>>,
}

/// The best savings, and the clearing that each begins with.
struct SavingTable {
    ends: usize,
    best: Vec<(i128, u32)>,
}

impl SavingTable {
    fn new(cuts: usize, ends: usize) -> Self {
        Self {
            ends,
            best: vec![(0, 0); (cuts + 1) * ends],
        }
    }

    fn get(&self, cut: usize, end: usize) -> i128 {
        self.best[cut * self.ends + end].0
    }
}

impl BestClearings {
    pub(super) fn of(conversation: &PricedConversation) -> Self {
        let mut found = Self::facts(conversation);
        found.search(conversation);
        found
    }

    fn facts(conversation: &PricedConversation) -> Self {
        let items = &conversation.items;
        let mut tokens_before = vec![0];
        let mut total = 0;
        for item in items {
            total += item.tokens;
            tokens_before.push(total);
        }
        let results: Vec<usize> = (0..items.len())
            .filter(|item| PricedConversation::freed(&items[*item]).is_some())
            .collect();
        // Small ones are not cleared, but count among the newest results.
        let shown: Vec<usize> = (0..items.len())
            .filter(|item| items[*item].kind == ItemKind::Result)
            .collect();
        let mut freed_before = vec![0];
        let mut total = 0;
        for item in &results {
            total += PricedConversation::freed(&items[*item]).unwrap_or_default();
            freed_before.push(total);
        }
        let count = conversation.requests.len();
        let mut found = Self {
            sent: Vec::with_capacity(count),
            again: Vec::with_capacity(count),
            again_before: vec![0],
            reading: Vec::with_capacity(count),
            removable: Vec::with_capacity(count),
            times: grid(count),
            cuts: grid(results.len()),
            items: results,
            freed_before,
            plain: SavingTable::new(0, 0),
            read_once_more: SavingTable::new(0, 0),
            clearings: Vec::new(),
        };
        let mut sum = 0;
        for (request, priced) in conversation.requests.iter().enumerate() {
            let sent = tokens_before[priced.items_end];
            found.sent.push(sent);
            let view = conversation.prefix + sent;
            let warmth = conversation.warmth(request, view);
            let rates = conversation.rates(request, view);
            let again = rates.sending_again(warmth, 1).pico();
            found.again.push(again);
            sum += again;
            found.again_before.push(sum);
            let reading = match warmth {
                PrefixWarmth::Hot => rates.read,
                PrefixWarmth::Cold | PrefixWarmth::Uncached => rates.input,
            };
            found.reading.push(reading.of(1).pico());
            let added = conversation.added(request);
            let before = found.items.partition_point(|item| *item < added.start);
            let active = shown.partition_point(|item| *item < added.end);
            let kept = match warmth {
                PrefixWarmth::Cold => KEPT_COLD,
                PrefixWarmth::Hot | PrefixWarmth::Uncached => KEPT_HOT,
            };
            let newest = shown.get(active.saturating_sub(kept)).copied();
            let old = newest.map_or(0, |newest| {
                found.items.partition_point(|item| *item < newest)
            });
            // The newest tokens stay word for word (V5).
            let end = sent.saturating_sub(conversation.verbatim());
            let far = found.items.partition_point(|item| {
                let freed = PricedConversation::freed(&items[*item]).unwrap_or_default();
                tokens_before[*item] + freed <= end
            });
            found.removable.push(old.min(before).min(far));
        }
        found
    }

    /// What it costs to clear at a time from a result on, besides what it saves later.
    fn price(
        &self,
        conversation: &PricedConversation,
        tokens: &[u64],
        cut: usize,
        time: usize,
    ) -> i128 {
        let view = conversation.prefix + self.sent[time];
        if conversation.warmth(time, view) != PrefixWarmth::Hot {
            return 0;
        }
        let freed = self.freed_before[self.removable[time]] - self.freed_before[cut];
        let after = self.sent[time - 1] - tokens[self.items[cut]];
        let rates = conversation.rates(time, view);
        let kept = after.saturating_sub(freed);
        (rates.write.of(kept) - rates.read.of(kept)).pico()
    }

    fn search(&mut self, conversation: &PricedConversation) {
        let tokens = tokens_before(&conversation.items);
        let (cuts, times) = (self.cuts.len(), self.times.len());
        self.clearings = vec![None; cuts * times];
        for (place, cut) in self.cuts.iter().enumerate() {
            for (at, time) in self.times.iter().enumerate().skip(1) {
                let removable = self.removable[*time];
                if removable > *cut {
                    let price = self.price(conversation, &tokens, *cut, *time);
                    let freed = self.freed_before[removable] - self.freed_before[*cut];
                    let next = self.cuts.partition_point(|other| *other < removable);
                    self.clearings[place * times + at] = Some((price, freed, next));
                }
            }
        }
        // An end is a point in time, or the end of the conversation.
        let ends = times + 1;
        let mut whole = StretchSavings {
            begins: 0,
            first: 0,
            plain: SavingTable::new(cuts, ends),
            read_once_more: SavingTable::new(cuts, ends),
        };
        self.fill(&mut whole, cuts);
        self.plain = whole.plain;
        self.read_once_more = whole.read_once_more;
    }

    /// Finds the best savings of a stretch for its first `cuts` cuts; those of later cuts are the same in any stretch.
    fn fill(&self, stretch: &mut StretchSavings, cuts: usize) {
        let times = self.times.len();
        for end in stretch.begins + 1..=times {
            let until = self.end(end);
            let reading = self.reading.get(until).copied().unwrap_or_default();
            for cut in (stretch.first..stretch.first + cuts).rev() {
                let mut best = (
                    self.best_from(stretch, cuts, cut + 1, end, StretchEnd::Session),
                    0,
                );
                let mut best_read = (
                    self.best_from(stretch, cuts, cut + 1, end, StretchEnd::Summary),
                    0,
                );
                for at in stretch.begins + 1..end.min(times) {
                    let Some((price, freed, next)) = self.clearings[cut * times + at] else {
                        continue;
                    };
                    let again = self.again_before[until] - self.again_before[self.times[at]];
                    let before = self.best_from(stretch, cuts, cut, at, StretchEnd::Session);
                    let saved = i128::from(freed) * again + before - price;
                    let all = saved + self.best_from(stretch, cuts, next, end, StretchEnd::Session);
                    if all > best.0 {
                        best = (all, at as u32);
                    }
                    let read = i128::from(freed) * reading;
                    let all = saved
                        + read
                        + self.best_from(stretch, cuts, next, end, StretchEnd::Summary);
                    if all > best_read.0 {
                        best_read = (all, at as u32);
                    }
                }
                let row = cut - stretch.first;
                stretch.plain.best[row * (times + 1) + end] = best;
                stretch.read_once_more.best[row * (times + 1) + end] = best_read;
            }
        }
    }

    /// The best saving from a cut on, of the stretch itself or, for cuts after its own, of any.
    fn best_from(
        &self,
        stretch: &StretchSavings,
        cuts: usize,
        cut: usize,
        end: usize,
        closing: StretchEnd,
    ) -> i128 {
        if cut < stretch.first + cuts {
            stretch.table(closing).get(cut - stretch.first, end)
        } else if cut < self.cuts.len() {
            self.table(closing).get(cut, end)
        } else {
            0
        }
    }

    /// The best savings of a stretch that begins at a point in time with the results from an item on. Those that were
    /// sent before can be cleared only after it begins.
    pub(super) fn stretch(&self, begins: usize, from_item: usize, added: usize) -> StretchSavings {
        let first = self.first_cut(from_item);
        let own = match begins {
            0 => 0,
            _ => self.first_cut(added).saturating_sub(first),
        };
        let ends = self.times.len() + 1;
        let mut stretch = StretchSavings {
            begins,
            first,
            plain: SavingTable::new(own, ends),
            read_once_more: SavingTable::new(own, ends),
        };
        self.fill(&mut stretch, own);
        stretch
    }

    /// The request at which a stretch ends.
    fn end(&self, end: usize) -> usize {
        self.times.get(end).copied().unwrap_or(self.again.len())
    }

    /// The points in time at which a summary may be made, as places and requests.
    pub(super) fn times(&self) -> &[usize] {
        &self.times
    }

    /// The least that results can take in a view that begins with an item, before a request.
    pub(super) fn most_freed(&self, from_item: usize, request: usize) -> u64 {
        let first = self.items.partition_point(|item| *item < from_item);
        let last = self.removable[request].max(first);
        self.freed_before[last] - self.freed_before[first]
    }

    /// The best saving of a stretch until a summary, or until the end.
    pub(super) fn saving(&self, stretch: &StretchSavings, end: usize, closing: StretchEnd) -> i128 {
        self.best_from(stretch, stretch.cuts(), stretch.first, end, closing)
    }

    /// The clearings that make that saving, by time.
    pub(super) fn actions(
        &self,
        stretch: &StretchSavings,
        end: usize,
        closing: StretchEnd,
    ) -> Vec<ScriptedAction> {
        let own = stretch.first + stretch.cuts();
        let mut actions = Vec::new();
        let mut open = vec![(stretch.first, end, closing)];
        while let Some((cut, end, closing)) = open.pop() {
            if cut >= self.cuts.len() || end == 0 {
                continue;
            }
            let (table, row) = if cut < own {
                (stretch.table(closing), cut - stretch.first)
            } else {
                (self.table(closing), cut)
            };
            let (_, at) = table.best[row * table.ends + end];
            if at == 0 {
                open.push((cut + 1, end, closing));
                continue;
            }
            let time = self.times[at as usize];
            actions.push(ScriptedAction {
                request: time,
                clear_from: Some(self.items[self.cuts[cut]]),
            });
            let removable = self.removable[time];
            let next = self.cuts.partition_point(|other| *other < removable);
            open.push((cut, at as usize, StretchEnd::Session));
            open.push((next, end, closing));
        }
        actions.sort_by_key(|action| (action.request, action.clear_from));
        actions
    }

    fn first_cut(&self, from_item: usize) -> usize {
        self.cuts
            .partition_point(|cut| self.items[*cut] < from_item)
    }

    fn table(&self, closing: StretchEnd) -> &SavingTable {
        match closing {
            StretchEnd::Summary => &self.read_once_more,
            StretchEnd::Session => &self.plain,
        }
    }
}

/// The best savings of one stretch.
pub(super) struct StretchSavings {
    /// The point in time at which it begins.
    begins: usize,
    /// Its first cut.
    first: usize,
    plain: SavingTable,
    read_once_more: SavingTable,
}

impl StretchSavings {
    /// How many cuts lie before the first result that any stretch may clear.
    fn cuts(&self) -> usize {
        self.plain.best.len() / self.plain.ends - 1
    }

    fn table(&self, closing: StretchEnd) -> &SavingTable {
        match closing {
            StretchEnd::Summary => &self.read_once_more,
            StretchEnd::Session => &self.plain,
        }
    }
}

/// What ends a stretch of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StretchEnd {
    /// A summary, which reads the view once more.
    Summary,
    /// The session's end, or a clearing.
    Session,
}

/// The tokens before each item.
fn tokens_before(items: &[RecordedItem]) -> Vec<u64> {
    let mut total = 0;
    let sizes = items.iter().map(|item| {
        let before = total;
        total += item.tokens;
        before
    });
    sizes.collect()
}
