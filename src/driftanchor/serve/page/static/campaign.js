// One campaign: the sentence, the arms, time, the logs, the traffic, and actions.
import {
  badge,
  cell,
  div,
  el,
  facts,
  head,
  link,
  muted,
  row,
  scroller,
  section,
  span,
  tabs,
} from "./dom.js";
import { ago, chance, count, counted, num, pct, risk, time } from "./format.js";
import { word } from "./tips.js";
import { Chart } from "./chart.js";
import { ArmTable } from "./arms.js";
import { ShiftTable } from "./shift.js";
import { Manage } from "./manage.js";
import { decisionTable, finder } from "./find.js";

const SPANS = [
  ["day", "Day"],
  ["week", "Week"],
  ["month", "Month"],
  ["all", "All"],
];
const PARTS = [
  "badges",
  "alarms",
  "tiles",
  "saved",
  "traffic",
  "outcomes",
  "recent",
  "errors",
  "changes",
  "terms",
];
const OUTCOMES = [
  ["rewarded", "Rewarded in time"],
  ["open", "Waiting", "pending"],
  ["assigned", "Not shown yet"],
  ["defaulted", "Default reward counts"],
  ["expired", "Closed without a reward"],
];
const ALWAYS_SHOWN = ["rewarded", "open", "defaulted"];
const MAX_ARMS = 12; // of the table of traffic
const MAX_CHANGES = 60;

const isEstimated = (data) => typeof data.saved?.mean === "number";

function tile(term, label, value, note) {
  return div(
    "tile",
    div("tile-label", word(term, label)),
    div("tile-value", value),
    note && div("muted", note),
  );
}

function tiles(data) {
  const { leader, saved } = data;
  const early = "too few rewards to say";
  const best = data.arms.find((arm) => arm.label === leader)?.p_best;
  const all = [
    tile(
      "leader",
      "Leader",
      leader ?? "–",
      leader === null ? early : `${chance(best)} likely best`,
    ),
    tile(
      "loss",
      "Risk of stopping now",
      risk(data.outlook.loss),
      leader === null ? early : "rewards in 1,000 decisions",
    ),
    tile("decisions", "Decisions", count(data.decisions), `epoch ${data.epoch}`),
    tile("rewards", "Rewards", count(data.rewards), `${count(data.pending)} waiting`),
  ];
  if (isEstimated(data)) {
    const label = saved.high < 0 ? "The logs cost, estimated" : "The logs saved, estimated";
    const interval = `${num(saved.low)} to ${num(saved.high)} rewards`;
    all.push(tile("saved", label, num(Math.abs(saved.mean)), interval));
  }
  return all;
}

function savings(data) {
  const hasLogs = data.arms.some((arm) => arm.logs.n);
  const none = hasLogs ? "Being estimated …" : "This campaign started without logs.";
  const text = data.saved ? data.saved.text : none;
  return [
    el("p", { class: data.saved?.error ? "alarm-text" : "" }, text),
    ...(isEstimated(data) ? [muted(word("saved", "How this is estimated"))] : []),
  ];
}

// The reasons for alarms as [short, text].
function alarms(data) {
  const all = data.shift.alarms.map((alarm) => [alarm.short, alarm.text]);
  if (data.traffic.off) {
    all.push(["arms are not played as often as they should be", data.traffic.text]);
  }
  for (const text of data.problems) all.push(["rewards do not arrive as they should", text]);
  return all;
}

const alarmBox = ([short, text]) =>
  el(
    "details",
    { class: "alarm-box" },
    el("summary", {}, el("strong", {}, "Alarm: "), short),
    el("p", {}, text),
  );

function traffic(data) {
  const arms = [...data.arms].sort((a, b) => b.decisions - a.decisions).slice(0, MAX_ARMS);
  const max = Math.max(1, ...arms.map((arm) => Math.max(arm.decisions, arm.expected)));
  const rows = arms.map((arm) =>
    row(
      el("th", { scope: "row", class: "arm-name" }, arm.label),
      cell(null, num(arm.expected)),
      cell(null, count(arm.decisions)),
      cell(
        "wide",
        el(
          "div",
          { class: "pair", "aria-hidden": "true" },
          el("meter", { min: 0, max, value: arm.decisions }),
          el("meter", { class: "due", min: 0, max, value: arm.expected }),
        ),
      ),
    ),
  );
  return [
    el("p", { class: data.traffic.off ? "alarm-text" : "" }, data.traffic.text),
    scroller(
      "Expected and actual traffic",
      head(
        [word("arm", "Arm")],
        [word("expected", "Expected")],
        [word("decisions", "Actual")],
        ["Actual beside expected", "wide"],
      ),
      el("tbody", {}, ...rows),
    ),
    muted(word("p_value", "p"), ` = ${num(data.traffic.p_value)}, at any time`),
  ];
}

function outcomes(data) {
  const counts = data.outcomes;
  const share = (n) => (counts.of ? ` (${pct(n / counts.of)})` : "");
  const lines = OUTCOMES.filter(([state]) => counts[state] || ALWAYS_SHOWN.includes(state)).map(
    ([state, text, term]) => [
      word(term || state, text),
      count(counts[state]),
      span("muted", share(counts[state])),
    ],
  );
  return [
    muted(`The last ${counted(counts.of, "decision")}, and late rewards since the start:`),
    facts([...lines, [word("late", "Late, do not count"), count(data.late)]], "facts roomy"),
  ];
}

function errors(all) {
  if (!all.length) return [muted("None that this server has seen.")];
  const items = all.map((error) =>
    el(
      "li",
      {},
      badge(String(error.status)),
      ` ${error.method} ${error.route} `,
      span("muted", time(error.at)),
      el("div", {}, error.detail || error.code),
    ),
  );
  return [el("ul", { class: "errors" }, ...items)];
}

function terms(data) {
  const { settings } = data;
  const lines = [`The rule is ${data.policy}.`, ...data.reasons.map((reason) => `${reason}.`)];
  if (settings.reward_window) {
    const seconds =
      settings.reward_window === 1 ? "1 second" : `${num(settings.reward_window)} seconds`;
    const otherwise =
      settings.default_reward === null ? "" : `; otherwise ${settings.default_reward} counts`;
    lines.push(`A reward counts if it arrives within ${seconds}${otherwise}.`);
  }
  if (settings.floor) lines.push(`Each arm gets at least ${pct(settings.floor)} of the decisions.`);
  lines.push(...data.changes.map((text) => `${text[0].toUpperCase()}${text.slice(1)}.`));
  if (settings.on_alarm === "distrust") {
    lines.push("After an alarm, the logs of the arm no longer count.");
  }
  return el(
    "details",
    {},
    el("summary", {}, "Terms"),
    el("ul", {}, ...lines.map((line) => el("li", {}, line))),
  );
}

function changes(history, open) {
  const markers = [...history.markers].reverse();
  const items = markers
    .slice(0, MAX_CHANGES)
    .map((marker) =>
      el(
        "li",
        { class: marker.kind === "alarm" ? "alarm-text" : "" },
        span("muted", `${time(marker.at)} · ${ago(marker.at, history.now)} `),
        marker.text,
      ),
    );
  if (!items.length) items.push(el("li", { class: "muted" }, "None in this time."));
  return el(
    "details",
    { open },
    el("summary", {}, `Changes (${markers.length})`),
    el("ul", { class: "changes" }, ...items),
  );
}

export function campaign(main, name, refresh) {
  const base = `/page/campaigns/${encodeURIComponent(name)}`;
  const history = (span) => `${base}/history.json?span=${span}`;
  const chart = new Chart();
  const arms = new ArmTable();
  const shift = new ShiftTable();
  const manage = new Manage(name, refresh);
  const part = Object.fromEntries(PARTS.map((id) => [id, div(`part-${id}`)]));
  part.sentence = el("p", { class: "sentence big" });
  part.alarms.setAttribute("role", "status");
  let shownAlarms = "";

  function setCampaign(data) {
    part.sentence.textContent = data.sentence;
    part.badges.replaceChildren(
      ...(data.alarmed ? [badge("Alarm", "alarm")] : []),
      ...(data.paused ? [badge("Paused")] : []),
    );
    const texts = JSON.stringify(alarms(data).map(([, text]) => text));
    if (shownAlarms !== texts) {
      shownAlarms = texts; // announced again only if they change
      part.alarms.replaceChildren(...alarms(data).map(alarmBox));
    }
    part.tiles.replaceChildren(...tiles(data));
    part.saved.replaceChildren(...savings(data));
    arms.set(data);
    shift.set(data.shift);
    part.traffic.replaceChildren(...traffic(data));
    part.outcomes.replaceChildren(...outcomes(data));
    part.recent.replaceChildren(
      data.shared
        ? muted("A share link shows no single decisions.")
        : decisionTable(name, data.recent, data.now),
    );
    part.terms.replaceChildren(terms(data));
    manage.set(data);
  }

  const view = {
    title: name,
    feeds: {
      campaign: `${base}/view.json`,
      history: history("all"),
      errors: `${base}/errors.json`,
    },
    json: `${base}/view.json`,
    close: () => chart.close(),
    set(data, changed) {
      if (changed.campaign) setCampaign(data.campaign);
      if (changed.history) {
        chart.set(data.history);
        const open = part.changes.querySelector("details")?.open;
        part.changes.replaceChildren(changes(data.history, open));
      }
      if (changed.errors) part.errors.replaceChildren(...errors(data.errors.errors));
    },
  };
  chart.head.append(
    tabs("How far back", "tabs small", SPANS, "all", (span) => {
      view.feeds.history = history(span);
      refresh();
    }),
  );
  main.replaceChildren(
    el("p", { class: "crumbs" }, link("/", "Campaigns")),
    div("title-row", el("h1", {}, name), part.badges),
    part.sentence,
    part.alarms,
    part.tiles,
    section("arms-title", "Arms", arms.element),
    section("time-title", "Over time", chart.element, part.changes),
    section("saved-title", "What the logs saved", part.saved),
    section("shift-title", "Do the logs still fit?", shift.element),
    div(
      "columns",
      section("traffic-title", "Expected and actual traffic", part.traffic),
      section("rewards-title", "Rewards on their way", part.outcomes),
    ),
    section("decisions-title", "Decisions", finder(name), part.recent),
    div(
      "columns",
      section("errors-title", "Recent errors", part.errors),
      section("run-title", "Run it", manage.element, part.terms),
    ),
  );
  return view;
}
