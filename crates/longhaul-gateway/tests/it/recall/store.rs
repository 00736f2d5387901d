//! What is stored: durable before the client goes on, sealed, and each tenant's own.

use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::GatewayOptions;
use longhaul_gateway::store::{GatewayStorage, SqliteStore};
use longhaul_provider::Dialect;

use super::house::{Agent, FACT, House, look_up, memory, messages_of, say};

#[tokio::test]
async fn x8_another_gateway_on_the_same_file_goes_on_where_the_first_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    let open = || -> Arc<dyn GatewayStorage> { Arc::new(SqliteStore::open(&path).unwrap()) };
    let secret = |options: &mut GatewayOptions| {
        options.tenants = Tenants::of_file(&path.with_extension("secret")).unwrap();
    };
    let mut house = House::new(&[
        look_up("Let me look. "),
        say("It is quokka-7."),
        say("Yes."),
    ])
    .await;
    house.replace_gateway(open(), secret).await;
    let mut agent = Agent::new(&house, Dialect::Anthropic, true);
    agent.say(FACT).await;
    house.replace_gateway(open(), secret).await;
    agent.go_to(&house);
    agent.say("Really?").await;
    let sent = house.sent();
    assert!(messages_of(&sent[2]).starts_with(messages_of(&sent[1])));
    house.stop().await;
}

#[tokio::test]
async fn a_record_that_was_changed_is_as_good_as_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    let open = || -> Arc<dyn GatewayStorage> { Arc::new(SqliteStore::open(&path).unwrap()) };
    let secret = |options: &mut GatewayOptions| {
        options.tenants = Tenants::of_file(&path.with_extension("secret")).unwrap();
    };
    let mut house = House::new(&[
        look_up("Let me look. "),
        say("It is quokka-7."),
        say("Yes."),
    ])
    .await;
    house.replace_gateway(open(), secret).await;
    let mut agent = Agent::new(&house, Dialect::Anthropic, false);
    agent.say(FACT).await;
    house.replace_gateway(memory(), |_| {}).await;
    let file = rusqlite::Connection::open(&path).unwrap();
    let changed = file.execute(
        "UPDATE recall SET text = CAST(replace(CAST(text AS TEXT), 'quokka-7', 'quokka-8') AS BLOB)", []);
    assert_eq!(changed.unwrap(), 2, "the tool and the rounds");
    drop(file);
    house.replace_gateway(open(), secret).await;
    agent.go_to(&house);
    agent.say("Really?").await;
    let last = house.sent().pop().unwrap();
    assert!(
        last.contains("\"recall\""),
        "what is intact is used: {last}"
    );
    assert!(
        !last.contains("quokka-8") && !last.contains("tool_result"),
        "{last}"
    );
    house.stop().await;
}
