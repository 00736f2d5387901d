// Every compaction of a session: what it did, what it lost, what it cost.

import { el, keyed, say, show, svg } from "./dom.js";
import { badge } from "./marks.js";
import { told } from "./report.js";
import { clock, count, kindOf, money, span, tokens } from "./words.js";

function one(made) {
  const kind = kindOf(made.kind);
  const less = made.before_tokens > made.after_tokens ? ` (${Math.round(100 - (100 * made.after_tokens) / made.before_tokens)}\u00a0%\u00a0less)` : "";
  const before = el("span", { class: "before" }), after = el("span", { class: "after" });
  after.style.width = `${made.before_tokens ? Math.min(100, (100 * made.after_tokens) / made.before_tokens) : 100}%`;
  const facts = [
    `made in ${span(made.milliseconds)}`,
    made.waited_milliseconds ? `a request waited ${span(made.waited_milliseconds)} for it` : "no request waited for it",
    made.cost_usd === null ? (made.kind === "summarised" ? "cost not known" : "cost nothing") : `cost ${money(made.cost_usd)}`,
  ];
  const node = el("details", { class: "compaction", id: `compaction-${made.number}` },
    el("summary", {},
      svg("svg", { class: "badge", width: 24, height: 24, viewBox: "-12 -12 24 24", "aria-hidden": "true" }, badge(made.kind, made.number)),
      el("span", { class: "what" }, el("strong", {}, `${made.number}. ${kind.name}`), el("span", { class: "quiet" }, ` ${kind.does}`)),
      el("span", { class: "sizes" }, `${tokens(made.before_tokens)} → ${tokens(made.after_tokens)} tokens${less}`),
      el("time", { class: "quiet", datetime: made.at }, clock(made.at))),
    el("div", { class: "body" }, el("div", { class: "shrink", "aria-hidden": "true" }, before, after),
      el("p", { class: "quiet facts" }, `${count(made.before_tokens)} tokens before, ${count(made.after_tokens)} after; ${facts.join(", ")}.`), told(made.report)));
  return { node };
}

export function compactionList() {
  const list = el("div", {});
  const none = el("p", { class: "quiet" });
  const node = el("section", { class: "card", id: "compactions" }, el("h2", {}, "Compactions"), none, list);
  return {
    node,
    update(compactions) {
      show(none, compactions.length === 0);
      say(none, "None so far: everything the client sends is sent on.");
      keyed(list, [...compactions].reverse(), (made) => `${made.number} ${made.at} ${made.kind} ${made.line}`, one);
    },
    /** Opens one compaction and scrolls to it. */
    open(number) {
      const found = document.getElementById(`compaction-${number}`);
      if (!found) return;
      found.open = true;
      found.scrollIntoView({ block: "center" });
      found.querySelector("summary").focus({ preventScroll: true });
    },
  };
}
