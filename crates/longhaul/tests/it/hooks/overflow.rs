//! Output that is too long for the conversation.

use std::os::unix::fs::PermissionsExt;

use longhaul::hooks::{HookEventName, HookFailure, Hooks};

use super::support::{Project, ends, post_compact, pre_compact};

#[tokio::test]
async fn k1_long_output_goes_to_a_file_and_its_beginning_to_the_model() {
    let project = Project::new();
    let text = format!("{{beginning}} {{file}} é{}", "x".repeat(10_000));
    project.write("long", &text);
    let hooks = project.lines(HookEventName::PreCompact, &["cat <<END\n $(cat long)\nEND"]);
    // The text begins like JSON, and so would be read as such.
    let outcome = ends(hooks.run(&project.call(pre_compact()))).await;
    assert!(matches!(
        outcome.errors[0].failure,
        HookFailure::NotJson { line: 1, .. }
    ));

    let text = format!("* {text}");
    project.write("long", &text);
    let kept = project.path("kept/deep");
    let call = project.call(pre_compact()).with_overflow(&kept);
    let outcome = ends(hooks.run(&call)).await;
    assert_eq!(outcome.errors, []);
    let files: Vec<_> = std::fs::read_dir(&kept)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    let [file] = &files[..] else {
        panic!("one file: {files:?}")
    };
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    assert_eq!(
        std::fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let beginning: String = text.chars().take(2_000).collect();
    assert_eq!(
        outcome.instructions,
        [format!(
            "{beginning}\n\n[A hook printed 10022 characters, too many for the conversation. This is the beginning; \
             all of it is in the file {}]",
            file.display()
        )]
    );
    // The same output again goes to the same file.
    ends(hooks.run(&call)).await;
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1);
}

#[tokio::test]
async fn k1_the_most_that_fits_is_left_as_it_is() {
    let project = Project::new();
    let text = "é".repeat(10_000);
    project.write("long", &text);
    let outcome = project.answer(post_compact(), &["cat long"]).await;
    assert_eq!(outcome.context, [text]);
}

#[tokio::test]
async fn k2_without_a_place_for_it_only_the_beginning_is_kept() {
    let project = Project::new();
    project.write("long", "y".repeat(10_001));
    let taken = project.write("taken", "a file where the folder should be");
    let hooks = project.lines(HookEventName::PostCompact, &["cat long"]);
    let wanted = format!(
        "{}\n\n[A hook printed 10001 characters, too many for the conversation. This is the beginning; the rest was \
         not kept.]",
        "y".repeat(2_000)
    );
    let outcome = ends(hooks.run(&project.call(post_compact()))).await;
    assert_eq!(
        (&outcome.context[..], &outcome.errors[..]),
        (&[wanted.clone()][..], &[][..])
    );
    let outcome = ends(hooks.run(&project.call(post_compact()).with_overflow(taken))).await;
    assert_eq!(outcome.context, [wanted]);
    assert!(matches!(outcome.errors[0].failure, HookFailure::NotKept(_)));
}

#[tokio::test]
async fn k2_a_megabyte_is_kept_and_the_rest_counted() {
    let project = Project::new();
    let hooks = project.lines(HookEventName::PostCompact, &["yes | head -c 3000000"]);
    let kept = project.path("kept");
    let outcome = ends(hooks.run(&project.call(post_compact()).with_overflow(&kept))).await;
    assert_eq!(outcome.errors, []);
    let file = std::fs::read_dir(&kept)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.ends_with(&format!(
        "y\n[{} more bytes were not kept]",
        3_000_000 - (1 << 20)
    )));
}
