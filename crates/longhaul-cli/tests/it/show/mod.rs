//! `longhaul show`: what the model sees.

mod bad_input;
mod corpora;
mod memory;
mod own;
mod page;
mod turns;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Finish, World};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name)
}

/// `show FILE` with further arguments, as JSON.
#[track_caller]
fn json(world: &World, file: &Path, args: &[&str], code: i32) -> Value {
    let mut command = world.longhaul(["show", "--json"]);
    command.arg(file).args(args).finish().ends(code).json()
}

/// What must hold for any list.
#[track_caller]
fn adds_up(list: &Value) {
    let sum = |of: &Value| -> u64 {
        let of = of.as_array().unwrap();
        of.iter().filter_map(|part| part["tokens"].as_u64()).sum()
    };
    assert_eq!(sum(&list["items"]), list["tokens"].as_u64().unwrap());
    assert_eq!(sum(&list["zones"]), list["tokens"].as_u64().unwrap());
    let items = list["items"].as_array().unwrap();
    for (at, item) in items.iter().enumerate() {
        assert_eq!(item["number"], at + 1);
    }
    let messages = items.iter().filter_map(|item| item["message"].as_u64());
    assert_eq!(messages.max().unwrap_or(0), list["messages"]);
}
