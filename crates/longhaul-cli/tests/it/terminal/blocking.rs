//! A full window where automatic compaction is off.

use super::house::{House, Typing};

#[test]
fn o5_at_the_blocking_limit_input_is_refused_with_what_to_do_and_compact_makes_room() {
    let house = House::new();
    let mut terminal = house.chat(&[
        "--window",
        "40000",
        "--set",
        "compaction.auto_compact_enabled=false",
        "--set",
        "compaction.micro=false",
        "--set",
        "compaction.notes=false",
    ]);
    let mut turn = 0;
    loop {
        turn += 1;
        let prompt = format!("tell 1200 #{turn}");
        terminal.says(&prompt);
        terminal.until("an end", |terminal| {
            let shown = terminal.shown();
            shown.contains(&format!("Done with: {prompt}"))
                || shown.contains("the context window is full")
        });
        terminal.is_idle();
        if terminal.shown().contains("the context window is full") {
            break;
        }
        assert!(turn < 100, "it is never full");
    }
    assert!(turn > 2, "{turn}");
    let shown = terminal.shown();
    assert!(shown.contains("/compact"), "{shown}");
    let calls = house.calls();
    // It stays full, and nothing is sent.
    terminal.keys("\u{c}");
    terminal.says("tell 5 more");
    terminal.until("a second refusal", |terminal| {
        terminal.all().matches("the context window is full").count() >= 2
    });
    terminal.is_idle();
    assert_eq!(house.calls(), calls);

    terminal.says("/compact");
    terminal.sees("enter approve");
    terminal.keys("\r");
    terminal.sees("● compacted");
    terminal.is_idle();
    terminal.asks("tell 5 after", "Done with: tell 5 after");
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}
