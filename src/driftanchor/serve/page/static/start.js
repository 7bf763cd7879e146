// Start here: how to make the first campaign.
import { button, div, el, link, muted } from "./dom.js";

const COMMANDS = {
  demo: "driftanchor serve --demo",
  logs:
    "driftanchor campaign create checkout last_quarter.csv --arm variant --reward converted " +
    "--relative-bound 0.02 --reward-kind binary",
  arms: "driftanchor campaign create checkout --arms A,B,C --reward-kind binary",
  ask:
    "curl -X POST http://127.0.0.1:8484/v1/campaigns/checkout/decisions " +
    "-H 'Content-Type: application/json' -d '{\"unit\": \"user-1\"}'",
  tell:
    "curl -X PUT http://127.0.0.1:8484/v1/decisions/ID/reward " +
    "-H 'Content-Type: application/json' -d '{\"value\": 1}'",
  python: `import driftanchor as da

campaign = da.Campaign.load("checkout", store="sqlite:///driftanchor.db")
decision = campaign.ask(unit="user-1")
campaign.tell(decision.id, 1.0)`,
};

function command(name) {
  const code = el("code", {}, COMMANDS[name]);
  const copy = button(
    "Copy",
    async () => {
      try {
        await navigator.clipboard.writeText(COMMANDS[name]);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        copy.textContent = "Selected";
      }
      setTimeout(() => {
        copy.textContent = "Copy";
      }, 1500);
    },
    { class: "quiet copy" },
  );
  return div("command", el("pre", { tabindex: 0 }, code), copy);
}

const step = (title, text, ...rest) =>
  el("section", { class: "card" }, el("h2", {}, title), el("p", {}, text), ...rest);

export function start(empty = true) {
  const none = empty ? "There is no campaign in this store yet. " : "";
  const lead =
    "A campaign decides which arm each user sees, and learns from the rewards. Old logs give it " +
    "a head start.";
  return [
    el("h1", {}, "Start here"),
    el("p", { class: "lead" }, none + lead),
    div(
      "steps",
      step(
        "1. Look first",
        "See a campaign with made-up traffic: the logs help, the shares move, and an alarm rings.",
        command("demo"),
      ),
      step(
        "2. Make a campaign from logs",
        "One row of the logs is one decision of the past: which arm, and what it paid. The bound " +
          "says how far arms may have moved apart since.",
        command("logs"),
        muted("Without logs, name the arms:"),
        command("arms"),
      ),
      step(
        "3. Ask, and tell",
        "Ask which arm to show, and report its reward. Both can be repeated safely.",
        command("ask"),
        command("tell"),
      ),
      step("Or in Python", "The same from your own program:", command("python")),
    ),
    muted(
      empty ? "This page shows a campaign as soon as there is one." : link("/", "All campaigns"),
    ),
  ];
}
