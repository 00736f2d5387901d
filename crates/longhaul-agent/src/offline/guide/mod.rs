//! Who answers offline: rules and keywords, no intelligence, and honest about it.
//!
//! It understands simple wishes (`wish`), works on them with the tools that the request offers (`scene` is what it sees,
//! `look`, `finding` and `change` make the calls), and answers with what it really saw (`answer`). It writes and runs only what the
//! user's newest words ask for in so many words. A reply is a function of the request and the seed. Summaries and notes
//! are those of the simulator's model.

mod answer;
mod change;
mod filler;
mod finding;
mod look;
mod scene;
mod talk;
mod telling;
mod wish;

use longhaul_sim::model::agent::{Hands, Pace};
use longhaul_sim::model::ask::{Calls, Thinking};
use longhaul_sim::model::{
    Draft, DraftBlock, Model, Options, SimModel, Turn, helper, notes, summarise,
};

use scene::{Move, Scene};
use wish::Wish;

/// Replies to one prompt before it answers with what it has, whatever is open.
const MOST_STEPS: usize = 16;

/// The offline model.
#[derive(Debug, Clone)]
pub struct Guide {
    seed: u64,
    /// For requests that force a call: nobody but a foreign client makes them.
    other: SimModel,
}

impl Guide {
    /// A guide whose choice of words comes from this seed.
    pub fn new(seed: u64) -> Self {
        let pace = Pace {
            hands: Hands::ReadOnly,
            ..Pace::default()
        };
        let other = SimModel::new(Options {
            seed,
            pace,
            ..Options::default()
        });
        Self { seed, other }
    }
}

impl Model for Guide {
    fn reply(&mut self, turn: &Turn<'_>) -> Draft {
        let request = turn.request;
        // A request that only warms the cache gets no answer.
        if request.max_tokens == Some(0) {
            return Draft::default();
        }
        let scene = Scene::of(request, self.seed ^ turn.seed);
        let words = &scene.words;
        let asked = match () {
            () if summarise::is_asked(words) => summarise::reply(turn),
            () if notes::is_asked(words) => notes::reply(request),
            () => helper::reply(request),
        };
        if let Some(draft) = asked {
            return draft;
        }
        if matches!(scene.ask.calls, Calls::Forced | Calls::ForcedTo(_)) {
            return self.other.reply(turn);
        }
        drafted(&scene, decide(&scene))
    }
}

fn decide(scene: &Scene<'_>) -> Move {
    let wish = Wish::of(scene.goal());
    let Move { say, calls } = match scene.steps {
        MOST_STEPS.. => Move::say(answer::account(scene)),
        _ => wish_move(scene, &wish),
    };
    match calls.is_empty() && say.is_empty() {
        true => Move::say(answer::account(scene)),
        false => Move { say, calls },
    }
}

fn wish_move(scene: &Scene<'_>, wish: &Wish) -> Move {
    match wish {
        Wish::Who => Move::say(talk::who()),
        Wish::Help => Move::say(talk::help(scene)),
        Wish::Thanks => Move::say(talk::thanks(scene)),
        Wish::Recap => Move::say(answer::recap(scene)),
        Wish::Filler => Move::say(filler::text(scene)),
        Wish::Unclear(how) => Move::say(talk::unclear(how)),
        Wish::Overview => look::around(scene),
        Wish::More(depth) => look::further(scene, *depth),
        Wish::List(pattern) => look::list(scene, pattern),
        Wish::Read(path) => finding::file(scene, path),
        Wish::Find(term) => finding::find(scene, term),
        Wish::Question(terms) => finding::question(scene, terms),
        Wish::Fetch(url) => change::fetch(scene, url),
        Wish::Delegate(task) => change::delegate(scene, task),
        Wish::Todo(items) => change::todo(scene, items),
        Wish::Run(what) => change::run(scene, what),
        Wish::Write { path, text } => change::write(scene, path, text),
        Wish::Edit { path, old, new } => change::edit(scene, path, old, new),
    }
}

fn drafted(scene: &Scene<'_>, decided: Move) -> Draft {
    let mut content = Vec::new();
    // A thought where work begins; always where the API would not take the reply back without one.
    let thinks = match scene.ask.thinking {
        Thinking::Off => false,
        Thinking::On => scene.steps == 0 && !decided.calls.is_empty(),
        Thinking::Always => true,
    };
    if thinks {
        content.push(DraftBlock::Thinking(talk::thought(scene)));
    }
    let mut calls = decided.calls;
    match scene.ask.calls {
        Calls::Forbidden => calls.clear(),
        Calls::One => calls.truncate(1),
        _ => {}
    }
    let mut say = decided.say;
    if say.is_empty() && calls.is_empty() {
        say = talk::without_tools();
    }
    if !say.is_empty() {
        content.push(DraftBlock::Text(say));
    }
    content.extend(calls);
    Draft {
        content,
        ..Draft::default()
    }
}
