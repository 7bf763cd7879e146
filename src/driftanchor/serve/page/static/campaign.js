// One campaign: the sentence, the arms, time, the logs, the traffic, and what to do.
import { el } from "./dom.js";
import { ago, chance, count, counted, num, pct, risk, time } from "./format.js";
import { word } from "./tips.js";
import { Chart } from "./chart.js";
import { ArmTable } from "./arms.js";
import { ShiftTable } from "./shift.js";
import { Manage } from "./manage.js";
import { decisionTable, finder } from "./find.js";

const SPANS = { day: "Day", week: "Week", month: "Month", all: "All" };
const EARLY = "too few rewards to say";
const base = (name) => `/page/campaigns/${encodeURIComponent(name)}`;

const section = (id, title, ...content) =>
  el("section", { class: "card", "aria-labelledby": id }, el("h2", { id }, title), ...content);

function tile(term, label, value, note) {
  return el("div", { class: "tile" }, el("div", { class: "tile-label" }, word(term, label)), el("div", { class: "tile-value" }, value), note && el("div", { class: "muted" }, note));
}

function tiles(data) {
  const out = [
    tile("leader", "Leader", data.leader ?? "–", data.leader === null ? EARLY : `${chance(data.arms.find((arm) => arm.label === data.leader)?.p_best)} likely best`),
    tile("loss", "Risk of stopping now", risk(data.outlook.loss), data.leader === null ? EARLY : "rewards in 1,000 decisions"),
    tile("decisions", "Decisions", count(data.decisions), `epoch ${data.epoch}`),
    tile("rewards", "Rewards", count(data.rewards), `${count(data.pending)} waiting`),
  ];
  if (typeof data.saved?.mean === "number") out.push(tile("saved", data.saved.high < 0 ? "The logs cost, estimated" : "The logs saved, estimated", num(Math.abs(data.saved.mean)), `${num(data.saved.low)} to ${num(data.saved.high)} rewards`));
  return out;
}

function traffic(data) {
  const rows = [...data.arms].sort((a, b) => b.decisions - a.decisions).slice(0, 12);
  const most = Math.max(1, ...rows.map((arm) => Math.max(arm.decisions, arm.expected)));
  return [
    el("p", { class: data.traffic.off ? "alarm-text" : "" }, data.traffic.text),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Expected and actual traffic" }, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, word("arm", "Arm")), el("th", { scope: "col" }, word("expected", "Expected")), el("th", { scope: "col" }, word("decisions", "Actual")), el("th", { scope: "col", class: "wide" }, "Actual beside expected"))),
      el("tbody", {}, ...rows.map((arm) => {
        const meter = el("td", { class: "wide" }, el("div", { class: "pair", "aria-hidden": "true" }, el("meter", { min: 0, max: most, value: arm.decisions }), el("meter", { class: "due", min: 0, max: most, value: arm.expected })));
        return el("tr", {}, el("th", { scope: "row", class: "arm-name" }, arm.label), el("td", {}, num(arm.expected)), el("td", {}, count(arm.decisions)), meter);
      })))),
    el("p", { class: "muted" }, word("p_value", "p"), ` = ${num(data.traffic.p_value)}, at any time`),
  ];
}

function outcomes(data) {
  const known = data.outcomes;
  const rows = [["rewarded", "Rewarded in time"], ["open", "Waiting", "pending"], ["assigned", "Not shown yet"], ["defaulted", "Default reward counts"], ["expired", "Closed without a reward"]];
  const lines = rows.filter(([state]) => known[state] || state === "rewarded" || state === "open" || state === "defaulted").map(([state, text, term]) => el("div", {},
    el("dt", {}, word(term || state, text)), el("dd", {}, `${count(known[state])}`, el("span", { class: "muted" }, known.of ? ` (${pct(known[state] / known.of)})` : ""))));
  lines.push(el("div", {}, el("dt", {}, word("late", "Late, do not count")), el("dd", {}, count(data.late))));
  return [el("p", { class: "muted" }, `The last ${counted(known.of, "decision")}, and late rewards since the start:`), el("dl", { class: "facts roomy" }, ...lines)];
}

function errors(found) {
  if (!found.length) return [el("p", { class: "muted" }, "None that this server has seen.")];
  return [el("ul", { class: "errors" }, ...found.map((x) => el("li", {}, el("span", { class: "badge" }, String(x.status)), ` ${x.method} ${x.route} `, el("span", { class: "muted" }, time(x.at)), el("div", {}, x.detail || x.code))))];
}

function agreed(data) {
  const s = data.settings;
  const lines = [`The rule is ${data.policy}.`, ...data.reasons.map((x) => `${x}.`)];
  if (s.reward_window) lines.push(`A reward counts if it arrives within ${s.reward_window === 1 ? "1 second" : `${num(s.reward_window)} seconds`}${s.default_reward === null ? "" : `; otherwise ${s.default_reward} counts`}.`);
  if (s.floor) lines.push(`Each arm gets at least ${pct(s.floor)} of the decisions.`);
  lines.push(...data.changes.map((x) => `${x[0].toUpperCase()}${x.slice(1)}.`));
  if (s.on_alarm === "distrust") lines.push("After an alarm, the logs of the arm no longer count.");
  return el("details", {}, el("summary", {}, "Terms"), el("ul", {}, ...lines.map((x) => el("li", {}, x))));
}

export function campaign(main, name, refresh) {
  const chart = new Chart();
  const arms = new ArmTable();
  const shift = new ShiftTable();
  const manage = new Manage(name, refresh);
  const part = Object.fromEntries(["sentence", "badges", "alarms", "tiles", "saved", "traffic", "outcomes", "recent", "errors", "changes", "agreed"].map((x) => [x, el("div", { class: `part-${x}` })]));
  part.sentence = el("p", { class: "sentence big" });
  part.alarms.setAttribute("role", "status");
  let span = "all";
  const spans = el("div", { class: "tabs small", role: "group", "aria-label": "How far back" }, ...Object.entries(SPANS).map(([value, text]) => el("button", {
    type: "button", "data-span": value, "aria-pressed": value === span ? "true" : "false",
    onclick: () => {
      span = value;
      for (const button of spans.children) button.setAttribute("aria-pressed", button.dataset.span === span ? "true" : "false");
      view.feeds.history = `${base(name)}/history.json?span=${span}`;
      refresh();
    },
  }, text)));
  chart.head.append(spans);
  main.replaceChildren(
    el("p", { class: "crumbs" }, el("a", { href: "/" }, "Campaigns")),
    el("div", { class: "title-row" }, el("h1", {}, name), part.badges),
    part.sentence, part.alarms, part.tiles,
    section("arms-title", "Arms", arms.element),
    section("time-title", "Over time", chart.element, part.changes),
    section("saved-title", "What the logs saved", part.saved),
    section("shift-title", "Do the logs still fit?", shift.element),
    el("div", { class: "columns" },
      section("traffic-title", "Expected and actual traffic", part.traffic),
      section("rewards-title", "Rewards on their way", part.outcomes)),
    section("decisions-title", "Decisions", finder(name), part.recent),
    el("div", { class: "columns" },
      section("errors-title", "Recent errors", part.errors),
      section("run-title", "Run it", manage.element, part.agreed)),
  );
  const view = {
    title: name,
    feeds: { campaign: `${base(name)}/view.json`, history: `${base(name)}/history.json?span=${span}`, errors: `${base(name)}/errors.json` },
    twin: `${base(name)}/view.json`,
    close: () => chart.close(),
    set({ campaign: data, history, errors: found }, changed) {
      if (changed.campaign) {
        part.sentence.textContent = data.sentence;
        part.badges.replaceChildren(...[data.alarmed && el("span", { class: "badge alarm" }, "Alarm"), data.paused && el("span", { class: "badge" }, "Paused")].filter(Boolean));
        const rung = data.shift.alarms.map((x) => [x.short, x.text]).concat(data.traffic.off ? [["arms are not played as often as they should be", data.traffic.text]] : []).concat(data.problems.map((text) => ["rewards do not arrive as they should", text]));
        const said = rung.map((x) => x[1]);
        if (part.alarms.dataset.said !== said.join("\n")) {
          part.alarms.dataset.said = said.join("\n");
          part.alarms.replaceChildren(...rung.map(([short, text]) => el("details", { class: "alarm-box" }, el("summary", {}, el("strong", {}, "Alarm: "), short), el("p", {}, text))));
        }
        part.tiles.replaceChildren(...tiles(data));
        part.saved.replaceChildren(el("p", { class: data.saved?.error ? "alarm-text" : "" }, data.saved ? data.saved.text : data.arms.some((arm) => arm.logs.n) ? "Being estimated …" : "This campaign started without logs."), ...(typeof data.saved?.mean === "number" ? [el("p", { class: "muted" }, word("saved", "How this is estimated"))] : []));
        arms.set(data);
        shift.set(data.shift);
        part.traffic.replaceChildren(...traffic(data));
        part.outcomes.replaceChildren(...outcomes(data));
        part.recent.replaceChildren(data.shared ? el("p", { class: "muted" }, "A share link shows no single decisions.") : decisionTable(name, data.recent, data.now));
        part.agreed.replaceChildren(agreed(data));
        manage.set(data);
      }
      if (changed.history) {
        chart.set(history);
        const marks = [...history.markers].reverse();
        part.changes.replaceChildren(el("details", { open: part.changes.querySelector("details")?.open }, el("summary", {}, `Changes (${marks.length})`),
          el("ul", { class: "changes" }, ...(marks.length ? marks.slice(0, 60).map((x) => el("li", { class: x.kind === "alarm" ? "alarm-text" : "" }, el("span", { class: "muted" }, `${time(x.at)} · ${ago(x.at, history.now)} `), x.text)) : [el("li", { class: "muted" }, "None in this time.")]))));
      }
      if (changed.errors) part.errors.replaceChildren(...errors(found.errors));
    },
  };
  return view;
}
