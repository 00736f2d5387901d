// Chooses the view that is shown, and when it is updated.

import { hasToken, NeedsToken, Refused, setToken } from "./api.js";
import { el, say, show } from "./dom.js";
import { follow } from "./live.js";
import { listView } from "./list.js";
import { sessionView } from "./session.js";
import { spendView } from "./spend.js";

const main = document.getElementById("main");
const live = document.getElementById("live");
const forget = document.getElementById("forget");

/** The pause between two updates of the same view. */
const LEAST = 250;
/** Updates take no more than this part of the time. */
const SHARE = 4;

let view = null;
let wanted = false, reading = false, following = false;

function open() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [kind, id, line] = path.split("/");
  const session = kind === "session" && /^[0-9a-f]{16}$/.test(id || "") ? id : null;
  if (session && view?.session === session && view.shown) return view.choose(line || null);
  view = session ? sessionView(session, line || null) : kind === "spend" ? spendView(query || "") : listView();
  for (const link of document.querySelectorAll("nav.views a")) {
    if ((link.getAttribute("href") === "#/spend") === (kind === "spend")) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  view.shown = false;
  main.replaceChildren(el("p", { class: "quiet" }, "Loading …"));
  refresh();
}

function changed(session) {
  const concerns = session === null || !view.session || view.session === session;
  if (concerns && main.dataset.state !== "token") refresh();
}

/** Updates the current view soon; never twice at once, never continuously. */
async function refresh() {
  wanted = true;
  if (reading) return;
  reading = true;
  while (wanted) {
    wanted = false;
    const began = performance.now();
    await bring(view);
    const rest = Math.max(LEAST, SHARE * (performance.now() - began));
    await new Promise((done) => setTimeout(done, view?.shown ? rest : 0));
  }
  reading = false;
}

async function bring(current) {
  try {
    await current.load();
    if (current !== view) return void (wanted = true);
    if (!current.shown) {
      main.replaceChildren(current.node);
      current.shown = true;
      current.placed?.();
    }
    document.title = current.title();
    main.dataset.state = "shown";
    if (!following) {
      following = true;
      follow(changed, state);
    }
  } catch (error) {
    if (current !== view) return void (wanted = true);
    if (error instanceof NeedsToken) askForToken(error.wrong);
    else if (error instanceof Refused || !current.shown) refuse(error);
    else state("away");
  }
  show(forget, hasToken());
}

function refuse(error) {
  view.shown = false;
  const unreachable = !(error instanceof Refused);
  if (unreachable) state("away");
  main.dataset.state = "refused";
  main.replaceChildren(el("section", { class: "card notice", role: "alert" },
    el("h1", {}, unreachable ? "The gateway does not answer" : "The gateway says no"),
    el("p", {}, unreachable ? "The page tries again by itself." : error.message),
    el("p", {}, el("a", { href: "#/" }, "All sessions"))));
}

function askForToken(wrong) {
  view.shown = false;
  const box = el("input", { type: "password", id: "token", autocomplete: "off", required: true, "aria-describedby": wrong ? "wrong" : undefined });
  const hand = (event) => {
    event.preventDefault();
    setToken(box.value.trim());
    refresh();
  };
  if (main.dataset.state === "token" && !wrong) return;
  main.dataset.state = "token";
  state("locked");
  main.replaceChildren(el("section", { class: "card notice" },
    el("h1", {}, "The gateway's token"),
    el("p", {}, "Sessions are shown to whoever has the token that the gateway was started with (", el("code", {}, "LONGHAUL_GATEWAY_TOKEN"), "). It is kept until this tab is closed."),
    wrong ? el("p", { class: "bad", id: "wrong", role: "alert" }, "That is not the token.") : null,
    el("form", { class: "token", onsubmit: hand }, el("label", { for: "token" }, "Token"), box, el("button", { type: "submit" }, "Show the sessions"))));
  if (wrong) setToken("");
  box.focus();
}

const STATES = { live: "live", polling: "every 5 s", away: "not reachable", locked: "locked" };
function state(name) {
  if (live.dataset.state === name) return;
  live.dataset.state = name;
  say(live, STATES[name]);
}

forget.addEventListener("click", () => {
  setToken("");
  location.reload();
});
addEventListener("hashchange", () => {
  const before = view;
  open();
  if (view === before) return;
  main.focus({ preventScroll: true });
  // Another range of the same view stays where it is.
  if (!before?.node.querySelector(".filters") || !view.node.querySelector(".filters")) scrollTo(0, 0);
});
setInterval(() => view?.shown && view.tick?.(), 15_000);
// Another gateway with the same usage log sends no events here.
setInterval(() => view?.shown && document.visibilityState === "visible" && refresh(), 60_000);
open();
