//! What a question about a command says, and the rule that it offers.

use super::*;

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
