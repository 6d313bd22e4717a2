"use strict";
// The views of the address: lists of workloads and designs, one of each, one result, what is missing, provenance.

/** Each view returns its `title`, its elements and the figures in it. */
const VIEWS = { overview, workloads, workload, designs, design, ranking, result, papers, missing, provenance };

/** Entries of the navigation: views of their own that have content. */
const NAVIGATION = [
  ["overview", "Overview", true],
  ["workloads", "Workloads", results.length > 0],
  ["designs", "Designs", results.length > 0],
  ["ranking", "Ranking", report.rankings.length > 0],
  ["papers", "Papers", report.papers.length > 0],
  ["missing", "Missing", report.missing.length > 0],
  ["provenance", "Provenance", results.length > 0],
].filter(([, , has]) => has);

/** Columns of results: what and where, a link to all of its numbers, and each measure. */
function resultColumns(first) {
  return [
    first,
    ...SETTINGS.map((axis) => ({ title: axis.one, value: axis.of, class: "setting" })),
    {
      title: "All numbers",
      value: (one) => one.number,
      show: (one) => viewLink("result", String(one.number), `result ${one.number + 1}`),
      class: "links",
    },
    ...MEASURED.map((name) => ({
      title: columnTitle(name, state.baseline),
      value: (one) => quantity(name, one, state.baseline),
      show: (one) => format(name, quantity(name, one, state.baseline)),
    })),
    ...bandColumns((one) => [one]),
  ];
}

const byDesign = {
  title: "Design",
  value: (one) => one.design.label,
  show: (one) => viewLink("design", one.design.label),
};
const byWorkload = {
  title: "Workload",
  value: (one) => one.run.workload,
  show: (one) => viewLink("workload", one.run.workload),
};

function workloads() {
  const list = el("section", {});
  const update = () => {
    const rows = summaries(shown(), "workload", state.metric).map((one) => ({ ...one, best: bestOf(one.own) }));
    list.replaceChildren(table(`Workloads: ${axisTitle(state.metric, state.baseline)}`, [
      { title: "Workload", value: (row) => row.label, show: (row) => viewLink("workload", row.label) },
      { title: "Warp-instructions", value: (row) => row.own[0].warp_instructions },
      {
        title: "Registers",
        value: (row) => Math.max(...row.own[0].residency.map((kernel) => kernel.registers_per_thread), 0),
      },
      { title: "Results", value: (row) => row.own.length },
      { title: "Mean", value: (row) => row.mean, show: (row) => format(state.metric, row.mean) },
      {
        title: "Best design",
        value: (row) => row.best.design.label,
        show: (row) => viewLink("design", row.best.design.label),
      },
      {
        title: "Best value",
        value: (row) => quantity(state.metric, row.best, state.baseline),
        show: (row) => format(state.metric, quantity(state.metric, row.best, state.baseline)),
      },
    ], rows));
  };
  return { title: "Workloads", nodes: [heading("Workloads"), list], figures: [{ update }] };
}

function bestOf(own) {
  const known = own.filter((one) => quantity(state.metric, one, state.baseline) !== null);
  const value = (one) => quantity(state.metric, one, state.baseline);
  return known.reduce((a, b) => (compareValues(state.metric, value(b), value(a)) > 0 ? b : a));
}

function workload(name) {
  const own = results.filter((one) => one.run.workload === name);
  if (!own.length) return unknown("workload", name);
  const now = () => shown(["workload"]).filter((one) => one.run.workload === name);
  const runs = [...new Set(own.map((one) => one.run))];
  const list = el("section", {});
  const note = runs.length > 1 ? `Means over ${many(runs.length, "run")} of this workload.` : "";
  const figures = [
    figure(
      "means",
      "Designs on this workload",
      () => bars(now(), "design", state.metric, `${note} ${capital(METRICS[state.metric].better)} is better.`.trim()),
    ),
    figure("energy", "Where the energy goes", () => energyParts(now(), `${note} Wires are hatched.`.trim())),
    figure("cycles", "Where the cycles go", () => cycleParts(now())),
    { update: () => list.replaceChildren(table(`Results of ${name}`, resultColumns(byDesign), now())) },
  ];
  const about = facts([
    ["Warp-instructions", numberText(own[0].warp_instructions)],
    [
      "Kernels",
      own[0].residency.map((kernel) => `${kernel.kernel} (${kernel.registers_demanded} registers)`).join(", "),
    ],
    ["Kernel digest", [...new Set(runs.map((run) => run.kernel))].join(", ")],
  ]);
  return {
    title: name,
    nodes: [
      heading(name, el("p", { class: "lead" }, "Workload")),
      about,
      ...figures.slice(0, 3).map((one) => one.node),
      list,
    ],
    figures,
  };
}

function designs() {
  const rows = axisOf.design.values.map((label) => results.find((one) => one.design.label === label));
  const columns = [
    { title: "Design", value: (one) => one.design.label, show: (one) => viewLink("design", one.design.label) },
    { title: "What it is", value: (one) => one.design.summary ?? "", class: "text" },
    { title: "Source", value: (one) => one.design.source ?? "", class: "text" },
    { title: "Added storage, KiB an SM", value: METRICS.storage.fixed },
    { title: "Added area, mm² an SM", value: METRICS.area.fixed },
    { title: "Digest", value: (one) => one.design.digest, class: "code" },
  ];
  return { title: "Designs", nodes: [heading("Designs"), table("Designs of this report", columns, rows)], figures: [] };
}

function design(label) {
  const own = results.filter((one) => one.design.label === label);
  if (!own.length) return unknown("design", label);
  const now = () => shown(["design"]).filter((one) => one.design.label === label);
  const list = el("section", {});
  const known = own[0].design;
  const figures = [
    figure(
      "means",
      "Workloads under this design",
      () => bars(now(), "workload", state.metric, `${capital(METRICS[state.metric].better)} is better.`),
    ),
    { update: () => list.replaceChildren(table(`Results of ${label}`, resultColumns(byWorkload), now())) },
  ];
  const about = facts([
    ["Source", known.source],
    ...Object.entries(known.parameters).map(([name, value]) => [name, String(value)]),
    ["Added storage", `${numberText(METRICS.storage.fixed(own[0]))} KiB an SM`],
    ["Added area", `${numberText(METRICS.area.fixed(own[0]))} mm² an SM`],
    ["Digest of the file", known.digest],
  ]);
  return {
    title: label,
    nodes: [heading(label, el("p", { class: "lead" }, known.summary ?? "Design")), about, figures[0].node, list],
    figures,
  };
}

/** Every number of one result, and everything that it depends on. */
function result(number) {
  const one = results[Number(number)];
  if (!one) return unknown("result", number);
  const apart = ["number", "run", "design", "residency", "code"];
  const rest = Object.entries(one).filter(([name]) => !apart.includes(name));
  const options = Object.entries(one.run.options).map(([name, value]) => [name, optionText(value)]);
  const kernels = one.residency.length
    ? table(
      "Registers and occupancy by kernel",
      [...new Set(one.residency.flatMap(Object.keys))].map((name) => ({
        title: name.replaceAll("_", " "),
        value: (kernel) => kernel[name] ?? null,
      })),
      one.residency,
    )
    : null;
  return {
    title: `${one.run.workload} under ${one.design.label}`,
    nodes: [
      heading(
        `${one.run.workload} under ${one.design.label}`,
        el(
          "p",
          { class: "lead" },
          viewLink("workload", one.run.workload, "the workload"),
          " · ",
          viewLink("design", one.design.label, "the design"),
        ),
      ),
      el("h2", {}, "What it depends on"),
      facts([
        ["Code", one.code],
        ["Machine", one.run.machine],
        ["Technology", one.run.technology],
        ["Design", one.design.digest],
        ["Kernel", one.run.kernel],
        ...options,
        ...Object.entries(one.design.parameters).map(([name, value]) => [`parameter ${name}`, String(value)]),
      ]),
      table("Numbers of this result", [{ title: "Name", value: ([name]) => name }, {
        title: "Value",
        value: ([, value]) => value,
        show: ([, value]) => String(value),
      }], rest.flatMap(flattened)),
      kernels,
    ],
    figures: [],
  };
}

function flattened([name, value]) {
  if (value === null || typeof value !== "object") return [[name, value]];
  return Object.entries(value).flatMap(([key, inner]) => flattened([`${name}.${key}`, inner]));
}

function missing() {
  const columns = [
    { title: "Cell", value: (one) => one.cell },
    { title: "Workload", value: (one) => one.workload },
    { title: "Design", value: (one) => one.design },
    { title: "Machine", value: (one) => one.machine },
    { title: "Technology", value: (one) => one.technology },
    { title: "Why", value: (one) => one.reason, class: "text" },
  ];
  return {
    title: "Missing",
    nodes: [heading("Cells without a result"), table("Cells of the study without a result", columns, report.missing)],
    figures: [],
  };
}

function provenance() {
  const counted = (title, of) => {
    const groups = new Map();
    for (const one of results) groups.set(of(one), (groups.get(of(one)) ?? 0) + 1);
    return table(title, [{ title, value: ([name]) => name, class: "code" }, {
      title: "Results",
      value: ([, number]) => number,
    }], [...groups]);
  };
  const options = AXES.filter((axis) => axis.key.startsWith("option-")).map((
    axis,
  ) => [axis.title, axis.values.join(", ")]);
  return {
    title: "Provenance",
    nodes: [
      heading(
        "Provenance",
        el(
          "p",
          { class: "lead" },
          "Every result is determined by the content of these. Behind each @ and in each digest stands a hash of it.",
        ),
      ),
      counted("Code", (one) => one.code),
      counted("Machine", (one) => one.run.machine),
      counted("Technology", (one) => one.run.technology),
      counted("Design", (one) => `${one.design.label}@${one.design.digest}`),
      counted("Kernels of a workload", (one) => `${one.run.workload}@${one.run.kernel}`),
      el("h2", {}, "Options of the runs"),
      facts(options),
    ],
    figures: [],
  };
}

const unknown = (what, name) => ({
  title: "Not found",
  nodes: [heading("Not found"), el("p", {}, `This report has no ${what} named ${name}.`)],
  figures: [],
});
