// The page: shows the view of an address and keeps it up to date.
import { button, div, el, form, link, muted } from "./dom.js";
import { get, key, setKey, takeSharedKey } from "./api.js";
import { setWords, hide } from "./tips.js";
import { overview } from "./overview.js";
import { campaign } from "./campaign.js";
import { decision } from "./decision.js";
import { start } from "./start.js";

const INTERVAL = 2000; // milliseconds
const VIEWS = /^\/($|start$|campaigns\/)/;
const main = document.getElementById("view");
const fresh = document.getElementById("fresh");
const dialog = document.getElementById("ask-key");
let view = null;
let timer = 0;
let busy = false;
let shownFeeds = {};

function route() {
  const parts = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  if (parts[0] === "campaigns" && parts[2] === "decisions" && parts.length === 4) {
    return decision(main, parts[1], parts[3]);
  }
  if (parts[0] === "campaigns" && parts.length === 2) return campaign(main, parts[1], tick);
  if (parts[0] !== "start") return overview(main);
  const set = () => {
    if (!main.querySelector(".steps")) main.replaceChildren(...start(false));
  };
  return { title: "Start here", feeds: {}, json: "/page/about.json", set };
}

function failed(error) {
  fresh.textContent = "";
  if (error.status === 401 || error.status === 403) {
    const reason = key()
      ? "Your key does not allow this, or it has expired."
      : "To see the campaigns of this server, you need a key with the role read.";
    main.replaceChildren(
      el("h1", {}, "A key is needed"),
      el("p", {}, reason),
      button("Type a key", askKey),
    );
    view = null;
  } else if (error.status === 404) {
    main.replaceChildren(
      el("h1", {}, "Not there"),
      el("p", {}, error.message),
      el("p", {}, link("/", "All campaigns")),
    );
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
    const feeds = Object.entries(current.feeds);
    const answers = await Promise.all(feeds.map(([, path]) => get(path)));
    const data = {};
    const changed = {};
    feeds.forEach(([name, path], i) => {
      data[name] = answers[i].data;
      changed[name] = answers[i].changed || shownFeeds[name] !== path;
      shownFeeds[name] = path;
    });
    if (view === current) {
      current.set(data, changed);
      fresh.textContent = feeds.length ? "Live" : "";
      fresh.classList.remove("alarm-text");
    }
  } catch (error) {
    failed(error);
  }
  busy = false;
  if (!document.hidden) timer = setTimeout(tick, INTERVAL);
}

function show() {
  hide();
  view?.close?.();
  shownFeeds = {};
  main.replaceChildren(muted("Loading …"));
  view = route();
  document.title = `${view.title} · Driftanchor`;
  document.getElementById("json").href = view.json;
  tick();
}

function askKey() {
  const box = el("input", {
    type: "password",
    id: "key-text",
    autocomplete: "off",
    value: key(),
    "aria-describedby": "key-note",
  });
  const use = (value) => {
    setKey(value);
    dialog.close();
    show();
  };
  const note =
    "It is kept until you close this tab, and is sent only to this server. To make a key: " +
    "driftanchor keys create";
  dialog.replaceChildren(
    form(
      {},
      () => use(box.value.trim()),
      el("h2", { id: "ask-key-title" }, "Your key"),
      el("label", { for: "key-text" }, "Key"),
      box,
      el("p", { class: "muted", id: "key-note" }, note),
      div(
        "row",
        el("button", { type: "submit" }, "Use it"),
        button("Forget it", () => use(""), { class: "quiet" }),
        button("Cancel", () => dialog.close(), { class: "quiet" }),
      ),
    ),
  );
  dialog.showModal();
  box.focus();
}

// Follow links to other views without loading the page again.
function follow(event) {
  const target = event.target.closest?.("a[href]");
  const modified = event.button || event.metaKey || event.ctrlKey || event.shiftKey;
  if (!target || event.defaultPrevented || modified) return;
  const url = new URL(target.href, location.href);
  if (url.origin !== location.origin || url.hash || !VIEWS.test(url.pathname)) return;
  event.preventDefault();
  history.pushState(null, "", url.pathname);
  show();
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
}

document.getElementById("key").addEventListener("click", askKey);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) tick();
});
document.addEventListener("click", follow);
addEventListener("popstate", show);

takeSharedKey();
try {
  const { data } = await get("/page/about.json");
  setWords(data.words);
  document.getElementById("demo").hidden = !data.demo;
  document.getElementById("version").textContent = `Driftanchor ${data.version}`;
} catch {
  /* the view reports the error */
}
show();
