// What a number means, one hover, focus or tap away.
import { el } from "./dom.js";

let words = {};
const tip = document.getElementById("tip");
let shownFor = null;

export function setWords(found) { words = found; }

// A word of the page with its explanation: reached with the keyboard too.
export function word(term, text) {
  return el("button", { type: "button", class: "word", "data-word": term }, text);
}

function say(target) {
  return target.dataset.tip || words[target.dataset.word] || "";
}

function place(target) {
  const text = say(target);
  if (!text) return;
  tip.textContent = text;
  tip.hidden = false;
  shownFor = target;
  target.setAttribute("aria-describedby", "tip");
  const box = target.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left + box.width / 2 - own.width / 2), innerWidth - own.width - 8);
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

document.addEventListener("pointerover", (event) => {
  const found = target(event);
  if (found) place(found); else if (shownFor && event.pointerType === "mouse") hide();
});
document.addEventListener("focusin", (event) => { const found = target(event); if (found) place(found); else hide(); });
document.addEventListener("focusout", hide);
document.addEventListener("click", (event) => { const found = target(event); if (found) place(found); else hide(); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
