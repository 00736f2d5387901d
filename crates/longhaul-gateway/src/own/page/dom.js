// Creates and changes elements. Texts only ever become text nodes: nothing of a session is parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else node.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child !== undefined && child !== null && child !== false) node.append(child);
  }
  return node;
}

/** An HTML element; strings among the children become texts. */
export function el(name, props, ...children) {
  return fill(document.createElement(name), props, children);
}

/** An SVG element; strings among the children become texts. */
export function svg(name, props, ...children) {
  return fill(document.createElementNS(SVG, name), props, children);
}

/** Sets a text; does nothing if it is unchanged. */
export function say(node, text) {
  const next = String(text);
  if (node.textContent !== next) node.textContent = next;
}

/** Shows or hides a node. */
export function show(node, shown) {
  if (node.hidden === shown) node.hidden = !shown;
}

/**
 * Makes the children of a node match a list: existing children stay in place and are updated, so that focus, selection and
 * opened details are kept.
 */
export function keyed(parent, items, key, make) {
  const had = parent.made || new Map();
  const has = new Map();
  let place = parent.firstChild;
  for (const item of items) {
    const name = key(item);
    if (has.has(name)) continue;
    const part = had.get(name) || make(item);
    part.update?.(item);
    has.set(name, part);
    if (place === part.node) place = place.nextSibling;
    else parent.insertBefore(part.node, place);
  }
  for (const [name, part] of had) if (!has.has(name)) part.node.remove();
  parent.made = has;
}

/** A button that opens an explanation, by mouse, touch or keyboard. */
let explained = 0;
export function why(title, ...paragraphs) {
  explained += 1;
  const id = `why-${explained}`;
  return el("span", { class: "why" },
    el("button", { type: "button", class: "ask", popovertarget: id, "aria-label": title, title: paragraphs[0] }, "?"),
    el("div", { popover: true, id, class: "bubble" }, el("strong", {}, title), paragraphs.map((text) => el("p", {}, text))));
}
