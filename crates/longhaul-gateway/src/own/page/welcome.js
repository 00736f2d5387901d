// What is shown before the gateway has been used.

import { el } from "./dom.js";

export function welcome() {
  const here = location.origin;
  const example = (title, text) => el("div", {}, el("h2", {}, title), el("pre", { tabindex: "0" }, text));
  return el("section", { class: "card welcome", id: "welcome" },
    el("h1", {}, "No conversation yet"),
    el("p", {}, "Point a client at this address. Its key is passed on to the model's API; conversations show up here as they happen."),
    example("Claude Code", `ANTHROPIC_BASE_URL=${here} claude`),
    example("Anthropic SDK for Python", `client = anthropic.Anthropic(base_url="${here}")`),
    example("OpenAI SDK for TypeScript", `const client = new OpenAI({ baseURL: "${here}/v1" });`),
    example("By hand", `curl ${here}/v1/messages -H 'content-type: application/json' -H 'anthropic-version: 2023-06-01' \\\n  -H "x-api-key: $ANTHROPIC_API_KEY" \\\n  -d '{"model":"claude-opus-5-5","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'`));
}
