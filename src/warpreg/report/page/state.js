"use strict";
// What the page shows, kept in the part of the address behind '#', so that each view can be linked.

const DEFAULTS = {
  metric: MEASURED[0],
  baseline: PLAIN,
  sort: "value",
  x: MEASURED.includes("speed") ? "energy" : "storage",
  y: MEASURED.includes("speed") ? "speed" : "energy",
};
const state = { view: "overview", name: "", ...DEFAULTS, hidden: {} };

/** Read the state from an address such as "#workload/hotspot?metric=speed&hide-design=mrf". */
function readAddress() {
  const [path, options = ""] = location.hash.slice(1).split("?");
  const [view, ...name] = path.split("/");
  const given = new URLSearchParams(options);
  Object.assign(state, { view: view || "overview", name: decoded(name.join("/")) });
  for (const key of Object.keys(DEFAULTS)) state[key] = given.get(key) ?? DEFAULTS[key];
  for (const key of ["metric", "x", "y"]) if (!MEASURED.includes(state[key])) state[key] = DEFAULTS[key];
  if (![PLAIN, ABSOLUTE, ...axisOf.design.values].includes(state.baseline)) state.baseline = PLAIN;
  state.hidden = Object.fromEntries(AXES.map((axis) => [axis.key, new Set(given.getAll(`hide-${axis.key}`))]));
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a view with the options as they are. */
function address(view, name = "") {
  const given = new URLSearchParams();
  for (const [key, usual] of Object.entries(DEFAULTS)) if (state[key] !== usual) given.set(key, state[key]);
  for (const [key, values] of Object.entries(state.hidden)) {
    for (const value of values) given.append(`hide-${key}`, value);
  }
  const options = given.size ? `?${given}` : "";
  return `#${view}${name === "" ? "" : `/${encodeURIComponent(name)}`}${options}`;
}

/** Results that no filter hides; `without` names axes whose filter does not count. */
function shown(without = []) {
  const filters = AXES.filter((axis) => state.hidden[axis.key].size && !without.includes(axis.key));
  return results.filter((one) => filters.every((axis) => !state.hidden[axis.key].has(axis.of(one))));
}

/** Results by the value of an axis. */
function grouped(some, axis) {
  const groups = new Map();
  for (const one of some) {
    const value = axisOf[axis].of(one);
    if (!groups.has(value)) groups.set(value, []);
    groups.get(value).push(one);
  }
  return groups;
}

/**
 * The results over which designs are averaged: those of runs on which every shown design has the measure.  Where there
 * is no such run, each design has its own runs.
 */
function comparable(some, name) {
  const known = some.filter((one) => quantity(name, one, state.baseline) !== null);
  const designs = new Set(known.map((one) => one.design)).size;
  const ofRun = new Map();
  for (const one of known) ofRun.set(one.run, (ofRun.get(one.run) ?? 0) + 1);
  const common = known.filter((one) => ofRun.get(one.run) === designs);
  const usedRuns = new Set(common.map((one) => one.run)).size;
  if (usedRuns === ofRun.size) return { used: common, note: `over ${many(usedRuns, "run")}` };
  if (usedRuns) {
    return {
      used: common,
      note: `over ${count(usedRuns)} of ${many(ofRun.size, "run")}, those that every shown design has`,
    };
  }
  return { used: known, note: "each over the design's own runs, for no run has all shown designs" };
}

/** Groups of an axis with their mean and sorted values of a measure, in the chosen order. */
function summaries(some, axis, name) {
  const made = [...grouped(some, axis)].map(([label, own]) => {
    const values = own.map((one) => quantity(name, one, state.baseline)).filter((value) => value !== null);
    return { label, own, values: values.sort((a, b) => a - b), mean: mean(name, values) };
  });
  const found = made.filter((one) => one.mean !== null);
  if (state.sort === "name") return found.sort((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
  if (state.sort === "value") return found.sort((a, b) => compareValues(name, b.mean, a.mean));
  return found;
}
