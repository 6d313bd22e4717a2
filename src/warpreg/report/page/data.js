"use strict";
// The data of the page: results linked with their runs and designs, and the axes along which they differ.

const report = JSON.parse(document.getElementById("data").textContent);

const results = report.results.map((one, number) => ({
  ...one,
  number,
  run: report.runs[one.run],
  design: report.designs[one.design],
  residency: report.residencies[one.residency],
  code: report.codes[one.code],
}));

/** Results by run, then by the label of the design. */
const byRun = new Map();
for (const one of results) {
  if (!byRun.has(one.run)) byRun.set(one.run, new Map());
  byRun.get(one.run).set(one.design.label, one);
}

/** Names without their digest, where no two of them differ by it alone: "gtx480@3f2a" is shown as "gtx480". */
function shortNames(names) {
  const short = (name) => name.replace(/@[0-9a-f]+$/, "");
  const different = new Set(names);
  return (
    name,
  ) => ([...different].some((other) => other !== name && short(other) === short(name)) ? name : short(name));
}

const machineName = shortNames(report.runs.map((run) => run.machine));
const technologyName = shortNames(report.runs.map((run) => run.technology));

/** What is said of an option: size and compile options of a run. */
const optionText = (value) => (value === undefined || value === null ? "none" : String(value));

/** Everything that the results may be filtered by, each with its values in the order of the data. */
const AXES = [
  { key: "workload", title: "Workloads", one: "Workload", of: (one) => one.run.workload },
  { key: "design", title: "Designs", one: "Design", of: (one) => one.design.label },
  { key: "machine", title: "Machines", one: "Machine", of: (one) => machineName(one.run.machine) },
  { key: "technology", title: "Technologies", one: "Technology", of: (one) => technologyName(one.run.technology) },
  ...[...new Set(report.runs.flatMap((run) => Object.keys(run.options)))].map((name) => ({
    key: `option-${name}`,
    title: name.replaceAll("_", " "),
    one: name.replaceAll("_", " "),
    of: (one) => optionText(one.run.options[name]),
  })),
].map((axis) => ({ ...axis, values: [...new Set(results.map(axis.of))] }));

const axisOf = Object.fromEntries(AXES.map((axis) => [axis.key, axis]));

/** The axes other than workload and design along which runs differ. */
const SETTINGS = AXES.slice(2).filter((axis) => axis.values.length > 1);

/** Levels of all results, the main register file first; each has the same colour everywhere. */
const LEVELS = [
  ...new Set([
    "mrf",
    ...results.flatMap((one) => Object.keys(one).map((key) => /^(.*)_access_normalized$/.exec(key)?.[1])),
  ]),
].filter((level) => level && results.some((one) => `${level}_access_normalized` in one));
