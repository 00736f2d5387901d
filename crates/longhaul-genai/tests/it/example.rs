//! The example of the crate, run on the simulator: what it prints is checked.

#[path = "../../examples/any_provider.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod any_provider;

#[tokio::test]
async fn the_example_runs_the_tool_and_ends_with_an_answer() {
    let mut out = Vec::new();
    any_provider::run(&mut out).await.unwrap();
    let out = String::from_utf8(out).unwrap();
    println!("{out}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "result: \"answer.txt: The answer is 42.\"");
    assert!(lines[1].starts_with("model: "), "{out}");
}
