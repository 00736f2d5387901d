// Says that texts of conversations are not shown to whoever looks, why, and what to do.

import { el, say, show } from "./dom.js";

const WHY = {
  another_user: "Texts of conversations (first words, summaries, messages of errors) are shown only to the user who runs this gateway, and this browser belongs to another user of the machine.",
  unknown_user: "Texts of conversations (first words, summaries, messages of errors) are shown only to the user who runs this gateway, and the system does not say whose this connection is.",
};

/** A note above a view; hidden where texts are shown, and where the gateway was told to show none to anybody. */
export function withheld() {
  const why = el("span", {});
  const node = el("p", { class: "withheld", role: "note", hidden: true }, why, " To see them here, start the gateway with a token (", el("code", {}, "LONGHAUL_GATEWAY_TOKEN"), "); the page then asks for it.");
  const update = (texts) => {
    const reason = WHY[texts];
    if (reason) say(why, reason);
    show(node, Boolean(reason));
  };
  return { node, update };
}
