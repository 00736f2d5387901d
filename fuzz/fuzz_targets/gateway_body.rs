//! Request bodies at the gateway: reading on from a known message finds the same as reading the whole body.
//!
//! Run it with `fuzz/run gateway_body 60` from the project's root. Every test run checks the same property within
//! bounds: `crates/longhaul-gateway/tests/it/bodies.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_gateway::body::{ReadResumePoint, read, read_from};

fuzz_target!(|body: &[u8]| {
    let Ok(whole) = read(body) else {
        return;
    };
    for (at, element) in whole.elements.iter().enumerate() {
        let from = ReadResumePoint {
            at: element.span.end,
            elements: at + 1,
            list: whole.list.start,
            before: whole.before.clone(),
        };
        let rest = read_from(body, &from);
        let Ok(rest) = rest else {
            panic!("the whole body can be read, but not from message {at}: {rest:?}");
        };
        assert_eq!(rest.elements, whole.elements[at + 1..]);
        assert_eq!(rest.members, whole.members);
        assert_eq!(rest.list, whole.list);
        // Neither function accepts the body when its last byte is missing.
        let short = &body[..body.len() - 1];
        assert_eq!(read(short).is_ok(), read_from(short, &from).is_ok());
    }
});
