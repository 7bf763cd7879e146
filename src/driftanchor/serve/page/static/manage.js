// Actions on a campaign. The server checks whether the key allows them.
import { button, div, el, form, muted } from "./dom.js";
import { send } from "./api.js";

const HOURS = [
  ["1", "1 hour"],
  ["24", "1 day"],
  ["168", "1 week"],
];

const submit = (text) => el("button", { type: "submit" }, text);
const label = (id, text) => el("label", { for: id }, text);
const option = (value, selected, text = value) => el("option", { value, selected }, text);

export class Manage {
  constructor(name, refresh) {
    this.name = name;
    this.refresh = refresh;
    this.status = el("p", { role: "status", class: "status" });
    this.pause = button("Pause", () => this.togglePause(), { id: "pause", disabled: true });
    this.chosen = el("select", { id: "which-arm", onchange: () => this.offer() });
    this.actions = div("row");
    this.added = el("input", {
      id: "new-arm",
      required: true,
      maxlength: 200,
      placeholder: "name of the arm",
    });
    this.hours = el(
      "select",
      { id: "share-hours" },
      ...HOURS.map(([value, text]) => option(value, value === "24", text)),
    );
    this.shared = el("output", { class: "arm-name" });
    this.element = div(
      "manage",
      muted(
        "These need an admin key, unless the server has no keys and listens only on this machine.",
      ),
      div("row", this.pause),
      div("row", label("which-arm", "Arm"), this.chosen, this.actions),
      form(
        { class: "row" },
        () => this.add(),
        label("new-arm", "New arm"),
        this.added,
        submit("Add"),
      ),
      form(
        { class: "row" },
        () => this.share(),
        label("share-hours", "Read-only link for"),
        this.hours,
        submit("Make a link"),
      ),
      this.shared,
      this.status,
    );
  }

  set(data) {
    this.data = data;
    this.pause.disabled = false;
    this.pause.textContent = data.paused ? "Resume the campaign" : "Pause the campaign";
    const labels = data.arms.map((arm) => arm.label);
    if (this.labels !== JSON.stringify(labels)) {
      this.labels = JSON.stringify(labels);
      const before = this.chosen.value;
      this.chosen.replaceChildren(...labels.map((x) => option(x, x === before)));
    }
    this.offer();
  }

  // Offer the actions that fit the chosen arm.
  offer() {
    const arm = this.data.arms.find((x) => x.label === this.chosen.value);
    const state = arm && JSON.stringify([arm.label, arm.state, arm.logs.count]);
    if (!arm || this.offered === state) return;
    this.offered = state;
    const action = (text, body, done) => button(text, () => this.change(body, done));
    const move = (text, to, done) =>
      action(text, { arms: { [arm.label]: to } }, `${arm.label} ${done}`);
    const actions =
      arm.state === "active"
        ? [move("Pause", "paused", "is paused."), move("Archive", "archived", "is archived.")]
        : [move("Restore", "active", "is played again.")];
    if (arm.logs.n > 0 && arm.logs.count) {
      const done = `The logs of ${arm.label} no longer count.`;
      actions.push(action("Distrust its logs", { distrust: [arm.label] }, done));
    }
    this.actions.replaceChildren(...actions);
  }

  togglePause() {
    const done = this.data.paused
      ? "The campaign runs again."
      : "The campaign is paused. It still learns from rewards.";
    this.change({ paused: !this.data.paused }, done);
  }

  async add() {
    const name = this.added.value;
    if (await this.change({ add: { [name]: {} } }, `${name} was added.`)) this.added.value = "";
  }

  async change(body, done) {
    try {
      await send("PATCH", `/v1/campaigns/${encodeURIComponent(this.name)}`, body);
    } catch (error) {
      this.refused(error);
      return false;
    }
    this.say(done);
    this.refresh();
    return true;
  }

  async share() {
    const body = { campaign: this.name, hours: Number(this.hours.value) };
    try {
      const { key, expires } = await send("POST", "/page/share", body);
      this.shared.textContent = `${location.origin}${location.pathname}#key=${key}`;
      const end = new Date(expires * 1000).toUTCString();
      this.say(`Anyone with this link can read the summary of this campaign until ${end}.`);
    } catch (error) {
      this.refused(error);
    }
  }

  say(text, name = "") {
    this.status.className = `status ${name}`.trim();
    this.status.textContent = text;
  }

  refused(error) {
    const texts = {
      401: "Refused: this needs an admin key. Press Key above and type one.",
      403: "Refused: your key may not do this. It needs the role admin.",
    };
    this.say(texts[error.status] || `Not done: ${error.message}`, "alarm-text");
  }
}
