#!/usr/bin/env node
// Starts the program that npm installed for this platform, with the same arguments, streams and exit code.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");

const name = `@longhaul/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "longhaul.exe" : "longhaul";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`error: there is no program for this platform: the package ${name} is not installed.`);
  console.error("npm leaves it out with --omit=optional; a build from source works elsewhere, too.");
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends its signals to the program as well, and the program decides what they mean.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => {
    if (signal === "SIGTERM" || signal === "SIGHUP") child.kill(signal);
  });
}
child.on("error", (error) => {
  console.error(`error: ${program} cannot be run: ${error.message}`);
  process.exit(126);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + (os.constants.signals[signal] || 0) : code);
});
