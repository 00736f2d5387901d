//! Shell commands under rules that allow, and under attack.

use super::*;

#[test]
fn q1_a_rule_for_a_command_allows_that_command_and_no_other() {
    let world = World::new();
    let permissions = world.allowing(&[
        "Bash(npm run test:*)",
        "Bash(git commit *)",
        "Bash(make build)",
        "Bash(safe:*)",
        "Bash(* --version)",
        "Bash(FOO=1 cargo test:*)",
    ]);
    check(
        &permissions,
        &[
            ("npm run test", "allow"),
            ("npm run test --watch", "allow"),
            ("npm run tests", "ask"),
            ("npm run test:unit", "ask"),
            ("npm run", "ask"),
            ("git commit", "allow"),
            ("git commit -m 'a && b; rm -rf /'", "allow"),
            ("git commit -m \"two\nlines\"", "allow"),
            ("git committed", "ask"),
            ("make build", "allow"),
            ("make build all", "ask"),
            ("make  build", "allow"),
            ("cargo --version", "allow"),
            ("safe", "allow"),
            ("safer", "ask"),
            ("FOO=1 cargo test -q", "allow"),
            ("FOO=2 cargo test -q", "ask"),
            ("timeout 30 npm run test", "allow"),
            ("time npm run test", "allow"),
            ("RUST_BACKTRACE=1 safe x", "allow"),
            ("LD_PRELOAD=./x.so safe x", "ask"),
            ("PATH=. safe", "ask"),
            ("\"npm run\" test", "ask"),
        ],
    );
}

#[test]
fn q1_every_part_of_a_command_must_be_allowed() {
    let world = World::new();
    let permissions = world.allowing(&["Bash(safe:*)"]);
    check(
        &permissions,
        &[
            ("safe && safe", "allow"),
            ("safe | safe x; safe", "allow"),
            ("(safe; safe) && { safe; }", "allow"),
            ("safe $(safe)", "allow"),
            ("if safe; then safe; else safe; fi", "allow"),
            ("for i in a b; do safe $i; done", "allow"),
            ("safe > /dev/null 2>&1", "allow"),
            ("safe && rm -rf /", "ask"),
            ("safe || rm -rf /", "ask"),
            ("safe; rm -rf /", "ask"),
            ("safe | rm -rf /", "ask"),
            ("safe |& rm -rf /", "ask"),
            ("safe & rm -rf /", "ask"),
            ("safe\nrm -rf /", "ask"),
            ("safe\n\\rm -rf /", "ask"),
            ("safe\n\\rm x > /dev/null", "ask"),
            ("safe\n'rm' x", "ask"),
            ("safe\n\"rm\" x", "ask"),
            ("safe\n$X x", "ask"),
            ("safe x \\\n  y", "allow"),
            ("safe $(rm -rf /)", "ask"),
            ("safe `rm -rf /`", "ask"),
            ("safe \"$(rm -rf /)\"", "ask"),
            ("safe \"`rm -rf /`\"", "ask"),
            ("safe <(rm -rf /)", "ask"),
            ("safe >(rm -rf /)", "ask"),
            ("safe ${x:-$(rm -rf /)}", "ask"),
            ("safe ${x@P}", "ask"),
            ("safe $((a[$(rm -rf /)]))", "ask"),
            ("safe <<< $(rm -rf /)", "ask"),
            ("safe > out.txt", "ask"),
            ("safe >> out.txt", "ask"),
            ("safe >| out.txt", "ask"),
            ("safe &> out.txt", "ask"),
            ("safe >& out.txt", "ask"),
            ("safe < /etc/passwd", "ask"),
            ("safe <> file", "ask"),
            ("(safe; rm x)", "ask"),
            ("f() { rm x; }; safe", "ask"),
            ("safe # rm -rf /", "allow"),
            ("safe # comment\nrm -rf /", "ask"),
            ("while safe; do rm x; done", "ask"),
            ("case a in a) rm x;; esac", "ask"),
            ("! safe && rm x", "ask"),
            ("safe <<EOF\nhello\nEOF", "allow"),
            ("safe <<EOF\nhello\nEOF\nrm -rf /", "ask"),
            ("safe <<EOF && rm -rf /\nhello\nEOF", "ask"),
            ("safe <<EOF\n$(rm -rf /)\nEOF", "ask"),
            ("safe <<EOF\n`rm -rf /`\nEOF", "ask"),
            ("safe <<'EOF'\n$(rm -rf /)\nEOF", "allow"),
            ("safe <<'EOF'\nx\nEOF \nrm -rf /\nEOF", "ask"),
            ("safe <<E\"O\"F\nx\nEOF\nrm -rf /", "ask"),
            ("safe <<-EOF\n\tx\n\tEOF\nrm -rf /", "ask"),
            ("safe [[ a -eq 'b[$(rm x)]' ]]", "allow"),
            ("safe && [[ a -eq 'b[$(rm x)]' ]]", "ask"),
            ("PATH=/tmp/evil; safe", "ask"),
            ("export PATH=/tmp/evil; safe", "ask"),
            ("safe \"unclosed", "ask"),
            ("safe $(unclosed", "ask"),
            ("", "allow"),
        ],
    );
}

#[test]
fn q1_a_blank_before_an_equals_sign_makes_a_command_of_an_assignment() {
    let world = World::new();
    check(
        &world.permissions(ApprovalMode::Default, &[], &[], &[]),
        &[
            ("arr[0] =src/main.rs; ls", "ask"),
            ("! arr[0]\t=src/main.rs; ls", "ask"),
            ("x =1; ls", "ask"),
            ("arr [0]=1; ls", "ask"),
            ("1a=b; ls", "ask"),
            ("! 1a=b <<'EOF'\nx\nEOF\nls", "ask"),
            ("1a=b ls", "ask"),
            ("arr[0]=1; ls", "allow"),
            ("x=1; ls", "allow"),
            ("cat a\"b\"'c'$HOME", "ask"),
            ("cat a\"b\"'c'", "allow"),
        ],
    );
}

#[test]
fn q1_what_is_joined_to_a_word_of_the_shells_own_makes_a_command_of_it() {
    let world = World::new();
    check(
        &world.permissions(ApprovalMode::Default, &[], &[], &[]),
        &[
            ("![[ x == 1 ]]", "ask"),
            ("![ x = 1 ]", "ask"),
            ("if[ x = 1 ]; then ls; fi", "ask"),
            ("if [ x = 1 ]; then ls; fi", "allow"),
            ("if [[ x == 1 ]]; then ls; fi; ls", "allow"),
            ("! ls", "allow"),
            ("{ ls; }", "allow"),
            ("{ls; }", "ask"),
            ("(ls)", "allow"),
            ("case a in b) ls;; esac", "allow"),
            ("for f in 1 2; do ls; done;ls", "allow"),
        ],
    );
}

#[test]
fn q1_hostile_commands_cost_neither_time_nor_stack() {
    let world = World::new();
    let permissions = world.permissions(ApprovalMode::BypassPermissions, &[], &[], &["Bash(rm:*)"]);
    for command in [
        "(".repeat(20_000),
        "$(".repeat(10_000),
        "{ ".repeat(10_000),
        "`".repeat(9_999),
        "a;".repeat(9_000),
        "sudo ".repeat(3_000),
        "if a; then ".repeat(2_000),
        "\"".repeat(9_999),
        "<<A ".repeat(3_000),
        format!("echo {}", "x".repeat(1_000_000)),
        format!("bash -c '{}'", "bash -c ".repeat(500)),
    ] {
        let judgement = runs(&permissions, &command);
        let start: String = command.chars().take(20).collect();
        // It need not be forbidden; the check only has to return.
        assert!(!short(&judgement).is_empty(), "{start}");
    }
}
