//! The simulator's front door: whatever body comes in, a verdict in the API's envelope comes out, without a panic.
//!
//! `fuzz/run validate 60` from the project's root. The same property runs bounded in
//! every test run: `crates/longhaul-sim/tests/it/anything.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_core::models::ModelTable;
use longhaul_sim::call::Call;
use longhaul_sim::request::{Endpoint, NEWEST_VERSION, Request};
use longhaul_sim::validate::validate;

fuzz_target!(|body: &[u8]| {
    let call = Call {
        key: "key".to_owned(),
        version: NEWEST_VERSION.to_owned(),
        ..Call::default()
    };
    for endpoint in [Endpoint::Messages, Endpoint::CountTokens] {
        let read = Request::read(body, endpoint, &call.betas, &call.version);
        let verdict = read.and_then(|request| {
            let spec = ModelTable::builtin().resolve(&request.model).spec;
            validate(&request, &spec, &call)
        });
        if let Err(error) = verdict {
            assert!((400..500).contains(&error.status));
            assert_eq!(error.envelope("req_1")["type"], "error");
        }
    }
});
