// Elements. Text is only ever set as text: names of arms and units come from anywhere.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "onclick" || name === "onsubmit" || name === "oninput" || name === "onchange") {
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

// The colours of arms repeat after seven; dashes then tell them apart.
export const seriesClass = (column) => `series-${(column % 7) + 1}`;
export const seriesDash = (column) => [[], [8, 3], [2, 3], [8, 3, 2, 3]][Math.floor(column / 7) % 4];
