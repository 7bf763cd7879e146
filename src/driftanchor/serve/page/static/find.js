// Finding decisions by id, number or unit, and lists of them.
import { el } from "./dom.js";
import { ago, count, num, pct, time } from "./format.js";
import { get } from "./api.js";
import { word } from "./tips.js";

const link = (name, id) => `/campaigns/${encodeURIComponent(name)}/decisions/${encodeURIComponent(id)}`;

export function decisionTable(name, rows, now) {
  if (!rows.length) return el("p", { class: "muted" }, "No decisions yet.");
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Decisions" }, el("table", { class: "plain decisions" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Decision"), el("th", { scope: "col" }, word("arm", "Arm")), el("th", { scope: "col" }, word("unit", "Unit")), el("th", { scope: "col" }, word("propensity", "Chance")), el("th", { scope: "col" }, "Reward"), el("th", { scope: "col" }, "When"))),
    el("tbody", {}, ...rows.map((row) => el("tr", {},
      el("td", {}, el("a", { href: link(name, row.id) }, `#${count(row.number)} why?`)),
      el("td", { class: "arm-name" }, row.arm), el("td", { class: "arm-name" }, row.unit ?? "–"),
      el("td", {}, row.propensity === undefined ? "–" : pct(row.propensity)),
      el("td", {}, row.reward === null ? (row.state === "open" ? "waiting" : row.state) : num(row.reward)),
      el("td", {}, now === undefined ? time(row.at) : ago(row.at, now)))))));
}

export function finder(name) {
  const box = el("input", { type: "search", id: "find", name: "q", required: true, maxlength: 256, placeholder: "id, #number or unit", "aria-label": "Find a decision by id, #number or unit" });
  const out = el("div", { role: "status" });
  const look = async (through) => {
    const more = through === undefined ? "" : `&through=${through}`;
    try {
      const { data } = await get(`/page/campaigns/${encodeURIComponent(name)}/find.json?q=${encodeURIComponent(box.value.trim())}${more}`);
      if (data.found.length === 1 && data.found[0].id === data.query) { location.href = link(name, data.found[0].id); return; }
      const rest = data.through ? el("button", { type: "button", class: "quiet", onclick: () => look(data.through) }, `Look before decision ${count(data.through)}`) : null;
      out.replaceChildren(...[data.found.length ? decisionTable(name, data.found) : el("p", { class: "muted" }, data.through ? `Not among the decisions after ${count(data.looked_after)}.` : "There is no such decision."), rest].filter(Boolean));
    } catch (error) {
      out.replaceChildren(el("p", { class: "alarm-text" }, error.message));
    }
  };
  return el("form", { class: "finder", role: "search", onsubmit: (event) => { event.preventDefault(); look(); } }, el("div", { class: "row" }, box, el("button", { type: "submit" }, "Find")), out);
}
