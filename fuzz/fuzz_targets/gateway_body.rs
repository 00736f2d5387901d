//! Request bodies at the gateway: a reading that goes on behind a message that is known finds what a whole reading finds.
//!
//! `fuzz/run gateway_body 60` from the project's root. The same property runs bounded in
//! every test run: `crates/longhaul-gateway/tests/it/bodies.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_gateway::body::{Resumption, read, read_from};

fuzz_target!(|body: &[u8]| {
    let Ok(whole) = read(body) else {
        return;
    };
    for (at, element) in whole.elements.iter().enumerate() {
        let from = Resumption {
            at: element.span.end,
            elements: at + 1,
            list: whole.list.start,
            before: whole.before.clone(),
        };
        let rest = read_from(body, &from);
        let Ok(rest) = rest else {
            panic!("read whole, and not from message {at}: {rest:?}");
        };
        assert_eq!(rest.elements, whole.elements[at + 1..]);
        assert_eq!(rest.members, whole.members);
        assert_eq!(rest.list, whole.list);
        // Cut short, neither reads it.
        let short = &body[..body.len() - 1];
        assert_eq!(read(short).is_ok(), read_from(short, &from).is_ok());
    }
});
