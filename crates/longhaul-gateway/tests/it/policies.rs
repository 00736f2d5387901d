//! Which policy applies to which request.

use http::HeaderMap;
use longhaul_gateway::branch::Tenant;
use longhaul_gateway::front::Gateway;
use longhaul_gateway::policy::{PolicyRule, PolicyRules, PolicySubject, RequestPolicy, rules_of};
use serde_json::json;

use super::support::{self, REPLY, answering, exchange, header, options, post};

fn subject<'r>(headers: &'r HeaderMap, model: Option<&'r str>) -> PolicySubject<'r> {
    PolicySubject {
        tenant: Tenant(0xab),
        path: "/v1/messages",
        headers,
        model,
    }
}

#[test]
fn x8_the_first_rule_that_matches_decides() {
    let rules = "key=00000000000000ac:off|model=claude-haiku-*:off|path=/v1/m*,header=x-team: ops:off|observe";
    let policies = PolicyRules {
        rules: rules.split('|').map(|rule| rule.parse().unwrap()).collect(),
        otherwise: RequestPolicy::Off,
    };
    let mut headers = HeaderMap::new();
    assert_eq!(
        policies.decide(subject(&headers, None)),
        None,
        "the model must be known first"
    );
    assert_eq!(
        policies.decide(subject(&headers, Some("claude-haiku-4-5"))),
        Some(RequestPolicy::Off)
    );
    assert_eq!(
        policies.decide(subject(&headers, Some("claude-opus-5-5"))),
        Some(RequestPolicy::Observe)
    );
    headers.insert("x-team", "ops".parse().unwrap());
    assert_eq!(
        policies.decide(subject(&headers, Some("claude-opus-5-5"))),
        Some(RequestPolicy::Off)
    );
}

#[test]
fn x8_a_client_may_ask_for_less_and_never_for_more() {
    let mut headers = HeaderMap::new();
    headers.insert("x-longhaul-policy", "off".parse().unwrap());
    assert_eq!(
        PolicyRules::default().decide(subject(&headers, None)),
        Some(RequestPolicy::Off)
    );
    headers.insert("x-longhaul-policy", "observe".parse().unwrap());
    let off = PolicyRules {
        rules: vec!["off".parse().unwrap()],
        otherwise: RequestPolicy::Observe,
    };
    assert_eq!(
        off.decide(subject(&headers, None)),
        Some(RequestPolicy::Off)
    );
}

#[test]
fn x8_rules_are_read_from_flags_and_files_alike() {
    let file = "[[policy]]\nmodel = \"gpt-*\"\nheader = \"x-a: b\"\nuse = \"off\"\n";
    let flag: PolicyRule = "model=gpt-*,header=x-a: b:off".parse().unwrap();
    assert_eq!(rules_of(file).unwrap(), [flag]);
    for wrong in [
        "",
        "managed",
        "colour=red:off",
        "key=mine:off",
        "model:off",
        "header=x:off",
    ] {
        assert!(wrong.parse::<PolicyRule>().is_err(), "{wrong}");
    }
    for wrong in [
        "[[policy]]\nuse = \"managed\"",
        "[[policy]]\nmodel = \"m\"",
        "[[policy]]\nuse = \"off\"\ncolour = 1",
        "[[",
    ] {
        assert!(rules_of(wrong).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn x8_a_model_that_is_off_leaves_no_trace() {
    let (url, _) = answering(REPLY).await;
    let mut options = options(url);
    options.policies.rules = vec!["model=claude-opus-*:off".parse().unwrap()];
    let gateway = Gateway::start(options).await.unwrap();
    let body = support::body(&json!([{"role": "user", "content": "hi"}]));
    let answer = exchange(gateway.addr(), &post("/v1/messages", "", &body)).await;
    assert_eq!(header(&answer, "x-longhaul-policy").as_deref(), Some("off"));
    assert_eq!(header(&answer, "x-longhaul-session"), None);
    let other = body.replace("claude-opus-5-5", "claude-sonnet-4-5");
    let answer = exchange(gateway.addr(), &post("/v1/messages", "", &other)).await;
    assert_eq!(
        header(&answer, "x-longhaul-policy").as_deref(),
        Some("manage")
    );
    let sessions =
        support::sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 1).await;
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(sessions["sessions"][0]["model"], "claude-sonnet-4-5");
    gateway.stop().await;
}

#[test]
fn x8_a_rule_that_says_how_to_manage_what_it_does_not_manage_is_refused() {
    for rule in ["observe,economy=full", "model=a:off,recall=on"] {
        let error = rule.parse::<PolicyRule>().unwrap_err().to_string();
        assert!(error.contains("only under `manage`"), "{error}");
    }
    let error = rules_of("[[policy]]\nuse = \"observe\"\nreduce = \"exact\"").unwrap_err();
    assert!(error.to_string().contains("only under `manage`"), "{error}");
}

#[tokio::test]
async fn x8_a_policy_that_there_is_not_is_refused_and_not_ignored() {
    let (url, got) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let body = support::body(&json!([{"role": "user", "content": "a"}]));
    let request = post("/v1/messages", "x-longhaul-policy: bogus\r\n", &body);
    let answer = exchange(gateway.addr(), &request).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("neither `off`, `observe` nor `manage`"));
    assert!(got.lock().unwrap().is_empty());
    gateway.stop().await;
}
