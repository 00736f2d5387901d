//! Searches of the web: a request of their own that carries the provider's tool, in the strict simulator.

use longhaul_agent::agent::{SessionChoice, UsagePurpose};
use longhaul_agent::event::{ApprovalAnswer, PromptOutcome};
use longhaul_core::money::Usd;
use longhaul_sim::server_tools::SearchError;
use serde_json::{Value, json};

use super::{Says, open, put, results, workplace};
use crate::agent::house::{House, calls, text, work};

const CENT: i128 = 10_000_000_000;

fn search(input: Value) -> Value {
    calls(&[("WebSearch", input)])
}

async fn searching(turns: &[Value]) -> House {
    House {
        searches: true,
        ..House::scripted(turns).await
    }
}

/// The names of the tools in a request.
fn tools(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn q1_a_web_search_is_a_request_of_its_own_and_leaves_the_conversation_as_it_is() {
    let house = searching(&[search(json!({"query": "tide tables"})), text("Found.")]).await;
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (ended, told) = work(
        &mut agent,
        &mut events,
        "When is high tide?",
        |_| {},
        || Some(ApprovalAnswer::Once),
    )
    .await;
    assert_eq!(ended, PromptOutcome::Done);
    let [asked, searched, answered] = &house.bodies()[..] else {
        panic!("three requests: {:?}", house.bodies().len());
    };
    assert!(tools(asked).contains(&"WebSearch"));
    assert_eq!(asked["tools"], answered["tools"], "the cache stays warm");
    assert_eq!(
        searched["tools"],
        json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}])
    );
    assert_eq!(searched["messages"].as_array().unwrap().len(), 1);
    let said = results(&told).join("\n");
    assert!(
        said.contains("[1] Simulated result 1 for “tide tables”"),
        "{said}"
    );
    assert!(
        said.contains("https://example.com/simulated/tide-tables-1"),
        "{said}"
    );
    assert!(said.contains("> - Simulated result 1"), "quoted: {said}");
    let (parts, _) = agent.handle().spent();
    let (_, spent) = parts
        .iter()
        .find(|(purpose, _)| *purpose == UsagePurpose::WebSearches)
        .unwrap();
    assert_eq!(spent.usage.web_searches, 1);
    assert!(
        spent.cost.unwrap() > Usd::from_pico(CENT),
        "a cent, and the tokens"
    );
    agent.close(longhaul::hooks::EndReason::Other).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q1_a_resumed_session_knows_what_its_searches_have_cost() {
    let house = searching(&[search(json!({"query": "tides"})), text("Found.")]).await;
    put(
        &house,
        ".claude/settings.json",
        r#"{"permissions": {"allow": ["WebSearch"]}}"#,
    );
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    work(&mut agent, &mut events, "Search.", |_| {}, || None).await;
    let before = agent.handle().spent().1.unwrap();
    assert_eq!(before.usage.web_searches, 1);
    agent.close(longhaul::hooks::EndReason::Other).await;
    let (agent, _events) = open(&house, &place, SessionChoice::Continue).await;
    // The files are read beside everything else.
    while agent.handle().spent().1.unwrap().usage.output == 0 {
        tokio::task::yield_now().await;
    }
    let after = agent.handle().spent().1.unwrap();
    assert_eq!(after.usage.web_searches, 1);
    let cents = |cost: Option<Usd>| (cost.unwrap().to_f64() * 1e6).round();
    assert_eq!(cents(after.cost), cents(before.cost));
    agent.close(longhaul::hooks::EndReason::Other).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g1_a_search_is_asked_for_unless_a_rule_covers_it() {
    let once = search(json!({"query": "tides"}));
    let within = search(json!({"query": "serde", "allowed_domains": ["docs.rs"]}));
    let more = [once.clone(), text("C."), once.clone(), text("D.")];
    let turns = [&[once, text("A."), within, text("B.")], &more[..]].concat();
    let house = searching(&turns).await;
    let rules = r#"{"permissions": {"allow": ["WebSearch(domain:docs.rs)"]}}"#;
    put(&house, ".claude/settings.json", rules);
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let no = || Some(ApprovalAnswer::No(Some("not now".to_owned())));
    let (_, told) = work(&mut agent, &mut events, "One.", |_| {}, no).await;
    assert!(!results(&told)[0].contains("Simulated"), "{told:?}");
    assert_eq!(house.bodies().len(), 2, "nothing was searched");
    let (_, told) = work(&mut agent, &mut events, "Two.", |_| {}, no).await;
    assert!(
        results(&told)[0].contains("https://docs.rs/simulated/"),
        "{told:?}"
    );
    let yes = || Some(ApprovalAnswer::Session);
    let (_, told) = work(&mut agent, &mut events, "Three.", |_| {}, yes).await;
    assert!(results(&told)[0].contains("Simulated result"));
    let (_, told) = work(&mut agent, &mut events, "Four.", |_| {}, || None).await;
    assert!(
        results(&told)[0].contains("Simulated result"),
        "agreed to for the session"
    );
    agent.close(longhaul::hooks::EndReason::Other).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g1_hosts_that_rules_forbid_are_left_out_and_a_forbidden_search_is_not_sent() {
    let turns = [
        search(json!({"query": "tides"})),
        search(json!({"query": "tides", "allowed_domains": ["evil.example"]})),
        text("Done."),
    ];
    let house = searching(&turns).await;
    let rules = r#"{"permissions": {"allow": ["WebSearch"],
        "deny": ["WebFetch(domain:*.ads.example)", "WebSearch(domain:evil.example)"]}}"#;
    put(&house, ".claude/settings.json", rules);
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (_, told) = work(&mut agent, &mut events, "Search.", |_| {}, || None).await;
    let searched: Vec<Value> = house
        .bodies()
        .into_iter()
        .filter(|body| tools(body) == ["web_search"])
        .collect();
    let blocked = json!(["ads.example", "evil.example"]);
    assert_eq!(searched[0]["tools"][0]["blocked_domains"], blocked);
    assert_eq!(searched.len(), 1);
    let said = results(&told);
    assert!(said[1].contains("forbids evil.example"), "{said:?}");
    agent.close(longhaul::hooks::EndReason::Other).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q1_the_tool_is_offered_only_where_the_provider_searches() {
    for (searches, model) in [(false, "claude-sonnet-4-6"), (true, "claude-3-haiku")] {
        let house = House {
            searches,
            model: model.to_owned(),
            ..House::scripted(&[text("Hello.")]).await
        };
        let place = workplace(&house, &mut Says::yes()).await;
        let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
        work(&mut agent, &mut events, "Hello.", |_| {}, || None).await;
        assert!(!tools(&house.last_body()).contains(&"WebSearch"), "{model}");
        agent.close(longhaul::hooks::EndReason::Other).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn q1_a_search_that_fails_is_told_to_the_model_and_not_billed() {
    let house = searching(&[search(json!({"query": "tides"})), text("Sorry.")]).await;
    put(
        &house,
        ".claude/settings.json",
        r#"{"permissions": {"allow": ["WebSearch"]}}"#,
    );
    house
        .server
        .with_world(|world| world.fail_searches(1, SearchError::Unavailable));
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (ended, told) = work(&mut agent, &mut events, "Search.", |_| {}, || None).await;
    assert_eq!(ended, PromptOutcome::Done);
    let said = results(&told).join("\n");
    assert!(
        said.contains("search for tides failed: the provider's search does not work"),
        "{said}"
    );
    assert_eq!(agent.spent().usage.web_searches, 0);
    agent.close(longhaul::hooks::EndReason::Other).await;
}
