//! Which calls may run: modes, rules, and the fence around the workspace.
