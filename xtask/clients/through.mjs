// The official JavaScript SDKs through a gateway to a model with a small window: `node through.mjs URL [CHECK…]`.
//
// These are the checks of through.py, which explains them.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import OpenAI from "openai";
import { chat, claude, create, gpt, model, rejects, run, schema } from "./clients.mjs";

const WINDOW = Number(process.env.LONGHAUL_CLIENTS_WINDOW ?? 60000);
const TURNS = Number(process.env.LONGHAUL_CLIENTS_TURNS ?? 120);
const BYTES_A_TOKEN = 3;
const LONG = 200;
const hello = [{ role: "user", content: "How does the parser work?" }];
const pattern = { type: "object", properties: { pattern: { type: "string" } }, required: ["pattern"] };
const tools = [
  { name: "read", description: "Reads a file.", input_schema: schema },
  { name: "glob", description: "Finds files by name.", input_schema: pattern },
];
const functions = tools.map(({ name, description, input_schema }) => ({
  type: "function",
  function: { name, description, parameters: input_schema },
}));

const page = (turn, lines = 50) =>
  Array.from({ length: lines }, (_, n) => `${n} fn step_${turn}_${n}(input: &str) -> usize { input.len() + ${turn} } // counts`).join("\n");
const found = (turn) => Array.from({ length: 20 }, (_, n) => `src/part_${turn}_${n}.rs`).join("\n");
const outcome = (tool, turn) => (tool === "read" ? page(turn) : found(turn));
const prompt = (turn) =>
  `Read src/part_${turn}.rs and the files beside it, then say how they work. My name for this step is S-${turn}.`;

async function managed() {
  const { response } = await claude.messages.create({ model, max_tokens: 64, messages: hello }).withResponse();
  return response.headers.get("x-longhaul-policy") === "manage";
}

/** Runs a conversation that is longer than the window, and sees that it ends as it should; gives what was sent. */
async function overflows(asked, kind) {
  if (!(await managed())) {
    const error = await rejects(asked, kind);
    assert.ok(/prompt is too long/.test(error.message) || error.code === "context_length_exceeded", error.message);
    return undefined;
  }
  const messages = await asked();
  const bytes = JSON.stringify(messages).length;
  assert.ok(bytes > 2 * WINDOW * BYTES_A_TOKEN, `${bytes} bytes are too few for a test`);
  return messages;
}

const checks = {
  async longhaul_headers() {
    const answers = [
      claude.messages.create({ model, max_tokens: 64, messages: hello }),
      claude.messages.create({ model, max_tokens: 64, messages: hello, stream: true }),
      gpt.chat.completions.create({ model: "gpt-5", messages: hello }),
    ];
    for (const answer of answers) {
      const { response } = await answer.withResponse();
      for (const name of ["policy", "session", "line", "note"]) {
        assert.ok(response.headers.get(`x-longhaul-${name}`), `no x-longhaul-${name}`);
      }
    }
  },

  // Plain and streamed calls in turn, with thinking, which this model binds to the messages before it.
  async anthropic_long() {
    const messages = await overflows(async () => {
      const messages = [{ role: "user", content: prompt(0) }];
      for (let turn = 0; turn < TURNS; turn += 1) {
        const asked = { model, max_tokens: 4096, messages, tools, thinking: { type: "adaptive" } };
        const message = turn % 2 ? await claude.messages.stream(asked).finalMessage() : await create(asked);
        const calls = message.content.filter((block) => block.type === "tool_use");
        const results = calls.map((call) => ({
          type: "tool_result",
          tool_use_id: call.id,
          content: outcome(call.name, turn),
        }));
        messages.push({ role: "assistant", content: message.content });
        messages.push({ role: "user", content: results.length ? results : prompt(turn) });
      }
      return messages;
    }, Anthropic.BadRequestError);
    if (!messages) return;
    const { input_tokens: counted } = await claude.messages.countTokens({ model, messages, tools });
    assert.ok(counted < WINDOW, `count_tokens says ${counted}: not what would be sent`);
  },

  // N8: threads are kept by the upstream, or declined by a gateway that manages.
  async anthropic_long_runner() {
    await overflows(async () => {
      const pages = [];
      const read = betaTool({
        name: "read",
        description: "Reads a file.",
        inputSchema: schema,
        run: () => {
          pages.push(page(pages.length, LONG));
          return pages.at(-1);
        },
      });
      const glob = betaTool({
        name: "glob",
        description: "Finds files by name.",
        inputSchema: pattern,
        run: (input) => found(input.pattern.length + pages.length),
      });
      const runner = claude.beta.messages.toolRunner({
        model,
        // After a summary the agent starts over, so it would never end.
        max_iterations: 40,
        max_tokens: 4096,
        messages: [{ role: "user", content: prompt(0) }],
        tools: [read, glob],
        // Several such files at once would exceed any window.
        tool_choice: { type: "auto", disable_parallel_tool_use: true },
      });
      for await (const { stop_reason } of runner) assert.match(stop_reason, /^(tool_use|end_turn)$/);
      return pages;
    }, Anthropic.BadRequestError);
  },

  async openai_long() {
    await overflows(async () => {
      const messages = [{ role: "user", content: prompt(0) }];
      for (let turn = 0; turn < TURNS; turn += 1) {
        const asked = { model: "gpt-5", messages, tools: functions };
        const completion =
          turn % 2 ? await gpt.chat.completions.stream(asked).finalChatCompletion() : await chat(asked);
        const { message } = completion.choices[0];
        const results = (message.tool_calls ?? []).map((call) => ({
          role: "tool",
          tool_call_id: call.id,
          content: outcome(call.function.name, turn),
        }));
        messages.push(message, ...(results.length ? results : [{ role: "user", content: prompt(turn) }]));
      }
      return messages;
    }, OpenAI.BadRequestError);
  },
};

await run(checks, process.argv.slice(3));
