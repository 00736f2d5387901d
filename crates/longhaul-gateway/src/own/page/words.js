// Formats figures and states for people.

const whole = new Intl.NumberFormat();
const agoIn = (style) => new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style });
const ago = { short: agoIn("short"), narrow: agoIn("narrow") };

export const count = (number) => whole.format(number ?? 0);

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** A short number of tokens. */
export function tokens(number) {
  if (number < 1_000) return String(Math.round(number));
  if (number < 10_000) return `${(number / 1_000).toFixed(1)}K`;
  if (number < 999_500) return `${Math.round(number / 1_000)}K`;
  const [unit, letter] = number < 999_950_000 ? [1_000_000, "M"] : [1_000_000_000, "B"];
  return `${(number / unit).toFixed(number < 10 * unit ? 2 : 1)}${letter}`;
}

const decimals = (digits) => new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const cents = decimals(2), dollars = decimals(0);

/** Dollars: cents from ten cents on, none from a thousand dollars on, and two digits below ten cents. */
export function money(amount) {
  if (amount === null || amount === undefined) return "–";
  const size = Math.abs(amount), sign = amount < 0 ? "−" : "";
  if (size === 0) return "$0.00";
  if (size >= 999.995) return `${sign}$${dollars.format(size)}`;
  if (size >= 0.0995) return `${sign}$${cents.format(size)}`;
  if (size < 5e-9) return `under $0.00000001`;
  return `${sign}$${size.toFixed(Math.min(8, 1 - Math.floor(Math.log10(size))))}`;
}

export const percent = (part, all) => (all > 0 ? share(part / all) : "–");

/** A share as percent: one decimal below ten percent, so that little is not nothing. */
export function share(part) {
  if (part === null || part === undefined) return "–";
  const size = Math.abs(100 * part), digits = size > 0 && size < 9.95 ? 1 : 0;
  return `${part < 0 ? "−" : ""}${size.toFixed(digits)}%`;
}

/** What was saved as a share of what it would have cost; more than that, in words. */
export const gained = (part) => (part < 0 ? `${share(-part)} more` : `${share(part)} saved`);

/** What was simulated is added up only where nothing was paid. */
export function paidOnly(rows) {
  const paid = rows.filter((row) => !row.simulated);
  return paid.length ? { rows: paid, simulated: false } : { rows, simulated: rows.length > 0 };
}

export const SIMULATED = "simulated: nothing was paid";

export function span(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "–";
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

/** A day such as `2026-11-18`, in UTC, as people write it. */
export const day = (text) => new Date(`${text}T00:00:00Z`).toLocaleDateString([], { month: "short", day: "numeric", timeZone: "UTC" });

/** How long ago a time was; `narrow` where there is little room. */
export function since(text, style = "short") {
  if (!text) return "";
  const seconds = Math.round((new Date(text).getTime() - Date.now()) / 1_000);
  const [size, unit] = [[86_400, "day"], [3_600, "hour"], [60, "minute"]].find(([size]) => -seconds >= size) || [1, "second"];
  return ago[style].format(Math.min(0, Math.round(seconds / size)), unit);
}

/** The call that this share of all calls was not slower than. */
export function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length ? sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] : null;
}

/** The beginning of a hash, which is enough to tell sessions and keys apart. */
export const short = (hash) => String(hash).slice(0, 8);

/** What people call a session: the user's first words, or else the client and the hash. */
export const nameOf = (session) => session.title || [session.client, short(session.session)].filter(Boolean).join(" · ");

/** What tells apart sessions that begin with the same words. */
export const detailOf = (session) => (session.title ? [session.client, short(session.session)].filter(Boolean).join(" · ") : "");

/** The names of the kinds of compactions. */
export const KINDS = {
  cleared: { name: "Cleared", does: "old tool results were cleared" },
  noted: { name: "Noted", does: "the session's notes became its summary" },
  summarised: { name: "Summarized", does: "a model summarized the conversation" },
  extracted: { name: "Extracted", does: "extracts became the summary, without a model" },
  settled: { name: "Settled", does: "thinking was left out, because it was bound to messages that changed" },
};

export const kindOf = (kind) => KINDS[kind] || { name: String(kind), does: "" };

/** Prompt tokens of a call or session by how they were billed. */
export function prompt(of) {
  const read = of?.cache_read_tokens ?? 0, written = of?.cache_write_tokens ?? 0, plain = of?.input_tokens ?? 0;
  return { read, written, plain, all: read + written + plain };
}

export const HOW_SAVED = [
  "Tokens that the gateway left out of requests, at the price of reading them from the cache: the least that they would have cost.",
  "What making room cost is subtracted: the gateway's own requests, and writing to the cache again what stays. It is a part of what was spent. If the result is negative, making room has not paid for itself yet.",
  "“Without” is what was spent plus what was saved: the least that the same calls would have cost, if they had fit at all.",
];
