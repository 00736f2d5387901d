//! The container recipe, read as far as that is possible without a container engine: instructions are known, copied files
//! exist, and the build names a profile and a feature that there are.

use crate::workspace::CargoWorkspace;

/// Where the recipe is.
pub(super) const RECIPE: &str = "packaging/Containerfile";
const INSTRUCTIONS: [&str; 10] = [
    "FROM",
    "WORKDIR",
    "COPY",
    "RUN",
    "ENV",
    "VOLUME",
    "EXPOSE",
    "USER",
    "ENTRYPOINT",
    "CMD",
];

/// Checks the recipe against the workspace.
pub(super) fn check(workspace: &CargoWorkspace) -> Result<(), Vec<String>> {
    let recipe = workspace.text(RECIPE)?;
    let manifest = workspace.text("Cargo.toml")?;
    let features = workspace.text("crates/longhaul-cli/Cargo.toml")?;
    let exists = |path: &str| workspace.root.join(path).exists();
    let wrong = problems(&recipe, &manifest, &features, exists);
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The instructions of a recipe, each with its words; lines that end with a backslash go on.
fn instructions(recipe: &str) -> Vec<(String, String)> {
    let joined = recipe
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .collect::<Vec<_>>()
        .join("\n")
        .replace("\\\n", " ");
    joined
        .lines()
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()))
        .collect()
}

fn problems(
    recipe: &str,
    manifest: &str,
    features: &str,
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let steps = instructions(recipe);
    if steps.first().is_none_or(|(name, _)| name != "FROM") {
        wrong.push(format!("{RECIPE} does not begin with FROM"));
    }
    for (name, rest) in &steps {
        if !INSTRUCTIONS.contains(&name.as_str()) {
            wrong.push(format!("{RECIPE} has an unknown instruction {name}"));
        }
        let words: Vec<&str> = rest.split_whitespace().collect();
        let is_list = matches!(name.as_str(), "ENTRYPOINT" | "CMD" | "VOLUME");
        if is_list && serde_json::from_str::<Vec<String>>(rest).is_err() {
            wrong.push(format!("{RECIPE}: {name} is not a list: {rest}"));
        }
        if name == "COPY" && !rest.starts_with("--from=") {
            let sources = &words[..words.len().saturating_sub(1)];
            let missing = sources.iter().filter(|source| !exists(source));
            wrong.extend(
                missing.map(|source| format!("{RECIPE} copies {source}, which does not exist")),
            );
        }
        for (flag, place, text) in [
            ("--profile", "profile", manifest),
            ("--features", "feature", features),
        ] {
            let named = words.iter().skip_while(|word| **word != flag).nth(1);
            let Some(named) = named.filter(|_| name == "RUN") else {
                continue;
            };
            let is_there = text.lines().any(|line| {
                line == format!("[profile.{named}]") || line.starts_with(&format!("{named} = ["))
            });
            if !is_there {
                wrong.push(format!(
                    "{RECIPE} builds with the {place} {named}, which does not exist"
                ));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_that_names_what_is_not_there_is_refused() {
        let manifest = "[profile.dist]\n";
        let features = "full = [\"otel\"]\n";
        let good = "# a\nFROM a AS b\nCOPY . .\nRUN cargo build --profile dist \\\n  --features full\nCMD [\"x\"]\n";
        assert_eq!(
            problems(good, manifest, features, |path| path == "."),
            [""; 0]
        );
        let bad = "COPY gone .\nRUN cargo build --profile fast --features all\nCMD x\nSHOUT y\n";
        assert_eq!(problems(bad, manifest, features, |_| false).len(), 6);
    }
}
