"use strict";
// The reproduction of papers: every printed result beside the measured value, with the cause of a difference.

const JUDGED = [["within", "within tolerance", "better"], ["outside", "outside, see the cause", "worse"]];

const verdict = (one) => (one.measured === null ? one.status : one.within ? "within" : "outside");

function papers() {
  const figures = report.papers.filter((paper) => printedNumbers(paper).length).map((paper) =>
    figure(`paper-${paper.paper}`, `${paper.title}: measured against printed`, () => againstPrinted(paper))
  );
  const nodes = report.papers.flatMap((paper) => {
    const partly = paper.saved < paper.wanted
      ? el(
        "p",
        { class: "warning" },
        `Of ${count(paper.wanted)} measurements of workloads, ${
          count(paper.saved)
        } are saved; the values are those of the saved ones.`,
      )
      : null;
    const drawn = figures.find((one) => one.node.id === `paper-${paper.paper}`);
    return [
      el("h2", {}, paper.title),
      el("p", { class: "note" }, `${paper.summary}. Size ${paper.size}.`),
      partly,
      drawn?.node ?? null,
      paperTable(paper),
    ];
  });
  return { title: "Papers", nodes: [heading("Reproduced papers"), ...nodes], figures };
}

/** Results whose printed and measured values are fractions, which share one scale. */
const printedNumbers = (paper) =>
  paper.results.filter((one) =>
    typeof one.published === "number" && typeof one.measured === "number" && one.unit === "fraction"
  );

function againstPrinted(paper) {
  const every = printedNumbers(paper);
  const ends = [0, Math.max(...every.flatMap((one) => [one.published, one.measured])) * 1.05];
  return {
    note: "Every result that is a fraction. On the line, the measured value is the printed one.",
    traces: [
      {
        type: "scatter",
        mode: "lines",
        x: ends,
        y: ends,
        line: { color: colour("quiet"), width: 1, dash: "dot" },
        hoverinfo: "skip",
        showlegend: false,
      },
      ...JUDGED.map(([kind, name, tone]) => {
        const some = every.filter((one) => verdict(one) === kind);
        return {
          type: "scatter",
          mode: "markers",
          name,
          x: some.map((one) => one.published),
          y: some.map((one) => one.measured),
          marker: { color: colour(tone), size: 9, symbol: kind === "within" ? "circle" : "diamond" },
          hovertext: some.map((one) =>
            `<b>${plain(one.id)}</b><br>${wrapped(plain(one.what))}<br>printed ${
              valueText(one.published, one.unit)
            }, measured ${valueText(one.measured, one.unit)}`
          ),
          hovertemplate: "%{hovertext}<extra></extra>",
        };
      }),
    ],
    layout: {
      height: 440,
      hovermode: "closest",
      xaxis: numbers("printed", { tickformat: ".0%" }),
      yaxis: numbers("measured", { tickformat: ".0%" }),
    },
    columns: paperColumns,
    rows: every,
  };
}

/** Lines of at most so many characters. */
const wrapped = (text, longest = 60) =>
  text.replace(new RegExp(`(.{1,${longest}})(\\s|$)`, "g"), "$1<br>").replace(/<br>$/, "");

/** A printed or measured value: a number, a range, whether a statement holds, or the statement. */
function valueText(value, unit) {
  if (value === null) return "–";
  if (Array.isArray(value)) return value.map((end) => valueText(end, unit)).join(" to ");
  if (typeof value === "boolean") return value ? "holds" : "does not hold";
  if (typeof value === "string") return { holds: "would hold", fails: "would not hold" }[value] ?? value;
  return unit === "fraction" ? format("elided", value) : `${numberText(value)} ${unit}`.trim();
}

const valueColumn = (title, of) => ({
  title,
  value: (one) => of(one),
  show: (one) => valueText(of(one), one.unit),
  class: "value",
});

const paperColumns = [
  { title: "Result", value: (one) => one.id, class: "code" },
  {
    title: "Quantity",
    value: (one) => one.what,
    show: (one) => [one.what, " ", el("span", { class: "quiet" }, one.where)],
    class: "text",
  },
  valueColumn("Published", (one) => one.published),
  valueColumn("Measured", (one) => one.measured),
  valueColumn("Without the effect", (one) => one.null),
  {
    title: "Verdict",
    value: verdict,
    show: (one) => el("span", { class: `badge ${verdict(one).replace(" ", "-")}` }, verdict(one)),
  },
  { title: "Cause", value: (one) => one.cause, class: "text" },
  {
    title: "Cause tested",
    value: (one) => tested(one),
    show: (one) => [
      tested(one) === "–" ? "–" : el("span", { class: `badge ${tested(one).replaceAll(" ", "-")}` }, tested(one)),
      one.verdict ? el("span", { class: "quiet" }, ` ${one.ablation}`) : null,
    ],
    class: "text",
  },
  valueColumn("Without the cause", (one) => one.ablated ?? null),
];

/** The verdict of the ablation that tests the cause of a result outside its tolerance. */
function tested(one) {
  if (one.verdict) return one.verdict;
  return verdict(one) === "outside" && one.cause.includes("--ablation") ? "not measured" : "–";
}

const paperTable = (paper) => table(`Results of ${paper.title}`, paperColumns, paper.results);
