//! The commands on the screen, over a real conversation.

use longhaul_testkit::terminal::TestTerminal;

use super::house::{House, Typing};

const PLAIN: [&str; 2] = ["--set", "compaction.notes=false"];

fn turns(terminal: &mut TestTerminal, words: usize, count: usize) {
    for turn in 1..=count {
        let prompt = format!("tell {words} #{turn}");
        terminal.asks(&prompt, &format!("Done with: {prompt}"));
    }
}

fn last_request(house: &House) -> String {
    String::from_utf8(house.wire.requests().pop().unwrap()).unwrap()
}

#[test]
fn q3_m5_rewinding_goes_back_and_the_rest_stays_in_the_file() {
    let house = House::new();
    let mut terminal = house.chat(&PLAIN);
    turns(&mut terminal, 5, 3);
    terminal.says("/rewind");
    terminal.sees("Go back to");
    terminal.keys("#2");
    terminal.sees("› > tell 5 #2");
    terminal.keys("\r");
    terminal.sees("At this message");
    terminal.keys("1");
    terminal.sees("gone back");
    // The text of that message is in the prompt again.
    terminal.sees("> tell 5 #2");
    terminal.keys("b\r");
    terminal.sees("Done with: tell 5 #2b");
    terminal.is_idle();
    let last = last_request(&house);
    assert!(last.contains("tell 5 #1") && !last.contains("tell 5 #3"));
    terminal.leaves();
    let text = std::fs::read_to_string(house.transcript()).unwrap();
    assert!(text.contains("tell 5 #3"));
    house.nothing_refused();
    house.inspected();
}

#[test]
fn q3_rewinding_restores_files_and_leaves_what_others_changed() {
    let house = House::new();
    let mode = ["--permission-mode", "bypassPermissions"];
    let mut terminal = house.chat(&[&PLAIN[..], &mode].concat());
    let file = |name: &str| house.work().join(name);
    terminal.asks("tell 5 #1", "Done with: tell 5 #1");
    terminal.asks("read notes.txt", "Done with: read notes.txt");
    terminal.asks("write notes.txt", "Done with: write notes.txt");
    terminal.asks("write made.txt", "Done with: write made.txt");
    terminal.asks("run touch ran.txt", "Done with: run touch ran.txt");
    let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
    assert_eq!(read("notes.txt"), "hello\n");
    terminal.says("/rewind");
    terminal.sees("Go back to");
    terminal.keys("read notes");
    terminal.sees("› > read notes.txt");
    terminal.keys("\r");
    terminal.sees("At this message · what 1 command did since stays");
    terminal.sees("1. go back and restore 2 files");
    terminal.keys("1");
    terminal.sees("2 files restored");
    assert_eq!(read("notes.txt"), "one\ntwo\nthree\n");
    assert!(!file("made.txt").exists() && file("ran.txt").exists());
    terminal.keys("\u{3}");
    terminal.is_idle();

    terminal.asks("read more.txt", "Done with: read more.txt");
    terminal.asks("write more.txt", "Done with: write more.txt");
    house.world.write("work/more.txt", "mine");
    terminal.says("/rewind");
    terminal.sees("Go back to");
    terminal.keys("read more");
    terminal.sees("› > read more.txt");
    terminal.keys("\r");
    terminal.sees("3. restore 1 file; the conversation goes on");
    terminal.keys("3");
    terminal.sees("Changed since the last edit, by a command or somebody else: more.txt");
    terminal.keys("1");
    terminal.sees("0 files restored; left as it is: more.txt");
    assert_eq!(read("more.txt"), "mine");
    terminal.leaves();
    house.nothing_refused();
}

#[test]
fn q3_x6_summing_up_to_a_message_keeps_it_and_can_be_undone() {
    let house = House::new();
    let mut terminal = house.chat(&PLAIN);
    turns(&mut terminal, 400, 4);
    terminal.says("/rewind");
    terminal.sees("Go back to");
    terminal.keys("#4");
    terminal.sees("› > tell 400 #4");
    terminal.keys("\r");
    terminal.sees("summarize up to here");
    terminal.keys("3");
    terminal.sees("enter approve");
    terminal.keys("\r");
    terminal.sees("● compacted");
    terminal.is_idle();
    terminal.asks("tell 5 #5", "Done with: tell 5 #5");
    let story = "word398 word399 word400";
    assert_eq!(last_request(&house).matches(story).count(), 1);
    house.inspected();

    terminal.says("/report");
    terminal.sees("kept");
    terminal.says("/rewind");
    terminal.sees("Go back to");
    terminal.keys("undo");
    terminal.sees("› undo the newest compaction");
    terminal.keys("\r");
    terminal.sees("the compaction is undone");
    terminal.is_idle();
    terminal.asks("tell 5 #6", "Done with: tell 5 #6");
    let last = last_request(&house);
    assert_eq!(last.matches(story).count(), 4);
    assert!(last.contains("tell 5 #5"), "what came since is kept");
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}

#[test]
fn q3_sessions_are_listed_searched_and_gone_on_with() {
    let house = House::new();
    let mut terminal = house.chat(&PLAIN);
    terminal.asks("tell 5 apples", "Done with: tell 5 apples");
    terminal.says("/clear");
    terminal.sees("a new conversation");
    terminal.asks("tell 5 pears", "Done with: tell 5 pears");
    assert!(!last_request(&house).contains("apples"));
    terminal.says("/resume");
    terminal.sees("Resume:");
    terminal.sees("tell 5 pears (this one)");
    terminal.keys("apple");
    terminal.misses("tell 5 pears (this one)");
    terminal.keys("\r");
    terminal.sees("resumed after");
    terminal.asks("tell 5 plums", "Done with: tell 5 plums");
    let last = last_request(&house);
    assert!(last.contains("apples") && !last.contains("pears"));
    terminal.leaves();
    assert_eq!(house.transcripts().len(), 2);
    for path in house.transcripts() {
        house.inspected_at(&path);
    }
    house.nothing_refused();
}

#[test]
fn q3_what_is_looked_at_is_shown() {
    let house = House::new();
    let mut terminal = house.chat(&PLAIN);
    turns(&mut terminal, 50, 2);
    for (command, shows) in [
        ("/context", "c compacts at"),
        ("/cost", "from the cache"),
        ("/cost", "decided by price: clear"),
        (
            "/cost economy full",
            "economy full: old results are cleared",
        ),
        ("/cost", "decided by price: full"),
        ("/cost economy more", "usage: /cost, or /cost economy off"),
        ("/notes", "no notes of this session"),
        ("/hooks", "no hooks are set up"),
        ("/report", "has not been compacted yet"),
        ("/nonsense", "there is no command /nonsense"),
        ("/help", "/rewind"),
    ] {
        terminal.keys("\u{c}");
        terminal.says(command);
        terminal.sees(shows);
    }
    terminal.says("/model claude-opus-4-6");
    terminal.sees("claude-opus-4-6 is used from the next request on");
    terminal.asks("tell 5 #3", "Done with: tell 5 #3");
    assert!(last_request(&house).contains("\"model\":\"claude-opus-4-6\""));
    terminal.keys("\u{f}");
    terminal.sees("Transcript");
    terminal.keys("q");
    terminal.is_idle();
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}

#[test]
fn q3_a_bad_argument_of_a_command_is_answered_with_the_next_step() {
    let house = House::new();
    let mut terminal = house.chat(&PLAIN);
    for (typed, told) in [
        ("/effort nosuch", "■ /effort takes low, medium, high"),
        ("/cost nosuch", "■ usage: /cost, or /cost economy off"),
        ("/export no/folder/x.txt", "x.txt is not written: No such"),
        ("/report", "/compact does it"),
        ("/compact", "■ not compacted: there is nothing to compact"),
        ("/nosuch", "■ there is no command /nosuch; /help lists all"),
        ("/model nosuch", "nosuch is not among the models"),
        ("tell 5 words", "/model or --model chooses another model"),
        ("/resume nosuch", "nothing found"),
    ] {
        terminal.says(typed);
        terminal.until(told, |terminal| {
            let all = terminal.all();
            let words: Vec<&str> = all.split_whitespace().collect();
            words.join(" ").contains(told)
        });
    }
    terminal.keys("\u{1b}");
    terminal.is_idle();
    terminal.says("/model claude-opus-4-6");
    terminal.sees("claude-opus-4-6 is used from the next request on");
    terminal.asks("tell 5 on", "Done with: tell 5 on");
    terminal.leaves();
}
