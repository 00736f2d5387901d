// Where the prompt cache broke, and why.

import { el, keyed, say, show } from "./dom.js";
import { pager } from "./table.js";
import { clock, count } from "./words.js";

export function breakList(pick) {
  let broken = [], nothingCached = "";
  const list = el("ul", { class: "breaks" });
  const none = el("p", { class: "quiet" });
  const pages = pager(() => draw(), 10);
  const node = el("section", { class: "card", id: "breaks" }, el("h2", {}, "Cache breaks"), none, list, pages.node);
  const one = (call) => {
    const cause = el("span", {}, call.finding);
    const go = el("button", { type: "button", class: "plain", onclick: () => pick(call.number) }, `Call ${count(call.number)}`);
    return { node: el("li", {}, el("span", { class: "cross", "aria-hidden": "true" }, "✕"), el("span", {}, go, el("time", { class: "quiet", datetime: call.at }, ` ${clock(call.at)} `), cause)) };
  };
  function draw() {
    keyed(list, pages.cut(broken), (call) => `${call.number} ${call.at}`, one);
    show(none, broken.length === 0);
    say(none, nothingCached || "None: every call found what it had left in the cache.");
  }
  return { node, update: (calls, why) => { broken = calls.filter((call) => call.finding).reverse(); nothingCached = why; draw(); } };
}
