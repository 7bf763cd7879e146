// Search for decisions by id, number or unit, and lists of decisions.
import { button, cell, div, el, form, head, link, muted, row, scroller } from "./dom.js";
import { ago, count, num, pct, reward, time } from "./format.js";
import { get } from "./api.js";
import { word } from "./tips.js";

const base = (name) => `campaigns/${encodeURIComponent(name)}`;
const decisionPath = (name, id) => `/${base(name)}/decisions/${encodeURIComponent(id)}`;

export function decisionTable(name, decisions, now) {
  if (!decisions.length) return muted("No decisions yet.");
  const rows = decisions.map((one) =>
    row(
      cell(null, link(decisionPath(name, one.id), `#${count(one.number)} why?`)),
      cell("arm-name", one.arm),
      cell("arm-name", one.unit ?? "–"),
      cell(null, one.propensity === undefined ? "–" : pct(one.propensity)),
      cell(null, reward(one)),
      cell(null, now === undefined ? time(one.at) : ago(one.at, now)),
    ),
  );
  return scroller(
    "Decisions",
    head(
      ["Decision"],
      [word("arm", "Arm")],
      [word("unit", "Unit")],
      [word("propensity", "Chance")],
      ["Reward"],
      ["When"],
    ),
    el("tbody", {}, ...rows),
  );
}

export function finder(name) {
  const box = el("input", {
    type: "search",
    id: "find",
    name: "q",
    required: true,
    maxlength: 256,
    placeholder: "id, #number or unit",
    "aria-label": "Find a decision by id, #number or unit",
  });
  const results = el("div", { role: "status" });
  const search = async (through) => {
    const query = new URLSearchParams({ q: box.value.trim() });
    if (through !== undefined) query.set("through", through);
    try {
      const { data } = await get(`/page/${base(name)}/find.json?${query}`);
      if (data.found.length === 1 && data.found[0].id === data.query) {
        location.href = decisionPath(name, data.query);
        return;
      }
      const none = data.through
        ? `Not among the decisions after ${count(data.looked_after)}.`
        : "There is no such decision.";
      results.replaceChildren(data.found.length ? decisionTable(name, data.found) : muted(none));
      if (data.through) {
        const text = `Look before decision ${count(data.through)}`;
        results.append(button(text, () => search(data.through), { class: "quiet" }));
      }
    } catch (error) {
      results.replaceChildren(el("p", { class: "alarm-text" }, error.message));
    }
  };
  return form(
    { class: "finder", role: "search" },
    () => search(),
    div("row", box, el("button", { type: "submit" }, "Find")),
    results,
  );
}
