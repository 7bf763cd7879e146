// The page: which view an address has, and keeping it up to date.
import { el } from "./dom.js";
import { get, key, setKey, takeSharedKey } from "./api.js";
import { setWords, hide } from "./tips.js";
import { overview } from "./overview.js";
import { campaign } from "./campaign.js";
import { decision } from "./decision.js";
import { start } from "./start.js";

const EVERY = 2000; // milliseconds
const main = document.getElementById("view");
const fresh = document.getElementById("fresh");
const dialog = document.getElementById("ask-key");
let view = null;
let timer = 0;
let busy = false;
let held = {};

function route() {
  const parts = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  if (parts[0] === "campaigns" && parts[2] === "decisions" && parts.length === 4) return decision(main, parts[1], parts[3]);
  if (parts[0] === "campaigns" && parts.length === 2) return campaign(main, parts[1], () => tick());
  if (parts[0] === "start") {
    return { title: "Start here", feeds: {}, twin: "/page/about.json", set() { if (!main.querySelector(".steps")) main.replaceChildren(...start(false)); } };
  }
  return overview(main);
}

function failed(error) {
  fresh.textContent = "";
  if (error.status === 401 || error.status === 403) {
    main.replaceChildren(el("h1", {}, "A key is needed"), el("p", {}, key() ? "Your key does not allow this, or it has expired." : "To see the campaigns of this server, you need a key with the role read."), el("button", { type: "button", onclick: askKey }, "Type a key"));
    view = null;
  } else if (error.status === 404) {
    main.replaceChildren(el("h1", {}, "Not there"), el("p", {}, error.message), el("p", {}, el("a", { href: "/" }, "All campaigns")));
    view = null;
  } else {
    fresh.textContent = "The server does not answer; trying again";
    fresh.classList.add("alarm-text");
  }
}

async function tick() {
  clearTimeout(timer);
  if (busy || !view) return;
  busy = true;
  const current = view;
  try {
    const names = Object.keys(current.feeds);
    const answers = await Promise.all(names.map((name) => get(current.feeds[name])));
    const data = {};
    const changed = {};
    names.forEach((name, i) => {
      data[name] = answers[i].data;
      changed[name] = answers[i].changed || held[name] !== current.feeds[name];
      held[name] = current.feeds[name];
    });
    if (view === current) {
      current.set(data, changed);
      fresh.textContent = names.length ? "Live" : "";
      fresh.classList.remove("alarm-text");
    }
  } catch (error) {
    failed(error);
  }
  busy = false;
  if (!document.hidden) timer = setTimeout(tick, EVERY);
}

function show() {
  hide();
  view?.close?.();
  held = {};
  main.replaceChildren(el("p", { class: "muted" }, "Loading …"));
  view = route();
  document.title = `${view.title} · Driftanchor`;
  document.getElementById("twin").href = view.twin;
  tick();
}

function askKey() {
  const box = el("input", { type: "password", id: "key-text", autocomplete: "off", value: key(), "aria-describedby": "key-note" });
  const use = (value) => { setKey(value); dialog.close(); show(); };
  dialog.replaceChildren(el("form", { onsubmit: (event) => { event.preventDefault(); use(box.value.trim()); } },
    el("h2", { id: "ask-key-title" }, "Your key"),
    el("label", { for: "key-text" }, "Key"), box,
    el("p", { class: "muted", id: "key-note" }, "It is kept until you close this tab, and is sent only to this server. To make a key: driftanchor keys create"),
    el("div", { class: "row" }, el("button", { type: "submit" }, "Use it"), el("button", { type: "button", class: "quiet", onclick: () => use("") }, "Forget it"), el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"))));
  dialog.showModal();
  box.focus();
}

document.getElementById("key").addEventListener("click", askKey);
document.addEventListener("visibilitychange", () => { if (!document.hidden) tick(); });
addEventListener("popstate", show);
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const to = new URL(link.href, location.href);
  if (to.origin !== location.origin || to.hash || !/^\/($|start$|campaigns\/)/.test(to.pathname)) return;
  event.preventDefault();
  history.pushState(null, "", to.pathname);
  show();
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
});

takeSharedKey();
try {
  const { data } = await get("/page/about.json");
  setWords(data.words);
  document.getElementById("demo").hidden = !data.demo;
  document.getElementById("version").textContent = `Driftanchor ${data.version}`;
} catch { /* the view says what is wrong */ }
show();
