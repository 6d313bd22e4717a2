"use strict";
// Rankings of the designs over all runs of the report, and what turns them.

const RANKED = { energy: "By dynamic energy", speed: "By speed" };
const REVERSED = "Over the runs that both have, the next one is better.";
const labelOf = (place) => report.designs[place].label;
const percent = (share) => `${(100 * share).toFixed(0)}%`;

function ranking() {
  const nodes = report.rankings.flatMap((one) => [el("h2", {}, RANKED[one.measure]), rankTable(one), pairOfDesigns(one)]);
  const lead = el(
    "p",
    { class: "lead" },
    "Each design against the next one: the ratio of their geometric means over workloads, with the 95% interval of a " +
      "bootstrap over workloads, and from ten workloads on the share of resamples in which it is better. “Unless” " +
      "names each workload, machine, technology and option whose runs alone turn it, with the ratio there; “band” is " +
      "an end of the technology’s band.",
  );
  const note = el("p", { class: "note" }, "Over all finished runs; filters of other views do not apply.");
  return { title: "Ranking", nodes: [heading("Which design is better, and when not", lead), note, ...nodes], figures: [] };
}

const intervalText = (pair) =>
  pair.workloads > 1 ? `${numberText(pair.interval[0])} to ${numberText(pair.interval[1])}` : "one workload";
const isEqual = (pair) =>
  [pair.ratio, ...pair.interval].every((one) => one === 1) && !Object.keys(pair.turned_by).length;
/** The share of resamples; null of few workloads, which say little about others. */
const certainty = (pair) => pair.share_of_resamples;
const turnedBy = (pair) =>
  Object.entries(pair.turned_by).map(([name, ratio]) => `${name.replace(/@[0-9a-f]+$/, "")} (${numberText(ratio)})`)
    .join(", ");

function rankTable(ranked) {
  const rows = ranked.order.map((place, at) => {
    const pair = pairOf(ranked, place, ranked.order[at + 1]);
    return { place, rank: at + 1, pair: pair?.better === place ? pair : undefined, reversed: pair?.other === place };
  });
  return table(`Designs ranked ${RANKED[ranked.measure].toLowerCase()}`, [
    { title: "Design", value: (row) => labelOf(row.place), show: (row) => viewLink("design", labelOf(row.place)) },
    { title: "Rank", value: (row) => row.rank },
    { title: "Times as good as the next", value: (row) => row.pair?.ratio ?? null },
    ...pairColumns((row) => row.pair),
  ], rows);
}

/** What is known of two designs, in either order. */
const pairOf = (ranked, one, two) =>
  ranked.pairs.find((each) =>
    (each.better === one && each.other === two) || (each.better === two && each.other === one)
  );

/** Interval, certainty and turning cases of the pair of a row. */
const pairColumns = (of) => [
  {
    title: "Interval",
    value: (row) => of(row)?.interval[0] ?? null,
    show: (row) => (of(row) ? intervalText(of(row)) : "–"),
  },
  { title: "Workloads", value: (row) => of(row)?.workloads ?? null },
  {
    title: "Certainty",
    value: (row) => (of(row) ? certainty(of(row)) : null),
    show: (row) => {
      const pair = of(row);
      return pair && certainty(pair) !== null && !isEqual(pair) ? percent(certainty(pair)) : "–";
    },
  },
  {
    title: "Unless",
    value: (row) => (of(row) ? turnedBy(of(row)) : row.reversed ? REVERSED : "–"),
    class: "text",
  },
];

/** Any two designs, which the reader chooses. */
function pairOfDesigns(ranked) {
  const said = el("p", { class: "beats", "aria-live": "polite" });
  const chosen = { one: ranked.order[0], two: ranked.order[1] };
  const options = ranked.order.map((place) => [String(place), labelOf(place)]);
  const show = () => said.replaceChildren(sentence(ranked, chosen.one, chosen.two));
  const select = (name, label) =>
    choice(label, options, String(chosen[name]), (place) => {
      chosen[name] = Number(place);
      show();
    });
  show();
  return el("div", { class: "pair" }, select("one", "Compare"), select("two", "with"), said);
}

function sentence(ranked, one, two) {
  if (one === two) return "Choose two designs.";
  const pair = pairOf(ranked, one, two);
  if (!pair) return "They were not compared: no run has both, or the report has too many designs.";
  if (isEqual(pair)) return `${labelOf(pair.better)} and ${labelOf(pair.other)} are equal.`;
  const sure = pair.workloads === 1
    ? "on the one workload"
    : certainty(pair) === null
    ? `(${intervalText(pair)}) on ${many(pair.workloads, "workload")}`
    : `(${intervalText(pair)}), in ${percent(certainty(pair))} of resamples of ${many(pair.workloads, "workload")}`;
  const cases = turnedBy(pair);
  const beaten = `${labelOf(pair.better)} beats ${labelOf(pair.other)}: ${numberText(pair.ratio)} times as good ${sure}`;
  return cases ? `${beaten}, unless ${cases}.` : `${beaten}; no case turns it.`;
}
