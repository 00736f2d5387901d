//! The simulator's request validation: every body gets a verdict in the API's envelope, and nothing panics.
//!
//! Run it with `fuzz/run validate 60` from the project's root. Every test run checks the same property within bounds:
//! `crates/longhaul-sim/tests/it/anything.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_core::models::ModelTable;
use longhaul_sim::call::ApiCall;
use longhaul_sim::request::{Endpoint, MessagesRequest, NEWEST_VERSION};
use longhaul_sim::validate::validate;

fuzz_target!(|body: &[u8]| {
    let call = ApiCall {
        key: "key".to_owned(),
        version: NEWEST_VERSION.to_owned(),
        ..ApiCall::default()
    };
    for endpoint in [Endpoint::Messages, Endpoint::CountTokens] {
        let read = MessagesRequest::read(body, endpoint, &call.betas, &call.version);
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
