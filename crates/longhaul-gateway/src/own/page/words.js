// Formats figures and states for people.

const whole = new Intl.NumberFormat();
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });

export const count = (number) => whole.format(number ?? 0);

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** A short number of tokens. */
export function tokens(number) {
  if (number < 1_000) return String(Math.round(number));
  if (number < 10_000) return `${(number / 1_000).toFixed(1)}K`;
  if (number < 1_000_000) return `${Math.round(number / 1_000)}K`;
  return `${(number / 1_000_000).toFixed(number < 10_000_000 ? 2 : 1)}M`;
}

/** Dollars: four decimals, two from a hundred on, and under a cent as many as show two digits. */
export function money(amount) {
  if (amount === null || amount === undefined) return "–";
  const size = Math.abs(amount);
  let decimals = 4;
  if (size >= 100) decimals = 2;
  else if (size > 0 && size < 0.01) decimals = Math.min(8, Math.max(4, 1 - Math.floor(Math.log10(size))));
  return `${amount < 0 ? "−" : ""}$${size.toFixed(size === 0 ? 2 : decimals)}`;
}

export const percent = (part, all) => (all > 0 ? `${Math.round((100 * part) / all)}\u00a0%` : "–");

export function span(milliseconds) {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1_000)} s`;
}

const sameDay = (a, b) => a.toDateString() === b.toDateString();

/** A time, with its day unless that is today. */
export function clock(text, length) {
  if (!text) return "";
  const at = new Date(text);
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: length === "short" ? undefined : "2-digit" });
  return sameDay(at, new Date()) ? time : `${at.toLocaleDateString([], { month: "short", day: "numeric" })} ${time}`;
}

export function since(text) {
  if (!text) return "";
  const seconds = Math.round((new Date(text).getTime() - Date.now()) / 1_000);
  const [size, unit] = [[86_400, "day"], [3_600, "hour"], [60, "minute"]].find(([size]) => -seconds >= size) || [1, "second"];
  return ago.format(Math.min(0, Math.round(seconds / size)), unit);
}

/** The names of the kinds of compactions. */
export const KINDS = {
  cleared: { name: "Cleared", does: "old tool results were cleared" },
  noted: { name: "Noted", does: "the session's notes became its summary" },
  summarised: { name: "Summarised", does: "a model summarized the conversation" },
  extracted: { name: "Extracted", does: "extracts became the summary, without a model" },
  settled: { name: "Settled", does: "thinking was left out after an earlier compaction" },
};

export const kindOf = (kind) => KINDS[kind] || { name: String(kind), does: "" };

/** Prompt tokens of a call or session by how they were billed. */
export function prompt(of) {
  const read = of?.cache_read_tokens ?? 0, written = of?.cache_write_tokens ?? 0, plain = of?.input_tokens ?? 0;
  return { read, written, plain, all: read + written + plain };
}

export const HOW_SAVED = [
  "Tokens that the gateway left out of requests, at the price of reading them from the cache: the least that they would have cost.",
  "The cost of making summaries is subtracted. If the result is negative, the summaries have not paid for themselves yet.",
];
