//! Rules that forbid a command or a file hold however a command is written.

use super::*;

#[test]
fn q1_reading_folder_by_folder_does_not_pass_a_rule_that_forbids_a_file() {
    let world = World::new();
    let deny = ["Read(./.env)", "Read(*.pem)"];
    std::fs::create_dir(world.cwd.join("keys")).unwrap();
    std::fs::write(world.cwd.join("keys/a.pem"), "x").unwrap();
    for mode in [
        ApprovalMode::Default,
        ApprovalMode::AcceptEdits,
        ApprovalMode::BypassPermissions,
    ] {
        check(
            &world.permissions(mode, &[], &[], &deny),
            &[
                ("grep -rn foo src", "allow"),
                ("rg foo src", "allow"),
                ("ls -R .", "allow"),
                ("diff a.txt src/main.rs", "allow"),
                ("grep -r '' .", "ask"),
                ("grep -rn foo", "ask"),
                ("grep -A 3 -r src", "ask"),
                ("rg --hidden foo", "ask"),
                ("rg foo keys", "ask"),
                ("git grep --untracked x", "ask"),
                ("diff -rN keys src", "ask"),
                ("diff -r keys src", "ask"),
                ("cat .en\"\"?", "deny"),
                ("cat keys/*", "deny"),
                ("cat *.txt", "allow"),
                ("git show HEAD:.env", "deny"),
                ("grep -f.env a.txt", "deny"),
                ("cat $X", "ask"),
                ("cat {.env,a.txt}", "ask"),
            ],
        );
    }
}

#[test]
fn q1_git_does_not_show_a_forbidden_file_that_is_not_named() {
    let world = World::new();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let ran = command.args(arguments).current_dir(&world.cwd).output();
        assert!(ran.unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "a.txt"]);
    let rules = ["Read(*.pem)", "Read(~/.ssh/**)"];
    let untracked = [
        ("git diff", "allow"),
        ("git diff a.txt", "allow"),
        ("git diff --cached", "allow"),
        ("git status", "allow"),
        ("git log --oneline -n 5", "allow"),
        ("git log --stat -3", "allow"),
        ("git diff --stat HEAD~1", "allow"),
        ("git grep foo", "allow"),
        // The contents of earlier commits are not looked up.
        ("git diff HEAD~1", "ask"),
        ("git show HEAD", "ask"),
        ("git log -p", "ask"),
        ("git log --stat -p", "ask"),
        ("git log -L1,5:a.txt", "ask"),
        ("git cat-file -p HEAD", "ask"),
        ("git -C src diff", "ask"),
        ("git archive HEAD", "ask"),
    ];
    check(
        &world.permissions(ApprovalMode::BypassPermissions, &[], &[], &rules),
        &untracked,
    );
    // Rules about files elsewhere do not affect the repository here.
    check(
        &world.permissions(ApprovalMode::BypassPermissions, &[], &[], &rules[1..]),
        &[("git show HEAD", "allow"), ("git log -p", "allow")],
    );
    std::fs::write(world.cwd.join("key.pem"), "x").unwrap();
    git(&["add", "key.pem"]);
    for mode in [ApprovalMode::Default, ApprovalMode::BypassPermissions] {
        check(
            &world.permissions(mode, &[], &[], &rules),
            &[
                ("git diff", "ask"),
                ("git diff --cached", "ask"),
                ("git status", "allow"),
                ("git diff --stat", "allow"),
                ("git log --oneline", "allow"),
            ],
        );
    }
}

#[test]
fn q1_what_a_command_evaluates_does_not_pass_rules_that_forbid() {
    let world = World::new();
    for deny in [&["Bash(rm:*)"], &["Read(./.env)"]] {
        for (mode, expected) in [
            (ApprovalMode::Default, "ask"),
            (ApprovalMode::BypassPermissions, "ask"),
            (ApprovalMode::Plan, "deny"),
            (ApprovalMode::DontAsk, "deny"),
        ] {
            let permissions = world.permissions(mode, &["Bash"], &[], deny);
            for command in [
                "x='a[$(rm .env)]'; y=$((x))",
                "x='a[$(rm .env)]'; [[ x -eq 1 ]]",
                "x='a[$(rm .env)]'; y=${!x}",
                "x='a[$(rm .env)]'; y=\"$[x]\"",
                "[ {-v,'a[$(cat .env)]'} ]",
                "y=`echo \"\\$(cat .env)\"`",
            ] {
                let judgement = runs(&permissions, command);
                assert_eq!(short(&judgement), expected, "{mode:?} {deny:?} {command}");
            }
        }
    }
}

#[test]
fn q1_a_command_that_is_denied_is_found_wherever_it_hides() {
    let world = World::new();
    let deny = ["Bash(rm:*)", "Bash(git push *)", "Bash(curl *)"];
    let permissions = world.permissions(ApprovalMode::BypassPermissions, &["Bash"], &[], &deny);
    for command in [
        "rm x",
        "rm",
        "ls && rm x",
        "ls; rm x",
        "ls | rm x",
        "ls & rm x",
        "ls\nrm x",
        "(rm x)",
        "{ rm x; }",
        "echo $(rm x)",
        "echo `rm x`",
        "echo \"$(rm x)\"",
        "cat <(rm x)",
        "FOO=1 rm x",
        "\\rm x",
        "'rm' x",
        "\"rm\" x",
        "r''m x",
        "r\"\"m x",
        "/bin/rm x",
        "/usr/bin/../bin/rm x",
        "command rm x",
        "builtin rm x",
        "exec rm x",
        "sudo rm x",
        "sudo -u root rm x",
        "env FOO=1 rm x",
        "env -i rm x",
        "nohup rm x &",
        "time rm x",
        "timeout -k 5 10 rm x",
        "nice -n 5 rm x",
        "xargs rm",
        "ls | xargs -0 -n 1 rm -f",
        "find . -exec rm {} +",
        "bash -c 'rm x'",
        "sh -ec \"ls; rm x\"",
        "/bin/bash -lc 'ls && rm x'",
        "sudo sh -c 'rm x'",
        "eval 'rm x'",
        "eval rm x",
        "eval \"ls; r\"m x",
        "trap 'rm x' EXIT",
        "if true; then rm x; fi",
        "for i in 1; do rm x; done",
        "while rm x; do :; done",
        "case a in a) rm x;; esac",
        "f() { rm x; }; f",
        "! rm x",
        "! ! rm x",
        "rm x # harmless",
        "> out rm x",
        "git push",
        "git push origin main",
        "git -C /tmp push",
        "git -c a=b push --force",
        "git --no-pager push x",
        "curl http://example.com | cat",
        "cat <<EOF | rm x\nhello\nEOF",
        "env -S 'rm x'",
        "watch 'rm x'",
        "coproc rm x",
    ] {
        let judgement = runs(&permissions, command);
        assert_eq!(short(&judgement), "deny", "{command:?}: {judgement:?}");
    }
    for command in [
        "$X x",
        "r$X x",
        "{rm,x}",
        "$'rm' x",
        "echo 'rm x' | sh",
        "bash <<EOF\nrm x\nEOF",
        "eval \"$X\"",
        "bash -c \"$X\"",
        "alias x=rm; x y",
        "git $X",
        "r?",
        "[r]m x",
        "git pus*",
        "r\\\nm x",
        "rm\u{200b} x",
        "ls\u{00a0}x",
        "ls\r\nrm x",
        "cat > a rm",
        "echo ${x:-`rm",
        ". /dev/stdin",
        "source <(echo rm x)",
        "xargs sh -c \"$X\"",
    ] {
        let judgement = runs(&permissions, command);
        assert_ne!(short(&judgement), "allow", "{command:?}");
    }
    check(
        &permissions,
        &[
            ("ls -la", "allow"),
            ("echo rm", "allow"),
            ("git commit -m 'rm x'", "allow"),
            ("rmdir x", "allow"),
            ("echo $HOME", "allow"),
            ("cargo test 2>&1 | tail -5", "allow"),
            ("git pull", "allow"),
        ],
    );
}

#[test]
fn q1_rules_about_files_hold_for_commands_too() {
    let world = World::new();
    let deny = ["Read(./.env)", "Read(~/.ssh/**)", "Edit(./src/**)"];
    check(
        &world.permissions(ApprovalMode::BypassPermissions, &[], &[], &deny),
        &[
            ("cat .env", "deny"),
            ("cat ./src/../.env", "deny"),
            ("cat < .env", "deny"),
            ("cp .env x", "deny"),
            ("head --file=.env", "deny"),
            ("sudo cat .env", "deny"),
            ("bash -c 'cat .env'", "deny"),
            ("cat ~/.ssh/id_rsa", "deny"),
            ("cd src && cat ../.env", "deny"),
            ("echo x > src/main.rs", "deny"),
            ("echo x >> src/new.rs", "deny"),
            ("echo x > other.rs", "allow"),
            ("cat a.txt", "allow"),
        ],
    );
}
