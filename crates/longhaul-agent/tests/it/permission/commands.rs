//! Shell commands under rules, under none, and under attack.

use super::*;

/// Compares the decisions about a table of commands with the expected ones; all differences are shown at once.
fn check(permissions: &Permissions, table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(command, expected)| {
            let judgement = runs(permissions, command);
            (short(&judgement) != *expected)
                .then(|| format!("{command:?}: {judgement:?}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

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

#[cfg(unix)]
#[test]
fn q1_looking_around_in_the_workspace_needs_no_rule() {
    let world = World::new();
    std::os::unix::fs::symlink("/etc", world.cwd.join("link")).unwrap();
    check(
        &world.allowing(&[]),
        &[
            ("ls", "allow"),
            ("ls -la src", "allow"),
            ("ls *.txt", "allow"),
            ("cat a.txt | head -5 | wc -l", "allow"),
            ("grep -rn 'fn main' src 2>/dev/null", "allow"),
            ("rg -n todo", "allow"),
            ("find . -name '*.rs' -type f", "allow"),
            ("sed -n '1,20p' src/main.rs", "allow"),
            ("cd src && ls", "allow"),
            ("git status && git diff --stat", "allow"),
            ("git log --oneline -n 5", "allow"),
            ("git branch --show-current", "allow"),
            ("echo hello", "allow"),
            ("pwd", "allow"),
            ("x=1; echo done", "allow"),
            ("timeout 5 ls", "allow"),
            ("ls ..", "ask"),
            ("cat /etc/passwd", "ask"),
            ("cat ../elsewhere/x", "ask"),
            ("cat ~/.ssh/id_rsa", "ask"),
            ("cat link/passwd", "ask"),
            ("cat *", "ask"),
            ("cat $HOME/x", "ask"),
            ("echo $SECRET", "ask"),
            ("cat < /etc/passwd", "ask"),
            ("grep -f/etc/passwd x", "ask"),
            ("grep --file=/etc/passwd x", "ask"),
            ("find . -exec rm {} \\;", "ask"),
            ("find . -delete", "ask"),
            ("find / -name x", "ask"),
            ("sort -o a.txt a.txt", "ask"),
            ("sort --outp=x a.txt", "ask"),
            ("sort -uo x a.txt", "ask"),
            ("uniq a.txt b.txt", "ask"),
            ("rg --pre ./evil x", "ask"),
            ("sed -i s/a/b/ a.txt", "ask"),
            ("sed -n '1w out' a.txt", "ask"),
            ("git diff --output=x", "ask"),
            ("git diff --outpu=x", "ask"),
            ("git -c core.pager=evil log", "ask"),
            ("git -C .. status", "ask"),
            ("git branch new", "ask"),
            ("git stash", "ask"),
            ("git push", "ask"),
            ("cd src && git status", "allow"),
            ("cd .. && ls", "ask"),
            ("cd src && cat ../../elsewhere/x", "ask"),
            ("cd && ls", "ask"),
            ("ls > list.txt", "ask"),
            ("\\ls", "ask"),
            ("./ls", "ask"),
            ("date -s 2020-01-01", "ask"),
            ("printf -v PATH x", "ask"),
            ("env", "ask"),
            ("tail -f a.txt", "ask"),
        ],
    );
}

#[test]
fn q1_what_only_looks_stays_free_where_that_can_be_told() {
    let world = World::new();
    std::fs::write(world.cwd.join("b.txt"), "x").unwrap();
    check(
        &world.allowing(&[]),
        &[
            ("cat *.txt", "allow"),
            ("wc -l *.txt src/*", "allow"),
            ("grep -rn foo src *.txt", "allow"),
            ("grep -rn --include='*.rs' 'fn main' .", "allow"),
            ("find . -name '*.rs' | head -5", "allow"),
            ("for f in *.txt; do echo found; done", "allow"),
            ("for i in 1 2 3; do date; sleep 1; done", "allow"),
            ("if [ -f a.txt ]; then cat a.txt; fi", "allow"),
            ("[ -d src ] && ls src || echo none", "allow"),
            ("[ ! -e x ] && [ 1 -lt 2 ] && [ a != b ]", "allow"),
            ("[[ -f a.txt && ! -d a.txt ]] && [[ 2 -gt 1 ]]", "allow"),
            ("x=$((1 + 2 * (3 - 1))); ls", "allow"),
            ("x=abc; y=${x:0:2} z=${x%c} w=${#x} v=${x:-none}", "allow"),
            ("arr=(a b c); x=${arr[0]} y=${#arr[@]}", "allow"),
            ("case a in a|b) ls;; *) pwd;; esac", "allow"),
            ("cat <<'EOF'\n$(x) $((y))\nEOF", "allow"),
            ("diff a.txt b.txt", "allow"),
            ("diff -u src/main.rs a.txt | head", "allow"),
            ("printf '%s %5d\\n' a 1", "allow"),
            ("echo *.txt {a} 'it'\\''s'", "allow"),
            ("ls -la src/ && cd src && ls", "allow"),
            ("longhaul_cwd=a.txt; ls", "ask"),
            ("for longhaul_cwd in a.txt; do ls; done", "ask"),
            ("uniq -c < a.txt", "allow"),
            ("sort a.txt | uniq -c | sort -rn", "allow"),
            ("git log --oneline -n 5 -- src", "allow"),
        ],
    );
}

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
fn q1_a_loop_that_may_have_no_end_is_asked_for() {
    let world = World::new();
    check(
        &world.permissions(ApprovalMode::Default, &[], &[], &[]),
        &[
            ("while [[ x-gt1 ]]; do ls; done", "ask"),
            ("while ls; do ls; done", "ask"),
            ("until read line; do ls; done", "ask"),
            ("for f in 1 2; do ls; done", "allow"),
        ],
    );
}

#[cfg(unix)]
#[test]
fn q1_wildcards_outside_of_arguments_do_not_list_folders_outside() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), world.cwd.join("way_out")).unwrap();
    check(
        &world.permissions(ApprovalMode::Default, &[], &[], &[]),
        &[
            ("for f in way_out/*; do ls; done", "ask"),
            ("for f in /etc/*; do ls; done", "ask"),
            ("names=(way_out/*); ls", "ask"),
            ("x='way_out/*'; for f in $x; do ls; done", "ask"),
            ("for f in src/*; do ls; done", "allow"),
            ("for f in 1 2 3; do ls; done", "allow"),
            ("for f in 'way_out/*'; do ls; done", "allow"),
        ],
    );
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
fn q1_what_a_question_offers_is_no_more_than_it_asks() {
    let world = World::new();
    let permissions = world.allowing(&["Bash(safe:*)"]);
    for (command, expected) in [
        ("cargo test --all", Some("Bash(cargo test:*)")),
        ("npm run build", Some("Bash(npm run build)")),
        ("make", Some("Bash(make)")),
        ("make -j4", Some("Bash(make -j4)")),
        ("safe && cargo test", Some("Bash(cargo test:*)")),
        ("python3 tool.py x", Some("Bash(python3 tool.py x)")),
        ("./gradlew build", Some("Bash(./gradlew build)")),
        ("sed -n 5p /etc/x", Some("Bash(sed -n 5p /etc/x)")),
        ("git add src", Some("Bash(git add src)")),
        ("tar xf a.tar", Some("Bash(tar xf a.tar)")),
        ("docker ps", Some("Bash(docker ps)")),
        ("git log -p --ext-diff", Some("Bash(git log -p --ext-diff)")),
        ("sed s/a/b/e a.txt", Some("Bash(sed s/a/b/e a.txt)")),
        (
            "git commit -m 'two words'",
            Some("Bash(git commit -m 'two words')"),
        ),
        ("python -m pytest -q", Some("Bash(python -m pytest:*)")),
        ("pytest -x tests", Some("Bash(pytest:*)")),
        ("npm ci && npm test", Some("Bash(npm ci && npm test)")),
        ("cd src && cargo test", Some("Bash(cargo test:*)")),
        ("cd src && make", Some("Bash(cd src && make)")),
        ("cd /etc && make", Some("Bash(cd /etc && make)")),
        ("timeout 60 cargo test", Some("Bash(cargo test:*)")),
        ("timeout 60 make test", Some("Bash(timeout 60 make test)")),
        ("FOO=1 make test", Some("Bash(FOO=1 make test)")),
        ("FOO=1 cargo test", Some("Bash(FOO=1 cargo test)")),
        (
            "make test 2>&1 | tail -20",
            Some("Bash(make test 2>&1 | tail -20)"),
        ),
        ("make > out.txt", Some("Bash(make > out.txt)")),
        ("make > .env", None),
        ("make > ../out.txt", None),
        ("make && rm -rf x", None),
        ("timeout 60 rm -rf x", None),
        ("FOO=$X make", None),
        ("LD_PRELOAD=./x.so make", None),
        ("PATH=.:/bin make", None),
        ("make $(cat x)", None),
        ("make\nmake", None),
        ("python -m", None),
        ("python", None),
        ("echo x | python", None),
        ("safe && sed -n 1e *.txt", None),
        ("cargo run x", Some("Bash(cargo run x)")),
        ("cargo test && make", Some("Bash(cargo test && make)")),
        ("sudo ls", None),
        ("rm -rf x", None),
        ("/bin/rm x", None),
        ("bash -c 'x'", None),
        ("bash x.sh", None),
        ("env FOO=1 x", None),
        ("xargs x", None),
        ("python -c 'x'", None),
        ("node -e x", None),
        ("$X y", None),
        ("curl example.com", None),
        ("node --test", Some("Bash(node --test)")),
        ("source .venv/bin/activate && pytest", None),
        ("for f in src/*; do python3 $f; done", None),
    ] {
        let judgement = runs(&permissions, command);
        assert_eq!(short(&judgement), "ask", "{command:?}");
        assert_eq!(offered(&judgement), expected, "{command:?}");
        if let Some(rule) = expected {
            let next = world.allowing(&["Bash(safe:*)", rule]);
            assert_eq!(
                short(&runs(&next, command)),
                "allow",
                "{rule} allows {command:?}"
            );
        }
    }
}

#[test]
fn q1_a_question_names_all_parts_and_says_why_no_rule_is_offered() {
    let permissions = World::new().allowing(&["Bash(safe:*)"]);
    for (command, says) in [
        (
            "npm ci && safe && npm test",
            "No rule allows these parts of it: npm ci; npm test",
        ),
        (
            "source .venv/bin/activate && pytest",
            "No rule is offered: source is always asked about.",
        ),
        (
            "for f in src/*; do python3 $f; done",
            "No rule is offered: only the shell knows what $f becomes.",
        ),
        (
            "python3 -c 'x'",
            "would run a text or its input as a program.",
        ),
        (
            "LD_PRELOAD=./x.so make",
            "LD_PRELOAD makes programs load code.",
        ),
        ("make\nmake", "No rule is offered: it has several lines."),
    ] {
        let PermissionDecision::Ask { reason, .. } = runs(&permissions, command) else {
            panic!("{command:?} is asked about");
        };
        assert!(reason.contains(says), "{command:?}: {reason}");
    }
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
