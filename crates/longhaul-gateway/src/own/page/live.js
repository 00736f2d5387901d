// Reports when something has changed: from the gateway's events while they work, otherwise by polling. A hidden page sends
// no requests.

import { ask, givenToken, NeedsToken } from "./api.js";

const EVENTS = "/longhaul/api/events";
const POLL = 5_000;
/** The number of polls between two attempts to receive events again. */
const LOOKS = 6;

const visible = () => document.visibilityState === "visible";
const seen = () => new Promise((done) => {
  if (visible()) return done();
  document.addEventListener("visibilitychange", function look() {
    if (!visible()) return;
    document.removeEventListener("visibilitychange", look);
    done();
  });
});
const pause = (time) => new Promise((done) => setTimeout(done, time));

/** Reads events until the stream ends. */
async function listen(changed, status) {
  const stop = new AbortController();
  const hidden = () => { if (!visible()) stop.abort(); };
  document.addEventListener("visibilitychange", hidden);
  try {
    const answer = await ask(EVENTS, { signal: stop.signal });
    status("live");
    // Something may have changed before the subscription began.
    changed(null);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const data = event.split("\n").find((line) => line.startsWith("data: "));
        if (data) changed(JSON.parse(data.slice(6)).session ?? null);
      }
    }
  } finally {
    document.removeEventListener("visibilitychange", hidden);
  }
}

/** Follows changes forever. `changed` gets a session's id, or null if it may be any; `status` gets `live` or `polling`. */
export async function follow(changed, status) {
  for (;;) {
    await seen();
    try {
      await listen(changed, status);
    } catch (error) {
      if (error instanceof NeedsToken) {
        changed(null);
        await givenToken();
        continue;
      }
    }
    for (let look = 0; look < LOOKS && visible(); look += 1) {
      status("polling");
      await pause(look === 0 ? 1_000 : POLL);
      changed(null);
    }
  }
}
