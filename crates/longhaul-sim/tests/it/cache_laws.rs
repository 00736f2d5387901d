//! What holds of the prompt cache for any breakpoints.
use longhaul_sim::cache::CacheClass;
use longhaul_sim::call::ApiCall;
use proptest::prelude::*;
use serde_json::Value;

use crate::cache::{long, read};
use crate::client::*;

/// The number of positions in a conversation, and which of them carry a breakpoint.
fn marks() -> impl Strategy<Value = (usize, Vec<usize>)> {
    (1_usize..60).prop_flat_map(|positions| {
        let marks = proptest::collection::btree_set(0..positions, 0..=4);
        (
            Just(positions),
            marks.prop_map(|marks| marks.into_iter().collect()),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn b1_read_written_and_input_always_make_the_prompt(steps in proptest::collection::vec((marks(), 0_u64..400_000), 1..6)) {
        let mut world = world();
        for ((positions, marked), wait) in steps {
            let body = long(positions, &marked);
            let counted = world.count_tokens(&count(&body)).unwrap();
            let reply = send(&mut world, &body);
            prop_assert_eq!(Some(prompt(&reply)), counted["input_tokens"].as_u64());
            let usage = &reply.message["usage"];
            let [_, five, hour, _] = classes(&reply);
            prop_assert_eq!(usage["cache_creation_input_tokens"].as_u64(), Some(five + hour));
            let runs: u64 = reply.verdict.runs.iter().map(|run| run.tokens).sum();
            prop_assert_eq!(runs + reply.verdict.opening, prompt(&reply));
            let covered: usize = reply.verdict.runs.iter().map(|run| run.positions).sum();
            prop_assert_eq!(covered, positions);
            let of = |class| reply.verdict.runs.iter().filter(|run| run.class == class).map(|run| run.tokens).sum::<u64>();
            prop_assert_eq!([of(CacheClass::Read), of(CacheClass::WrittenFiveMinutes)], [classes(&reply)[0], five]);
            world.advance(wait);
        }
    }

    #[test]
    fn b1_a_repeated_request_reads_all_its_breakpoints_cover((positions, marked) in marks()) {
        let mut world = world();
        let body = long(positions, &marked);
        let first = send(&mut world, &body);
        let second = send(&mut world, &body);
        let [read, five, hour, input] = classes(&second);
        prop_assert_eq!(read, classes(&first)[1]);
        prop_assert_eq!((five, hour, input), (0, 0, classes(&first)[3]));
    }

    #[test]
    fn b1_more_breakpoints_never_read_less((positions, marked) in marks(), extra in 0_usize..60) {
        let (mut few, mut many) = (world(), world());
        for world in [&mut few, &mut many] {
            send(world, &long(30, &[12, 29]));
        }
        let with: Vec<usize> = marked.iter().copied().chain([extra % positions]).collect();
        prop_assume!(with.len() <= 4);
        let less = send(&mut few, &long(positions, &marked));
        let more = send(&mut many, &long(positions, &with));
        prop_assert!(read(&more) >= read(&less));
    }
}

fn count(body: &Value) -> ApiCall {
    let mut body = body.clone();
    body.as_object_mut().unwrap().remove("max_tokens");
    call(&body)
}
