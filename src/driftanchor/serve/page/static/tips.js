// Explanations of numbers, shown on hover, focus or tap.
import { el } from "./dom.js";

let words = {};
const tip = document.getElementById("tip");
let shownFor = null;

export function setWords(explanations) {
  words = explanations;
}

// A word with an explanation; the keyboard reaches it too.
export function word(term, text) {
  return el("button", { type: "button", class: "word", "data-word": term }, text);
}

function show(target) {
  const text = target.dataset.tip || words[target.dataset.word] || "";
  if (!text) return;
  tip.textContent = text;
  tip.hidden = false;
  shownFor = target;
  target.setAttribute("aria-describedby", "tip");
  const box = target.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.min(
    Math.max(8, box.left + box.width / 2 - own.width / 2),
    innerWidth - own.width - 8,
  );
  const above = box.top - own.height - 8;
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${(above > 4 ? above : box.bottom + 8) + scrollY}px`;
}

export function hide() {
  if (shownFor) shownFor.removeAttribute("aria-describedby");
  shownFor = null;
  tip.hidden = true;
}

const target = (event) => event.target.closest?.("[data-word], [data-tip]");

function showOrHide(event) {
  const explained = target(event);
  if (explained) show(explained);
  else hide();
}

document.addEventListener("pointerover", (event) => {
  if (target(event) || event.pointerType === "mouse") showOrHide(event);
});
document.addEventListener("focusin", showOrHide);
document.addEventListener("focusout", hide);
document.addEventListener("click", showOrHide);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
});
