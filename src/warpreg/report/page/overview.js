"use strict";
// The overview: what was measured, the best designs, and every figure of the whole.

function overview() {
  if (!results.length) return papers();
  const figures = [
    figure("means", "Designs compared", meansByDesign),
    figure("pareto", "Energy, performance and storage", pareto, paretoAxes()),
    figure("energy", "Where the energy goes", () => {
      const { used, note } = comparable(shown(), "energy");
      return energyParts(used, `Arithmetic means ${note}; wires are hatched.`);
    }),
    figure("heat", "Every workload under every design", heat),
  ];
  const tiles = el("ul", { class: "tiles" });
  const list = el("section", {});
  const refresh = () => {
    tiles.replaceChildren(...overviewTiles());
    list.replaceChildren(designTable(shown()));
  };
  return {
    title: report.title,
    nodes: [
      heading(report.title, el("p", { class: "lead" }, measured())),
      problems(),
      tiles,
      figures[0].node,
      figures[1].node,
      figures[2].node,
      list,
      figures[3].node,
    ],
    figures: [...figures, { update: refresh }],
  };
}

/** What was measured, in a sentence. */
function measured() {
  const [workloads, designs] = [
    many(axisOf.workload.values.length, "workload"),
    many(axisOf.design.values.length, "design"),
  ];
  const [machines, technologies] = [axisOf.machine.values, axisOf.technology.values].map((values) => values.join(", "));
  const measured = `${many(results.length, "result")}: ${workloads} under ${designs}`;
  return `${measured}, on ${machines}, with energies of ${technologies}.`;
}

function problems() {
  const failed = report.missing.filter((one) => one.failed).length;
  const told = [
    failed ? `${many(failed, "cell")} failed` : "",
    report.missing.length > failed ? `${many(report.missing.length - failed, "cell")} not finished` : "",
  ].filter(Boolean);
  return told.length
    ? el("p", { class: "warning" }, `Of the study, ${told.join(", ")}: `, viewLink("missing", "", "see which"), ".")
    : null;
}

function overviewTiles() {
  return ["energy", "speed", "elided", "occupancy"].filter((name) => MEASURED.includes(name)).flatMap((name) => {
    const groups = summaries(comparable(shown(), name).used, "design", name);
    if (!groups.length) return [];
    const best = groups.reduce((a, b) => (compareValues(name, b.mean, a.mean) > 0 ? b : a));
    const tied = groups.filter((one) => isTie(one.mean, best.mean)).sort((a, b) => (a.label < b.label ? -1 : 1));
    return el(
      "li",
      {},
      el("span", { class: "what" }, METRICS[name].best),
      el("span", { class: "value" }, format(name, best.mean)),
      ...namesOfTied(tied, groups.length),
      el("span", { class: "quiet" }, describeBaseline(name, state.baseline)),
    );
  });
}

const NAMED_TIES = 3;

/** The designs that have the best mean: all by name, or the first with the number of the others. */
function namesOfTied(tied, all) {
  if (tied.length === all && all > 1) return [el("span", {}, `all ${count(all)} designs`)];
  const named = tied.length > NAMED_TIES + 1 ? tied.slice(0, NAMED_TIES) : tied;
  const links = named.flatMap((one, place) => [place ? ", " : "", viewLink("design", one.label)]);
  const others = tied.length - named.length;
  const tie = tied.length > 1 ? el("span", { class: "quiet" }, `tie of ${count(tied.length)} designs`) : null;
  return [el("span", {}, ...links, others ? ` and ${count(others)} more` : ""), tie].filter(Boolean);
}

/** The means of each design in every measure. */
function designTable(some) {
  const means = Object.fromEntries(MEASURED.map((name) => [name, meansOfDesigns(some, name)]));
  const used = new Set(comparable(some, "energy").used);
  const rows = [...grouped(some, "design")].map(([label, own]) => ({ label, own }));
  const columns = [
    { title: "Design", value: (row) => row.label, show: (row) => viewLink("design", row.label) },
    { title: "Results", value: (row) => row.own.length },
    ...MEASURED.map((name) => ({
      title: columnTitle(name, state.baseline),
      value: (row) => means[name].get(row.label) ?? null,
      show: (row) => format(name, means[name].get(row.label)),
    })),
    ...bandColumns((row) => row.own.filter((one) => used.has(one))),
  ];
  return table("Means of each design over the runs that all have", columns, rows);
}

const meansOfDesigns = (some, name) =>
  new Map(summaries(comparable(some, name).used, "design", name).map((one) => [one.label, one.mean]));
