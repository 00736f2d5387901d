// Sends requests to the gateway. If a token is needed, it is kept only for this tab.

const KEPT = "longhaul-token";
let token = sessionStorage.getItem(KEPT) || "";

/** The gateway needs a token; `wrong` if it was given an invalid one. */
export class NeedsToken extends Error {
  constructor(wrong) {
    super("the gateway's token is needed");
    this.wrong = wrong;
  }
}

/** The gateway rejected the request, with the reason. */
export class Refused extends Error {
  constructor(status, why) {
    super(why);
    this.status = status;
  }
}

export const hasToken = () => token !== "";

let waiting = [];
/** Waits until the user enters a token. */
export const givenToken = () => new Promise((done) => waiting.push(done));

export function setToken(text) {
  token = text;
  if (text) {
    waiting.forEach((done) => done());
    waiting = [];
  }
  if (text) sessionStorage.setItem(KEPT, text);
  else sessionStorage.removeItem(KEPT);
}

export async function ask(path, options = {}) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const answer = await fetch(path, { ...options, headers, cache: "no-store", credentials: "omit" });
  if (answer.status === 401) throw new NeedsToken(token !== "");
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, typeof body.error === "string" ? body.error : `the gateway answers ${answer.status}`);
}

export const get = async (path, options) => (await ask(path, options)).json();
