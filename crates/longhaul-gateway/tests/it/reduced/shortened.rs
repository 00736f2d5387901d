//! Results that nobody has read yet are shortened where nothing else makes room.

use super::*;

/// A question, two calls at once and their results.
fn two_results(first: &str, failed: bool, second: &str) -> Vec<Value> {
    let call =
        |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}});
    vec![
        json!({"role": "user", "content": "Run both, and never delete anything."}),
        json!({"role": "assistant", "content": [call("toolu_0"), call("toolu_1")]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_0", "content": first},
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": second, "is_error": failed}]}),
    ]
}

fn report(lines: usize) -> String {
    let line = |number: usize| match number {
        0 => "FIRST VALUE 4711\n".to_owned(),
        _ if number == lines / 2 => "error: the disk of node 12 is full\n".to_owned(),
        _ if number == lines - 1 => "LAST VALUE 12".to_owned(),
        _ => format!(
            "{number}: some words of a long report, row {}\n",
            number * 7
        ),
    };
    (0..lines).map(line).collect()
}

#[tokio::test]
async fn o7_x8_results_that_nobody_has_read_are_shortened_and_never_lost() {
    let house = House::new().await;
    let gateway = house
        .gateway("a.sqlite", |options| {
            options.config = crate::promises::set(&[("window.cap", "40000")]);
        })
        .await;
    let messages = two_results(&report(8_000), false, "Thu Nov 19");
    let (answer, sent) = house.send(&gateway, &messages).await;
    assert_eq!(header(&answer, "x-longhaul-action").unwrap(), "passed");
    assert_eq!(sent.len(), 3, "nothing is summarized");
    let first = content(&sent, 0);
    assert!(first.starts_with("FIRST VALUE 4711\n"), "{first}");
    assert!(first.ends_with("LAST VALUE 12"), "{first}");
    assert!(
        first.contains("has no room for all of this result"),
        "{first}"
    );
    assert!(
        first.contains("4001| error: the disk of node 12 is full"),
        "{first}"
    );
    assert!(
        first.len() > 40_000,
        "as much as there is room for: {}",
        first.len()
    );
    assert_eq!(content(&sent, 1), "Thu Nov 19");
    // It is sent in this form from then on, whatever follows, and also by a gateway that starts anew.
    let mut longer = messages.clone();
    longer.push(json!({"role": "assistant", "content": "ok"}));
    longer.push(json!({"role": "user", "content": "Go on."}));
    gateway.stop().await;
    let again = house
        .gateway("a.sqlite", |options| {
            options.config = crate::promises::set(&[("window.cap", "40000")]);
        })
        .await;
    let (_, later) = house.send(&again, &longer).await;
    assert_eq!(later[..3], sent[..]);
    again.stop().await;
}

#[tokio::test]
async fn v8_x8_errors_are_shortened_only_where_everything_else_is_not_enough() {
    let house = House::new().await;
    let capped = |options: &mut GatewayOptions| {
        options.config = crate::promises::set(&[("window.cap", "40000")])
    };
    let gateway = house.gateway("a.sqlite", capped).await;
    let error = report(200);
    let (_, sent) = house
        .send(&gateway, &two_results(&report(8_000), true, &error))
        .await;
    assert_eq!(content(&sent, 1), error);
    assert!(content(&sent, 0).contains("has no room"));
    let (_, sent) = house
        .send(&gateway, &two_results("done", true, &report(8_000)))
        .await;
    assert_eq!(content(&sent, 0), "done");
    assert!(content(&sent, 1).contains("has no room"));
    // What fits is sent as it came.
    let fits = report(400);
    let (_, sent) = house
        .send(&gateway, &two_results(&fits, false, "done"))
        .await;
    assert_eq!(content(&sent, 0), fits);
    gateway.stop().await;
}
