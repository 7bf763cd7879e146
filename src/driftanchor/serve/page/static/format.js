// Numbers and times for people.
const MINUS = "\u2212";
const whole = new Intl.NumberFormat("en-GB");

export function num(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === "inf" || x === Infinity) return "∞"; // JSON has no such number
  if (x === "-inf" || x === -Infinity) return `${MINUS}∞`;
  const size = Math.abs(x);
  if (size < 1e-12) return "0";
  let text;
  if (size >= 1000) text = whole.format(Math.round(x));
  else if (size >= 100) text = x.toFixed(0);
  else if (size >= 10) text = x.toFixed(1);
  else if (size >= 1) text = x.toFixed(2);
  else if (size >= 0.001) text = String(Number(x.toPrecision(3)));
  else text = x.toExponential(1);
  return text.replace("-", MINUS);
}

// The risk of stopping, without needless digits.
export const risk = (x) => (x === null || x === undefined ? "–" : x < 0.001 ? "< 0.001" : num(x));

// Parse a number of the server: JSON has no infinity.
export const value = (x) => (x === "inf" ? Infinity : x === "-inf" ? -Infinity : x);

export const count = (n) => (n === null || n === undefined ? "–" : whole.format(n));

// A number with its noun: 1 campaign, 2 campaigns.
export const counted = (n, thing) => `${count(n)} ${thing}${n === 1 ? "" : "s"}`;

export function pct(x) {
  if (x === null || x === undefined) return "–";
  const p = 100 * x;
  if (p > 99.5 && p < 100) return "> 99 %";
  if (p > 0 && p < 0.1) return "< 0.1 %";
  return `${p >= 9.95 || p === 0 ? Math.round(p) : p.toFixed(1)} %`;
}

// A probability, never shown as certain.
export const chance = (x) =>
  x === null || x === undefined ? "–" : x > 0.995 ? "> 99 %" : x < 0.001 ? "< 0.1 %" : pct(x);

export const range = (x) =>
  x ? `${num(x.mean)} (${num(x.low)} to ${num(x.high)})` : "nothing yet";

const clock = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});
export const time = (seconds) =>
  typeof seconds === "number" ? `${clock.format(new Date(seconds * 1000))} UTC` : "–";

// The reward of a decision, or why there is none.
export const reward = (decision) =>
  decision.reward !== null
    ? num(decision.reward)
    : decision.state === "open"
      ? "waiting"
      : decision.state;

export function ago(seconds, now) {
  const s = Math.max(0, now - seconds);
  for (const [size, word] of [
    [86400, "day"],
    [3600, "hour"],
    [60, "minute"],
  ]) {
    if (s >= size) {
      const n = Math.floor(s / size);
      return `${n} ${word}${n > 1 ? "s" : ""} ago`;
    }
  }
  return "just now";
}
