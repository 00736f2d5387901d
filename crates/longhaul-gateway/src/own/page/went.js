// What a compaction took out of view and what the model sees instead: results, files, the summary's text.

import { get } from "./api.js";
import { el } from "./dom.js";
import { count, plural, tokens } from "./words.js";

/** How many results and files are shown before the rest is asked for. */
const FIRST = 8;

/** A list of which only the beginning is shown at first. */
function cutList(items, make) {
  const list = el("ul", { class: "things" }, items.slice(0, FIRST).map(make));
  if (items.length <= FIRST) return [list];
  const more = el("button", { type: "button", class: "plain", onclick: () => { list.append(...items.slice(FIRST).map(make)); more.remove(); } }, `${count(items.length - FIRST)} more`);
  return [list, more];
}

/** The results that are no longer sent; nothing for compactions of earlier versions, which did not list them. */
export function results(went) {
  const found = Array.isArray(went?.results) ? went.results : [];
  if (!found.length) return null;
  const sum = found.reduce((all, one) => all + (Number(one.tokens) || 0), 0), rest = Number(went.more) || 0;
  const one = (result) => el("li", {},
    el("span", { class: "thing" }, el("strong", {}, result.tool || "a tool"), result.about ? el("code", {}, result.about) : null),
    el("span", { class: "quiet size" }, `${tokens(Number(result.tokens) || 0)} tokens`),
    el("code", { class: "quiet id", title: "the id of the call" }, result.call));
  return el("section", { class: "went" }, el("h3", {}, `Removed results: ${count(found.length + rest)}, ${rest ? "more than " : ""}${tokens(sum)} tokens`),
    el("p", { class: "quiet small" }, went.recallable ? "The model can look each of them up again with its tool for recall, and the client still has them." : ["The client still has them. The model cannot look them up: the gateway was started without ", el("code", { class: "flag" }, "--recall"), ", or the conversation began without tools."]),
    ...cutList(found, one), rest ? el("p", { class: "quiet small" }, `and ${plural(rest, "smaller one")}`) : null);
}

const STATES = { restored: "put back with its text", named: "named in the summary" };

function files(found, more) {
  if (!found.length) return null;
  const one = (file) => el("li", {}, el("span", { class: "thing" }, el("code", {}, file.path)),
    el("span", { class: "quiet size" }, file.tokens === null ? "" : `${tokens(file.tokens)} tokens`), el("span", { class: file.state === "restored" ? "kept" : "quiet" }, STATES[file.state] || String(file.state)));
  return el("section", { class: "went" }, el("h3", {}, `Files: ${count(found.length + more)}`), ...cutList(found, one), more ? el("p", { class: "quiet small" }, `and ${count(more)} more`) : null);
}

/** A summary with its headings and code set apart. Everything stays text. */
function readable(text) {
  const parts = [];
  let code = null, plain = [];
  const flush = () => { if (plain.length) parts.push(plain.join("\n")); plain = []; };
  for (const line of text.split("\n")) {
    const fence = /^\s*```/.test(line), heading = /^#{1,6} +(.+)/.exec(line) || /^(\d{1,2}\. [^\n]{1,60}:)$/.exec(line);
    if (fence && code === null) {
      flush();
      code = [];
    } else if (fence) {
      parts.push(el("code", { class: "block" }, code.join("\n")));
      code = null;
    } else if (code) code.push(line);
    else if (heading) {
      flush();
      parts.push(el("strong", { class: "heading" }, heading[1]));
    } else plain.push(line);
  }
  flush();
  if (code?.length) parts.push(el("code", { class: "block" }, code.join("\n")));
  return parts;
}

/** The summary as the model reads it, and the files, loaded when they are wanted. */
export function texts(session, id) {
  const node = el("div", { class: "texts" }, el("p", { class: "quiet small" }, "Loading the summary …"));
  let asked = false;
  async function load() {
    if (asked) return;
    asked = true;
    try {
      const found = await get(`/longhaul/api/sessions/${session}/compactions/${encodeURIComponent(id)}`);
      const parts = [];
      if (found.missing) parts.push(el("p", { class: "quiet small" }, `The text cannot be shown: ${found.missing}.`));
      if (found.summary) {
        parts.push(el("section", { class: "went" }, el("h3", {}, "What the model sees instead"),
          el("div", { class: "summary-text", tabindex: "0", role: "region", "aria-label": "the summary" }, readable(found.summary)), found.summary_cut ? el("p", { class: "quiet small" }, "It is longer than what is shown.") : null));
      }
      parts.push(files(found.files || [], found.more_files || 0));
      node.replaceChildren(...parts.filter(Boolean));
    } catch (error) {
      asked = false;
      node.replaceChildren(el("p", { class: "bad small" }, `The summary cannot be loaded: ${error.message}`));
    }
  }
  return { node, load };
}
