// Tests the official JavaScript SDKs with a running simulator, or a gateway in front of one:
// `node clients.mjs URL [CHECK…]`.
//
// The model must read a file when it is told to, as the simulator's agent and the model of the Rust tests do. The control
// API is expected at the same URL, because a gateway passes it on. The script prints a line for each check; the exit code
// says whether all passed. Other scripts run their checks together with these (`run`).

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import OpenAI from "openai";

export const base = process.argv[2].replace(/\/$/, "");
export const model = "claude-opus-5-5";
const hello = [{ role: "user", content: "How does the parser work?" }];
const look = [{ role: "user", content: "How does the parser in src/parser.rs work? Read it." }];
const long = "The parser reads one line at a time and keeps what it cannot read. ".repeat(400);
export const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const path = "src/parser.rs";

export const claude = new Anthropic({ baseURL: base, apiKey: "sim", maxRetries: 0 });
export const gpt = new OpenAI({ baseURL: `${base}/v1`, apiKey: "sim", maxRetries: 0 });

async function control(where, body) {
  const answer = await fetch(base + where, { method: "POST", body: JSON.stringify(body) });
  return answer.json();
}

export const create = (more = {}, client = claude) =>
  client.messages.create({ model, max_tokens: 1024, messages: hello, ...more });
export const chat = (more = {}, client = gpt) =>
  client.chat.completions.create({ model: "gpt-5", messages: hello, ...more });
export const textOf = (message) => message.content.filter((block) => block.type === "text").map((block) => block.text).join("");

export async function all(stream) {
  const seen = [];
  for await (const event of stream) seen.push(event);
  return seen;
}

export async function rejects(call, kind) {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof kind, `${error.constructor.name} instead of ${kind.name}: ${error.message}`);
    return error;
  }
  assert.fail(`${kind.name} was not thrown`);
}

const checks = {
  async anthropic_message() {
    const message = await create();
    assert.ok(textOf(message));
    assert.equal(message.stop_reason, "end_turn");
    assert.ok(message.usage.input_tokens > 0);
    assert.match(message._request_id, /^req_/);
  },

  async anthropic_stream() {
    const stream = claude.messages.stream({ model, max_tokens: 1024, messages: hello });
    let text = "";
    stream.on("text", (piece) => (text += piece));
    const final = await stream.finalMessage();
    assert.equal(text, textOf(final));
    const kinds = (await all(await create({ stream: true }))).map((event) => event.type);
    assert.equal(kinds[0], "message_start");
    assert.equal(kinds.at(-1), "message_stop");
  },

  async anthropic_tools() {
    const tools = [{ name: "read", description: "Reads a file.", input_schema: schema }];
    const first = await create({ tools, messages: look });
    assert.equal(first.stop_reason, "tool_use");
    const call = first.content.find((block) => block.type === "tool_use");
    assert.deepEqual(call.input, { path });
    const result = { type: "tool_result", tool_use_id: call.id, content: "fn parse() {}" };
    const messages = [...look, { role: "assistant", content: first.content }, { role: "user", content: [result] }];
    assert.ok((await create({ tools, messages })).content.length);
    const streamed = await claude.messages.stream({ model, max_tokens: 1024, messages: look, tools }).finalMessage();
    assert.deepEqual(streamed.content.at(-1).input, { path });
  },

  // N8: the runner asks for server-held threads.
  async anthropic_tool_runner() {
    const seen = [];
    const read = betaTool({
      name: "read",
      description: "Reads a file.",
      inputSchema: schema,
      run: (input) => {
        seen.push(input.path);
        return "fn parse() {}";
      },
    });
    const last = await claude.beta.messages.toolRunner({ model, max_tokens: 1024, messages: look, tools: [read] });
    assert.equal(seen[0], path);
    assert.ok(textOf(last));
  },

  async anthropic_count_and_models() {
    const counted = await claude.messages.countTokens({ model, messages: hello });
    assert.equal(counted.input_tokens, (await create()).usage.input_tokens);
    const ids = (await all(claude.models.list())).map((entry) => entry.id);
    assert.ok(ids.includes(model));
    assert.equal((await claude.models.retrieve(model)).id, model);
  },

  async anthropic_cache() {
    await control("/sim/evict", {});
    const system = [{ type: "text", text: long, cache_control: { type: "ephemeral" } }];
    const first = (await create({ system })).usage;
    const second = (await create({ system })).usage;
    assert.ok(first.cache_creation_input_tokens > 2000);
    assert.equal(second.cache_read_input_tokens, first.cache_creation_input_tokens);
  },

  async anthropic_errors() {
    const table = [
      ["429(retry-after=3)", Anthropic.RateLimitError],
      ["529", Anthropic.InternalServerError],
      ["500", Anthropic.InternalServerError],
    ];
    for (const [spec, kind] of table) {
      await control("/sim/faults", { spec });
      await rejects(() => create(), kind);
    }
    await rejects(() => create({ messages: [] }), Anthropic.BadRequestError);
    await rejects(() => create({ model: "claude-none-1" }), Anthropic.NotFoundError);
    await control("/sim/faults", { spec: "error" });
    await rejects(async () => all(await create({ stream: true })), Anthropic.APIError);
    await control("/sim/faults", { spec: "reset" });
    const reset = await rejects(async () => all(await create({ stream: true })), Error);
    // Behind a gateway the stream breaks off.
    assert.ok(["ECONNRESET", "UND_ERR_SOCKET"].includes(reset.cause?.code ?? reset.code), reset.message);
    await control("/sim/faults", { spec: "529, 429(retry-after=0)" });
    const patient = new Anthropic({ baseURL: base, apiKey: "sim", maxRetries: 2 });
    assert.ok(textOf(await create({}, patient)));
  },

  async openai_completion() {
    const completion = await chat();
    const said = completion.choices[0].message.content;
    assert.ok(said);
    const chunks = await all(await chat({ stream: true, stream_options: { include_usage: true } }));
    assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""), said);
    assert.equal(chunks.at(-1).usage.completion_tokens, completion.usage.completion_tokens);
  },

  async openai_tools() {
    const tools = [{ type: "function", function: { name: "read", description: "Reads.", parameters: schema } }];
    const first = (await chat({ tools, messages: look })).choices[0];
    assert.equal(first.finish_reason, "tool_calls");
    const call = first.message.tool_calls[0];
    assert.deepEqual(JSON.parse(call.function.arguments), { path });
    const stream = gpt.chat.completions.stream({ model: "gpt-5", messages: look, tools });
    const streamed = (await stream.finalChatCompletion()).choices[0].message;
    assert.deepEqual(JSON.parse(streamed.tool_calls[0].function.arguments), { path });
    const result = { role: "tool", tool_call_id: call.id, content: "fn parse() {}" };
    const then = (await chat({ tools, messages: [...look, first.message, result] })).choices[0].message;
    assert.ok(then.content || then.tool_calls);
  },

  async openai_cache_and_models() {
    await control("/sim/evict", {});
    const messages = [{ role: "system", content: long }, ...hello];
    const first = (await chat({ messages })).usage;
    const second = (await chat({ messages })).usage;
    assert.equal(first.prompt_tokens_details.cached_tokens, 0);
    assert.ok(second.prompt_tokens_details.cached_tokens > 2000);
    assert.equal(second.prompt_tokens, first.prompt_tokens);
    assert.ok((await all(gpt.models.list())).some((entry) => entry.id === model));
  },

  async openai_errors() {
    const table = [
      ["429(retry-after=3)", OpenAI.RateLimitError],
      ["529", OpenAI.InternalServerError],
      ["500", OpenAI.InternalServerError],
    ];
    for (const [spec, kind] of table) {
      await control("/sim/faults", { spec });
      await rejects(() => chat(), kind);
    }
    await rejects(() => chat({ messages: [] }), OpenAI.BadRequestError);
    const messages = [{ role: "user", content: long.repeat(60) }];
    const over = await rejects(() => chat({ model: "claude-haiku-4-5", messages }), OpenAI.BadRequestError);
    assert.equal(over.code, "context_length_exceeded");
    await control("/sim/faults", { spec: "error" });
    await rejects(async () => all(await chat({ stream: true })), OpenAI.APIError);
    await control("/sim/faults", { spec: "529, 500" });
    const patient = new OpenAI({ baseURL: `${base}/v1`, apiKey: "sim", maxRetries: 2 });
    assert.ok((await chat({}, patient)).choices.length);
  },
};

/** Tries every check that was chosen, all of them if none was, and tells. */
export async function run(checks, chosen) {
  const tried = Object.entries(checks).filter(([name]) => !chosen.length || chosen.includes(name));
  let failed = 0;
  for (const [name, check] of tried) {
    try {
      await check();
      console.log(`ok ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}: ${error.constructor.name}: ${error.message.split(/\s+/).join(" ")}`);
    }
  }
  console.log(`@anthropic-ai/sdk and openai for JavaScript: ${tried.length - failed} of ${tried.length} hold`);
  process.exit(failed ? 1 : 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(checks, process.argv.slice(3));
