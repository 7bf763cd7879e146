// DOM elements. Text is never parsed as HTML: names of arms and units may be hostile.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export const div = (name, ...children) => el("div", { class: name }, ...children);
export const span = (name, ...children) => el("span", { class: name }, ...children);
export const muted = (...children) => el("p", { class: "muted" }, ...children);
export const badge = (text, kind = "") => span(`badge ${kind}`.trim(), text);
export const swatch = (name = "") =>
  el("span", { class: `swatch ${name}`.trim(), "aria-hidden": "true" });
export const link = (href, text) => el("a", { href }, text);
export const row = (...cells) => el("tr", {}, ...cells);
export const cell = (name, ...children) => el("td", { class: name }, ...children);
export const facts = (pairs, name = "facts") =>
  el(
    "dl",
    { class: name },
    ...pairs.map(([term, ...value]) => div("", el("dt", {}, term), el("dd", {}, ...value))),
  );
export const button = (text, onclick, attributes = {}) =>
  el("button", { type: "button", onclick, ...attributes }, text);
export const section = (id, title, ...children) =>
  el("section", { class: "card", "aria-labelledby": id }, el("h2", { id }, title), ...children);

// A number with a caption for narrow screens.
export const number = (caption, ...children) =>
  el("td", { class: "number", "data-label": caption }, ...children);

// The head of a table; each column is [content, class].
export const head = (...columns) =>
  el(
    "thead",
    {},
    row(
      ...columns.map(([content, name = null]) => el("th", { scope: "col", class: name }, content)),
    ),
  );

// A table that scrolls sideways.
export const scroller = (label, ...children) =>
  el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    el("table", { class: "plain" }, ...children),
  );

// A group of buttons of which one is pressed.
export function tabs(label, name, choices, chosen, onchange) {
  const group = el("div", { class: name, role: "group", "aria-label": label });
  const press = (chosen) => {
    for (const one of group.children)
      one.setAttribute("aria-pressed", String(one.value === chosen));
  };
  for (const [value, text] of choices) {
    group.append(
      button(
        text,
        () => {
          press(value);
          onchange(value);
        },
        { value },
      ),
    );
  }
  press(chosen);
  return group;
}

// A form that calls `action` instead of being sent.
export const form = (attributes, action, ...children) =>
  el(
    "form",
    {
      ...attributes,
      onsubmit: (event) => {
        event.preventDefault();
        action();
      },
    },
    ...children,
  );

// The colours of arms repeat after seven; dashes then tell them apart.
export const seriesClass = (column) => `series-${(column % 7) + 1}`;
export const seriesDash = (column) =>
  [[], [8, 3], [2, 3], [8, 3, 2, 3]][Math.floor(column / 7) % 4];
