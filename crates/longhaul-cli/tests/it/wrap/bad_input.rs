//! What cannot be run: each with a sentence that says what to do, and the exit code that shells have for it.

use crate::support::{Finish, World};

#[test]
fn an_agent_that_is_not_there_is_said_with_how_to_get_it() {
    let world = World::new();
    let ran = world.run(["wrap", "claude"]).ends(127);
    assert!(
        ran.err.contains("error: claude is not installed"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("npm install -g @anthropic-ai/claude-code"),
        "{}",
        ran.err
    );
    assert_eq!(ran.out, "");
    let ran = world.run(["wrap", "no-such-agent"]).ends(2);
    assert!(
        ran.err
            .contains("known are aider, claude, codex, goose, opencode"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("--env NAME=URL -- COMMAND"), "{}", ran.err);
    world
        .run([
            "wrap",
            "--env",
            "A=http://127.0.0.1:9",
            "--",
            "no-such-program",
        ])
        .ends(127)
        .says("give the path of the program");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_no_program_cannot_be_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let path = world.write("broken", "#!/no/such/interpreter\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = path.display().to_string();
    world
        .run(["wrap", "--env", "A=http://127.0.0.1:9", "--", &path])
        .ends(126)
        .says("cannot be run");
}

#[test]
fn what_cannot_be_meant_is_said_with_what_to_do() {
    let world = World::new();
    for (arguments, says) in [
        (&["--env", "A", "--", "true"][..], "--env OPENAI_BASE_URL="),
        (&["--env", "1A=http://x", "--", "true"], "is not NAME=URL"),
        (&["--env", "A=sim", "--", "true"], "--upstream sim puts"),
        (
            &["--env", "A=ftp://x", "--", "true"],
            "--env A is a URL that is neither http nor https",
        ),
        (
            &["--env", "A=http://me:pass@x", "--", "true"],
            "--env A holds a user or a password",
        ),
        (
            &["--env", "A=http://x", "--upstream", "nowhere", "--", "true"],
            "--upstream is not a URL",
        ),
        (
            &["--upstream", "openai=http://x", "claude"],
            "none of the APIs",
        ),
        (
            &["--store", "redis:x", "--env", "A=http://x", "--", "true"],
            "sqlite:PATH",
        ),
    ] {
        let mut command = world.longhaul(["wrap"]);
        command.env("PATH", std::env::var_os("PATH").unwrap());
        let ran = command.args(arguments).finish().fails(&[says]);
        assert!(!ran.err.contains("pass@"), "{}", ran.err);
    }
    world.write("home/agents.toml", "[x]\ntitle = 'X'\nkommand = 'x'\n");
    world
        .run(["wrap", "x"])
        .fails(&["agents.toml", "kommand", "docs/wrap.md"]);
}

#[test]
fn a_missing_key_is_said_before_the_agent_runs() {
    let world = World::new();
    world.write(
        "home/agents.toml",
        "[mine]\ntitle = 'My agent'\ncommand = 'true'\nkeys = ['MY_KEY']\nlogins = ['~/my-login']\n\
         env = { A = '{a}' }\napi.a = { upstream = 'http://127.0.0.1:9' }\n",
    );
    let wrap = || {
        let mut command = world.longhaul(["wrap", "mine"]);
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command
    };
    wrap()
        .finish()
        .ends(0)
        .says("no key was found, neither in MY_KEY nor as a login");
    let ran = wrap().env("MY_KEY", "sk-mine-0123456789").finish().ends(0);
    assert!(!ran.err.contains("no key was found"), "{}", ran.err);
    assert!(!ran.err.contains("sk-mine"), "{}", ran.err);
    world.write("my-login", "");
    let ran = wrap().finish().ends(0);
    assert!(!ran.err.contains("no key was found"), "{}", ran.err);
}
