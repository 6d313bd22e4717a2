"use strict";
// The measures of a result, what they are relative to, and their means.

const PLAIN = "plain";
const ABSOLUTE = "absolute";
const sum = (values) => values.reduce((total, value) => total + value, 0);
const over = (part, whole) => (part === undefined || !whole ? null : part / whole);

/** Leakage in pJ of a timed result. */
const leakage = (one) => one.leakage_pj && sum(Object.values(one.leakage_pj));
/** Dynamic energy and leakage in pJ; those of a sample are not of the same length. */
const total = (one) => (one.leakage_pj && !one.sample ? one.energy_pj + leakage(one) : undefined);
/** The same of the plain register file on the same run. */
const plainTotal = (one) => one.energy_pj / one.energy_normalized + leakage(one) / one.leakage_normalized;

/**
 * Every measure.  `plain` is relative to the plain register file on the same run, `against` to another result on it;
 * `absolute` has a unit.  A measure with `fixed` is never relative.
 */
const METRICS = {
  energy: {
    title: "Dynamic energy",
    best: "Least dynamic energy",
    better: "lower",
    mean: "geometric",
    unit: "µJ",
    plain: (one) => one.energy_normalized,
    absolute: (one) => over(one.energy_pj, 1e6),
    against: (one, other) => over(one.energy_pj, other.energy_pj),
  },
  total: {
    title: "Energy with leakage",
    best: "Least energy",
    better: "lower",
    mean: "geometric",
    unit: "µJ",
    plain: (one) => over(total(one), plainTotal(one)),
    absolute: (one) => over(total(one), 1e6),
    against: (one, other) => over(total(one), total(other)),
  },
  leakage: {
    title: "Leakage",
    best: "Least leakage",
    better: "lower",
    mean: "geometric",
    unit: "µJ",
    plain: (one) => one.leakage_normalized ?? null,
    absolute: (one) => over(leakage(one), 1e6),
    against: (one, other) => over(leakage(one), leakage(other)),
  },
  speed: {
    title: "Speed",
    best: "Fastest",
    better: "higher",
    mean: "geometric",
    unit: "warp-instructions a cycle",
    plain: (one) => one.speed ?? null,
    absolute: (one) => one.ipc ?? null,
    against: (one, other) => over(other.cycles, one.cycles),
  },
  elided: {
    title: "MRF accesses elided",
    best: "Most MRF accesses elided",
    better: "higher",
    mean: "arithmetic",
    percent: true,
    plain: (one) => one.elided,
    absolute: (one) => one.elided,
    against: (one, other) => (other.elided === 1 ? null : 1 - (1 - one.elided) / (1 - other.elided)),
  },
  occupancy: {
    title: "Occupancy",
    best: "Highest occupancy",
    better: "higher",
    mean: "arithmetic",
    percent: true,
    fixed: (one) =>
      one.achieved_occupancy ?? over(sum(one.residency.map((kernel) => kernel.occupancy)), one.residency.length),
  },
  storage: {
    title: "Added storage",
    better: "lower",
    mean: "arithmetic",
    unit: "KiB an SM",
    fixed: (one) => (one.added_bytes ?? 0) / 1024,
  },
  area: {
    title: "Added area",
    better: "lower",
    mean: "arithmetic",
    unit: "mm² an SM",
    fixed: (one) => one.added_mm2 ?? 0,
  },
};

/** The measures that some result has. */
const MEASURED = Object.keys(METRICS).filter((name) => results.some((one) => quantity(name, one, PLAIN) !== null));

/** The value of a measure, null if the result or what it is relative to does not have it. */
function quantity(name, one, baseline) {
  const metric = METRICS[name];
  if (metric.fixed) return metric.fixed(one);
  if (baseline === PLAIN) return metric.plain(one);
  if (baseline === ABSOLUTE) return metric.absolute(one);
  const other = byRun.get(one.run).get(baseline);
  return other ? metric.against(one, other) : null;
}

/** Whether a value of 1 means "as the baseline". */
const isRelative = (name, baseline) => !METRICS[name].fixed && !METRICS[name].percent && baseline !== ABSOLUTE;

function describeBaseline(name, baseline) {
  const metric = METRICS[name];
  if (metric.fixed || baseline === ABSOLUTE) return metric.unit ? `in ${metric.unit}` : "";
  return `relative to ${baseline === PLAIN ? "the plain register file" : baseline}`;
}

const axisTitle = (name, baseline) =>
  [METRICS[name].title, describeBaseline(name, baseline)].filter(Boolean).join(", ");

/** The heading of a column, with the unit of what is not relative. */
const columnTitle = (name, baseline) => (isRelative(name, baseline) ? METRICS[name].title : axisTitle(name, ABSOLUTE));

function mean(name, values) {
  if (!values.length) return null;
  if (METRICS[name].mean === "arithmetic") return sum(values) / values.length;
  return values.some((value) => value <= 0) ? 0 : Math.exp(sum(values.map(Math.log)) / values.length);
}

/** Columns of the normalized energy at both ends of the technology's band, if it has one. */
function bandColumns(resultsOf) {
  if (!results.some((one) => one.energy_band) || state.baseline !== PLAIN) return [];
  const end = (row, place) => mean("energy", resultsOf(row).flatMap((one) => one.energy_band?.[place] ?? []));
  return ["low", "high"].map((title, place) => ({
    title: `Energy ${title}`,
    value: (row) => end(row, place),
    show: (row) => format("energy", end(row, place)),
  }));
}

/** The value at a share of a sorted list. */
function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  return sorted[low] + (place - low) * (sorted[Math.ceil(place)] - sorted[low]);
}

/** Whether two values are the same but for rounding. */
const isTie = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

/** Positive if a is the better value. */
const compareValues = (name, a, b) => (METRICS[name].better === "lower" ? b - a : a - b);

const count = (number) => number.toLocaleString("en");
const many = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

function format(name, value) {
  if (value === null || value === undefined) return "–";
  if (METRICS[name].percent) return `${(100 * value).toFixed(1)}%`;
  return numberText(value);
}

/** Four significant digits, with separators of thousands. */
function numberText(value) {
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return count(value);
  if (Math.abs(value) >= 1000) return value.toLocaleString("en", { maximumFractionDigits: 0 });
  return Math.abs(value) >= 1e-3 ? value.toLocaleString("en", { maximumSignificantDigits: 4 }) : value.toPrecision(3);
}
