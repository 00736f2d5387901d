// Every compaction of a session: what it did, what it kept and lost, what the model sees instead, what it cost.

import { el, keyed, say, show, svg } from "./dom.js";
import { badge } from "./marks.js";
import { raw, told } from "./report.js";
import { pager } from "./table.js";
import { clock, count, kindOf, money, plural, share, span, tokens } from "./words.js";
import { results, texts } from "./went.js";

/** A wait that is shorter is none, in milliseconds. */
const LONG_WAIT = 10;

/** The decision by price behind a compaction, and what has become of it; empty if it was not decided by price. */
export function worth(made) {
  const decided = made.report?.economy, since = made.economy;
  if (!decided || !since) return "";
  const price = decided.priceUsd, requests = decided.payBackRequests;
  const waived = decided.waivedUsd > 0 ? `, waived ${money(decided.waivedUsd)}` : "";
  const cost = price > 0 ? `expected to cost ${money(price)} (rent ${money(decided.rentUsd)}${waived})` : `expected to make its request ${money(-price)} cheaper`;
  if (since.has_paid_back) return `${cost}${price > 0 ? `, paid back after ${plural(requests ?? since.requests, "request")}` : ""}, saved ${money(since.saved_usd)} since`;
  return `${cost}, ${requests == null ? "never paid back" : `paid back after ${plural(requests, "request")}`}, of which ${count(since.requests)} ${since.requests === 1 ? "was" : "were"} sent`;
}

/** What it left out in a few words, to be read without opening it. */
function gist(made) {
  const lost = made.report?.results?.cleared || 0, messages = made.report?.user_messages || {};
  const parts = [];
  if (lost) parts.push(plural(lost, "result"));
  if (messages.omitted) parts.push(plural(messages.omitted, "user message"));
  const without = parts.length ? `without ${parts.join(" and ")}` : "";
  return [without, messages.shortened ? `${plural(messages.shortened, "user message")} shortened` : ""].filter(Boolean).join("; ");
}

function one(made, session) {
  const kind = kindOf(made.kind);
  const less = made.before_tokens > made.after_tokens ? ` (${share(1 - made.after_tokens / made.before_tokens)}\u00a0less)` : "";
  const before = el("span", { class: "before" }), after = el("span", { class: "after" });
  after.style.width = `${made.before_tokens ? Math.min(100, (100 * made.after_tokens) / made.before_tokens) : 100}%`;
  const facts = [
    `made in ${span(made.milliseconds)}`,
    made.waited_milliseconds >= LONG_WAIT ? `a request waited ${span(made.waited_milliseconds)} for it` : "no request waited for it",
    made.cost_usd === null ? (made.kind === "summarised" ? "cost not known" : "made without a model") : `cost ${money(made.cost_usd)}`,
  ];
  const paid = el("p", { class: "facts worth" });
  const summary = made.has_summary ? texts(session, made.id) : null;
  const node = el("details", { class: "compaction", id: `compaction-${made.number}`, ontoggle: () => { if (node.open) summary?.load(); } },
    el("summary", {},
      svg("svg", { class: "badge", width: 24, height: 24, viewBox: "-12 -12 24 24", "aria-hidden": "true" }, badge(made.kind, made.number)),
      el("span", { class: "what" }, el("strong", {}, `${made.number}. ${kind.name}`), el("span", { class: "quiet" }, ` ${gist(made) || kind.does}`)),
      el("span", { class: "sizes" }, `${tokens(made.before_tokens)} → ${tokens(made.after_tokens)} tokens${less}`),
      el("time", { class: "quiet", datetime: made.at }, clock(made.at, "short"))),
    el("div", { class: "body" }, el("div", { class: "shrink", "aria-hidden": "true" }, before, after),
      el("p", { class: "quiet facts" }, `${kind.does.replace(/^./, (letter) => letter.toUpperCase())}: ${count(made.before_tokens)} tokens before, ${count(made.after_tokens)} after; ${facts.join(", ")}.${made.settled_at ? " Thinking from before it was left out when it came into use." : ""}`), paid,
      told(made.report), results(made.went), summary?.node, raw(made.report)));
  /** Later requests change what it has saved. */
  function update(made) {
    const words = worth(made);
    say(paid, words && `Decided by price: ${words}.`);
    show(paid, words !== "");
  }
  return { node, update };
}

export function compactionList(session) {
  let all = [];
  const list = el("div", {});
  const none = el("p", { class: "quiet" });
  const pages = pager(() => draw(), 10);
  const node = el("section", { class: "card", id: "compactions" }, el("h2", {}, "Compactions"), none, list, pages.node);
  const draw = () => keyed(list, pages.cut(all), (made) => made.id, (made) => one(made, session));
  return {
    node,
    update(compactions) {
      show(none, compactions.length === 0);
      say(none, "None so far: everything the client sends is sent on.");
      all = compactions.toReversed();
      draw();
    },
    /** Opens one compaction and scrolls to it. */
    open(number) {
      pages.to(all.findIndex((made) => made.number === number));
      const found = document.getElementById(`compaction-${number}`);
      if (!found) return;
      found.open = true;
      found.scrollIntoView({ block: "center" });
      found.querySelector("summary").focus({ preventScroll: true });
    },
  };
}
