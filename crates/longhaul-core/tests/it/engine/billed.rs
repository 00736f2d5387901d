//! Tests what sending a conversation again has cost (V2), judging by how the replies billed it.

use longhaul_core::economy::EconomyPolicy;
use longhaul_core::engine::EngineInput;
use longhaul_core::message::Usage;

use super::desk::{Answer, Setting};
use super::prices::{MANY, begun, chats, decisions, setting, used};

/// The prices of the model, in dollars for a million tokens.
const INPUT: f64 = 5.0;
const WRITE: f64 = 6.25;
const READ: f64 = 0.5;

/// How many requests are billed in the way that is tested.
const BILLED: usize = 10;

fn input(prompt: u64) -> Usage {
    Usage {
        input: prompt,
        ..Usage::default()
    }
}

fn written_5m(prompt: u64) -> Usage {
    Usage {
        cache_write_5m: prompt,
        ..Usage::default()
    }
}

fn written_1h(prompt: u64) -> Usage {
    Usage {
        cache_write_1h: prompt,
        ..Usage::default()
    }
}

/// So many hundredths of the prompt are read from the cache, and the rest is written.
fn read<const PERCENT: u64>(prompt: u64) -> Usage {
    let cache_read = prompt * PERCENT / 100;
    Usage {
        cache_read,
        cache_write_5m: prompt - cache_read,
        ..Usage::default()
    }
}

fn read_alone(prompt: u64) -> Usage {
    Usage {
        cache_read: prompt,
        ..Usage::default()
    }
}

fn unmeasured(_prompt: u64) -> Usage {
    Usage::default()
}

/// What a request has cost for each million tokens of the results that are cleared afterwards, if it is billed like this.
fn cost_of_sending_again(bill: fn(u64) -> Usage) -> f64 {
    let mut desk = begun(Setting {
        economy: EconomyPolicy::Off,
        ..setting()
    });
    let prompt = used(&desk);
    for (bill, requests) in [(read_alone as fn(u64) -> Usage, MANY), (bill, BILLED)] {
        for at in 0..requests as u64 {
            desk.exchange("And?", Answer::Bills(bill(prompt + 30 * at)));
        }
    }
    desk.input(EngineInput::Economy(EconomyPolicy::Clear));
    chats(&mut desk);
    let [record] = decisions(&desk)[..] else {
        panic!("what was paid before counts");
    };
    let hot = MANY as f64 * READ * record.tokens_freed as f64 / 1e6;
    (record.rent_usd - hot) / BILLED as f64 / record.tokens_freed as f64 * 1e6
}

#[test]
fn v2_sending_a_result_again_costs_what_the_replies_billed_for_it() {
    let hot = cost_of_sending_again(read_alone);
    for (name, bill, price) in [
        ("read", read_alone as fn(u64) -> Usage, READ),
        ("mostly read", read::<60>, READ),
        ("mostly written", read::<40>, WRITE),
        ("written for five minutes", written_5m, WRITE),
        ("written for an hour", written_1h, WRITE),
        ("neither read nor written", input, INPUT),
        ("not said", unmeasured, READ),
    ] {
        let cost = cost_of_sending_again(bill) - hot + READ;
        assert!((cost - price).abs() < 0.02, "{name}: {cost:.3} for {price}");
    }
}
