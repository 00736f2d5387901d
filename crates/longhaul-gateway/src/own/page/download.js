// Saves a table of the API as a file. The token is sent in a header, so a plain link would not do.

import { ask } from "./api.js";
import { el } from "./dom.js";

/** A button that saves what is at an address, which is asked for when it is pressed. */
export function csvButton(address, label = "CSV") {
  const button = el("button", { type: "button", class: "save", "aria-label": label === "CSV" ? "Save as CSV" : label, onclick: () => save(button, address()) }, label);
  return button;
}

async function save(button, address) {
  button.disabled = true;
  try {
    const answer = await ask(address);
    const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") || "")?.[1] || "longhaul.csv";
    const url = URL.createObjectURL(await answer.blob());
    el("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (error) {
    button.textContent = "It failed";
    button.title = error.message;
  } finally {
    button.disabled = false;
  }
}
