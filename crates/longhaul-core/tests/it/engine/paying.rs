//! Tests summaries that are made because they pay (V3, V5): what they leave word for word, who makes none, and what follows
//! one that failed.

use longhaul_core::economy::EconomyPolicy;
use longhaul_core::engine::EffectFailureKind;
use longhaul_core::window::WindowOwner;

use super::desk::{Answer, Desk, Setting, Sum};
use super::prices::{MANY, setting, used};

fn full() -> Setting {
    Setting {
        economy: EconomyPolicy::Full,
        ..setting()
    }
}

fn answer(turn: usize) -> String {
    format!("Answer {turn} goes on and on. ").repeat(300)
}

/// Lets the model give a long answer, which makes the window fuller.
fn answers(desk: &mut Desk, turn: usize) {
    let words: &str = Box::leak(answer(turn).into_boxed_str());
    let prompt = used(desk) + words.len() as u64 / 4;
    desk.exchange("Tell me more.", Answer::Says(words, prompt));
}

#[test]
fn v5_a_summary_that_pays_leaves_the_newest_tokens_word_for_word() {
    let mut desk = Desk::with(full());
    let turn = (0..MANY).find(|turn| {
        answers(&mut desk, *turn);
        desk.compactions() > 0
    });
    let turn = turn.unwrap();
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    let is_left = |turn: &usize| sent.contains(answer(*turn).trim_end());
    let left: Vec<usize> = (0..turn).filter(is_left).collect();
    assert!((3..=6).contains(&left.len()), "{left:?} of {turn}");
    assert_eq!(left.last(), Some(&(turn - 1)));
}

#[test]
fn v5_where_another_owns_the_window_no_summary_is_made_because_it_pays() {
    let mut desk = Desk::with(Setting {
        owner: WindowOwner::Collapse,
        ..full()
    });
    for turn in 0..MANY {
        answers(&mut desk, turn);
    }
    assert!(used(&desk) < 160_000, "folds are not due either");
    assert!(desk.summaries_sent.is_empty());
}

#[test]
fn v5_after_a_summary_that_failed_the_window_grows_before_the_next_one_until_none_is_tried() {
    let mut desk = Desk::with(full());
    let mut tried = Vec::new();
    for turn in 0..MANY {
        desk.sums.clear();
        for _ in 0..9 {
            desk.sums.push_back(Sum::Fails(EffectFailureKind::Other));
        }
        let before = desk.failures().len();
        answers(&mut desk, turn);
        if desk.failures().len() > before {
            tried.push(used(&desk));
        }
    }
    assert_eq!(desk.compactions(), 0);
    assert_eq!(tried.len(), 3, "{tried:?}");
    // A twentieth of the threshold of 167,000.
    for pair in tried.windows(2) {
        assert!((8_000..12_000).contains(&(pair[1] - pair[0])), "{tried:?}");
    }
}
