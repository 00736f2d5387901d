// The loss report of a compaction in words.

import { el } from "./dom.js";
import { count, plural } from "./words.js";

const number = (value) => (Number.isFinite(value) ? value : 0);

/** The contents of a report: a list of `{ lost, text }`, where notes are neither lost nor kept. What did not occur in the session is left out. */
export function sentences(report) {
  const said = [];
  const tell = (lost, text) => said.push({ lost, text });
  const messages = report?.user_messages || {}, rules = report?.rules || {}, files = report?.files || {}, todos = report?.todos || {}, results = report?.results || {};
  const total = number(messages.total), verbatim = number(messages.verbatim);
  if (total > 0) {
    const parts = [];
    if (number(messages.shortened)) parts.push(`${count(messages.shortened)} shortened`);
    if (number(messages.omitted)) parts.push(`${count(messages.omitted)} left out`);
    if (verbatim === total) tell(false, total === 1 ? "The user's message is kept word for word." : `All ${count(total)} user messages are kept word for word.`);
    else tell(true, `${count(verbatim)} of ${plural(total, "user message")} ${verbatim === 1 ? "is" : "are"} kept word for word${parts.length ? `; ${parts.join(", ")}` : ""}.`);
  }
  if (number(rules.total) > 0) {
    const kept = number(rules.verbatim) === rules.total;
    tell(!kept, kept ? `${rules.total === 1 ? "The user's rule is" : `All ${count(rules.total)} rules of the user are`} kept word for word.`
      : `${count(rules.verbatim)} of ${plural(rules.total, "rule")} of the user ${rules.verbatim === 1 ? "is" : "are"} kept word for word.`);
  }
  if (number(files.touched) > 0) {
    let text = `${plural(files.touched, "file")} touched; ${count(number(files.restored))} put back with ${files.restored === 1 ? "its" : "their"} content`;
    if (number(files.left_out)) text += `; ${count(files.left_out)} neither put back nor named`;
    tell(number(files.left_out) > 0, `${text}.`);
  }
  if (number(todos.open) > 0) {
    const kept = number(todos.kept) === todos.open;
    tell(!kept, kept ? `${todos.open === 1 ? "The open to-do is" : `All ${count(todos.open)} open to-dos are`} in view.` : `${count(number(todos.kept))} of ${plural(todos.open, "open to-do")} in view.`);
  }
  if (number(results.cleared) > 0) {
    const kept = number(results.archived) ? `; ${count(results.archived)} kept in the archive` : "";
    tell(true, `${plural(results.cleared, "tool result")} no longer in view${kept}.`);
  }
  for (const note of Array.isArray(report?.notes) ? report.notes : []) tell(null, String(note));
  return said;
}

/** The contents of a report as a list. */
export function told(report) {
  const said = sentences(report);
  const item = ({ lost, text }) => {
    const [kind, sign] = lost === null ? ["note", "•"] : lost ? ["lost", "△"] : ["kept", "✓"];
    return el("li", { class: kind }, el("span", { class: "sign", role: "img", "aria-label": `${kind}:` }, sign), el("span", {}, text));
  };
  return said.length ? el("ul", { class: "report" }, said.map(item)) : el("p", { class: "quiet" }, "The report is empty.");
}

/** The full report, on request. */
export const raw = (report) => el("details", { class: "raw" }, el("summary", {}, "The report as JSON"), el("pre", { tabindex: "0" }, JSON.stringify(report, null, 2)));
