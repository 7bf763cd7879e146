// Tick positions and labels of an axis.
const MINUS = "\u2212";
const MINUTE = 60,
  HOUR = 3600,
  DAY = 86400;
const TIMES = [
  1,
  5,
  15,
  30,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  28 * DAY,
  91 * DAY,
  182 * DAY,
  364 * DAY,
  1820 * DAY,
  3640 * DAY,
];
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const dayOfYear = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "2-digit",
  timeZone: "UTC",
});
const minute = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});
const second = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZone: "UTC",
});
const plain = (digits) =>
  new Intl.NumberFormat("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });

function multiples(low, high, step) {
  const first = Math.ceil(low / step - 1e-9),
    last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
}

// The smallest step that gives at most `max` ticks, and its number of decimals.
function numberStep(low, high, max) {
  const least = (high - low) / Math.max(max, 1);
  const power = Math.floor(Math.log10(least));
  const [times, more] = [
    [1, 0],
    [2, 0],
    [2.5, 1],
    [5, 0],
    [10, -1],
  ].find(([x]) => x * 10 ** power >= least * (1 - 1e-9));
  return [times * 10 ** power, Math.max(0, more - power)];
}

// Ticks as {at, text}; all have the same number of digits. With `percent`, 0.25 is 25 %.
export function numberTicks(low, high, max, percent = false) {
  if (!(high > low)) return [];
  const scale = percent ? 100 : 1;
  const [step, digits] = numberStep(low * scale, high * scale, max);
  const text = step >= 1e9 || digits > 6 ? (x) => x.toExponential(1) : plain(digits).format;
  return multiples(low * scale, high * scale, step).map((x) => ({
    at: x / scale,
    text: `${text(x === 0 ? 0 : x).replace("-", MINUS)}${percent ? " %" : ""}`,
  }));
}

// The same for seconds since 1970, in UTC: whole minutes, hours and days.
export function timeTicks(low, high, max) {
  if (!(high > low)) return [];
  const step = TIMES.find((x) => (high - low) / x <= max) || TIMES.at(-1);
  const date = high - low > 300 * DAY ? dayOfYear : day;
  const format = (x) => (step >= DAY || x % DAY === 0 ? date : step >= MINUTE ? minute : second);
  return multiples(low, high, step).map((x) => ({
    at: x,
    text: format(x).format(new Date(x * 1000)),
  }));
}
