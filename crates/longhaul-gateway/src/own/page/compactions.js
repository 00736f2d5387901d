// Every compaction of a session: what it did, what it lost, what it cost.

import { el, keyed, say, show, svg } from "./dom.js";
import { badge } from "./marks.js";
import { told } from "./report.js";
import { clock, count, kindOf, money, plural, span, tokens } from "./words.js";

/** Dollars in a sentence: whole cents from ten cents on. */
const dollars = (amount) => (Math.abs(amount) >= 0.1 ? `${amount < 0 ? "−" : ""}$${Math.abs(amount).toFixed(2)}` : money(amount));

/** The decision by price behind a compaction, and what has become of it; empty if it was not decided by price. */
export function worth(made) {
  const decided = made.report?.economy, since = made.economy;
  if (!decided || !since) return "";
  const price = decided.priceUsd, requests = decided.payBackRequests;
  const cost = price > 0 ? `cost ${dollars(price)}` : `made its request ${dollars(-price)} cheaper`;
  if (since.has_paid_back) return `${cost}${price > 0 ? `, paid back after ${plural(requests ?? since.requests, "request")}` : ""}, saved ${dollars(since.saved_usd)} since`;
  return `${cost}, ${requests == null ? "never paid back" : `paid back after ${plural(requests, "request")}`}, of which ${count(since.requests)} ${since.requests === 1 ? "was" : "were"} sent`;
}

function one(made) {
  const kind = kindOf(made.kind);
  const less = made.before_tokens > made.after_tokens ? ` (${Math.round(100 - (100 * made.after_tokens) / made.before_tokens)}\u00a0%\u00a0less)` : "";
  const before = el("span", { class: "before" }), after = el("span", { class: "after" });
  after.style.width = `${made.before_tokens ? Math.min(100, (100 * made.after_tokens) / made.before_tokens) : 100}%`;
  const facts = [
    `made in ${span(made.milliseconds)}`,
    made.waited_milliseconds ? `a request waited ${span(made.waited_milliseconds)} for it` : "no request waited for it",
    made.cost_usd === null ? (made.kind === "summarised" ? "cost not known" : "made without a model") : `cost ${money(made.cost_usd)}`,
  ];
  const paid = el("p", { class: "facts worth" });
  const node = el("details", { class: "compaction", id: `compaction-${made.number}` },
    el("summary", {},
      svg("svg", { class: "badge", width: 24, height: 24, viewBox: "-12 -12 24 24", "aria-hidden": "true" }, badge(made.kind, made.number)),
      el("span", { class: "what" }, el("strong", {}, `${made.number}. ${kind.name}`), el("span", { class: "quiet" }, ` ${kind.does}`)),
      el("span", { class: "sizes" }, `${tokens(made.before_tokens)} → ${tokens(made.after_tokens)} tokens${less}`),
      el("time", { class: "quiet", datetime: made.at }, clock(made.at))),
    el("div", { class: "body" }, el("div", { class: "shrink", "aria-hidden": "true" }, before, after),
      el("p", { class: "quiet facts" }, `${count(made.before_tokens)} tokens before, ${count(made.after_tokens)} after; ${facts.join(", ")}.`), paid, told(made.report)));
  /** Later requests change what it has saved. */
  function update(made) {
    const words = worth(made);
    say(paid, words && `Decided by price: ${words}.`);
    show(paid, words !== "");
  }
  return { node, update };
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
