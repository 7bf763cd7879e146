// All campaigns, those with an alarm first.
import { el, svg, seriesClass } from "./dom.js";
import { count, counted, pct, risk } from "./format.js";
import { word } from "./tips.js";
import { start } from "./start.js";

const SPARK = { width: 120, height: 34 };

// Shares over the last stretches, stacked: a picture of the size of a word.
function spark({ labels, columns, shares }) {
  const points = shares[0]?.length || 0;
  const box = svg("svg", { class: "spark", viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, width: SPARK.width, height: SPARK.height, role: "img" });
  if (points < 2) {
    box.setAttribute("aria-label", "Too little traffic for a picture");
    return box;
  }
  const now = labels.map((label, i) => `${label} ${pct(shares[i].at(-1))}`);
  box.setAttribute("aria-label", `Shares now: ${now.join(", ")}`);
  box.setAttribute("data-tip", `Shares of the last ${points} quarter hours with traffic. Now: ${now.join(", ")}`);
  const x = (i) => ((SPARK.width * i) / (points - 1)).toFixed(1);
  let below = new Array(points).fill(0);
  shares.forEach((share, arm) => {
    const above = below.map((y, i) => y + share[i]);
    const y = (value) => (SPARK.height * (1 - value)).toFixed(1);
    const up = above.map((value, i) => `${x(i)},${y(value)}`);
    const down = below.map((value, i) => `${x(i)},${y(value)}`).reverse();
    box.append(svg("polygon", { points: [...up, ...down].join(" "), class: seriesClass(columns[arm]) }));
    below = above;
  });
  return box;
}

function card(item) {
  const badges = [
    item.alarmed && el("span", { class: "badge alarm" }, item.error ? "Cannot be read" : "Alarm"),
    item.paused && el("span", { class: "badge" }, "Paused"),
  ];
  const facts = item.error ? [] : [
    [word("decisions", item.decisions === 1 ? "decision" : "decisions"), count(item.decisions)],
    [word("rewards", item.rewards === 1 ? "reward" : "rewards"), count(item.rewards)],
    [word("pending", "waiting"), count(item.pending)],
    [word("arm", item.arms === 1 ? "arm" : "arms"), count(item.arms)],
    [word("loss", "risk of stopping"), item.loss === null ? "–" : `${risk(item.loss)} / 1,000`],
  ];
  return el(
    "li", { class: item.alarmed ? "card alarmed" : "card", "data-campaign": item.name },
    el("div", { class: "card-head" }, el("h2", {}, el("a", { href: `/campaigns/${encodeURIComponent(item.name)}` }, item.name)), ...badges, el("span", { class: "spring" }), item.spark && spark(item.spark)),
    el("p", { class: "sentence" }, item.sentence),
    el("dl", { class: "facts" }, ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
  );
}

export function overview(main) {
  const list = el("ul", { class: "cards" });
  const summary = el("p", { class: "muted" });
  const filter = el("input", { type: "search", id: "filter", placeholder: "Find a campaign", "aria-label": "Find a campaign", oninput: () => sift() });
  let shown = "";
  const sift = () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const item of list.children) item.hidden = wanted !== "" && !item.dataset.campaign.toLowerCase().includes(wanted);
  };
  return {
    title: "Campaigns",
    feeds: { overview: "/page/overview.json" },
    twin: "/page/overview.json",
    set({ overview: data }) {
      if (!data.campaigns.length && !data.unread) {
        if (shown !== "start") main.replaceChildren(...start());
        shown = "start";
        return;
      }
      if (shown !== "list") {
        main.replaceChildren(el("div", { class: "title-row" }, el("h1", {}, "Campaigns"), el("span", { class: "spring" }), filter), summary, list);
        shown = "list";
      }
      const alarms = data.alarmed ? `${data.alarmed} with an alarm` : "no alarm";
      summary.textContent = `${counted(data.campaigns.length + data.unread, "campaign")}, ${alarms}${data.unread ? `; ${data.unread} ${data.unread === 1 ? "is" : "are"} being read` : ""}`;
      const focused = document.activeElement?.closest?.("[data-campaign]")?.dataset.campaign;
      list.replaceChildren(...data.campaigns.map(card));
      if (focused) list.querySelector(`[data-campaign="${CSS.escape(focused)}"] a`)?.focus();
      sift();
    },
  };
}
