"use strict";
// The reproduction of papers: every printed result beside the measured value, with the cause of a difference.

const JUDGED = [["within", "within tolerance", "better"], ["outside", "outside, see the cause", "worse"]];

const verdict = (one) => (one.measured === null ? one.status : one.within ? "within" : "outside");

function papers() {
  const figures = report.papers.filter((paper) => printedNumbers(paper).length).map((paper) => figure(`paper-${paper.paper}`, `${paper.title}: measured against printed`, () => againstPrinted(paper)));
  const nodes = report.papers.flatMap((paper) => {
    const partly = paper.saved < paper.wanted ? el("p", { class: "warning" }, `Of ${count(paper.wanted)} measurements of workloads, ${count(paper.saved)} are saved; the values are those of the saved ones.`) : null;
    const drawn = figures.find((one) => one.node.id === `paper-${paper.paper}`);
    return [el("h2", {}, paper.title), el("p", { class: "note" }, `${paper.summary}. Size ${paper.size}.`), partly, drawn?.node ?? null, paperTable(paper)];
  });
  return { title: "Papers", nodes: [heading("Reproduced papers"), ...nodes], figures };
}

/** Results whose printed and measured values are fractions or ratios, which share one scale. */
const printedNumbers = (paper) => paper.results.filter((one) => typeof one.published === "number" && typeof one.measured === "number" && ["fraction", "ratio"].includes(one.unit));

function againstPrinted(paper) {
  const every = printedNumbers(paper);
  const ends = [0, Math.max(...every.flatMap((one) => [one.published, one.measured])) * 1.05];
  return {
    note: "Fractions and ratios; on the line, the measured value is the printed one.",
    traces: [
      { type: "scatter", mode: "lines", x: ends, y: ends, line: { color: colour("quiet"), width: 1, dash: "dot" }, hoverinfo: "skip", showlegend: false },
      ...JUDGED.map(([kind, name, tone]) => {
        const some = every.filter((one) => verdict(one) === kind);
        return {
          type: "scatter", mode: "markers", name, x: some.map((one) => one.published), y: some.map((one) => one.measured),
          marker: { color: colour(tone), size: 9, symbol: kind === "within" ? "circle" : "diamond" },
          hovertext: some.map((one) => `<b>${plain(one.id)}</b><br>${wrapped(plain(one.what))}<br>printed ${numberText(one.published)}, measured ${numberText(one.measured)}`),
          hovertemplate: "%{hovertext}<extra></extra>",
        };
      }),
    ],
    layout: { height: 440, hovermode: "closest", xaxis: numbers("printed"), yaxis: numbers("measured") },
    columns: paperColumns,
    rows: every,
  };
}

/** Lines of at most so many characters. */
const wrapped = (text, longest = 60) => text.replace(new RegExp(`(.{1,${longest}})(\\s|$)`, "g"), "$1<br>").replace(/<br>$/, "");

const printedText = (value) => (Array.isArray(value) ? value.map(numberText).join(" to ") : typeof value === "boolean" ? (value ? "holds" : "does not hold") : value === null ? "–" : numberText(value));

const paperColumns = [
  { title: "Result", value: (one) => one.id, class: "code" },
  { title: "Where", value: (one) => one.where },
  { title: "Quantity", value: (one) => one.what, class: "text" },
  { title: "Published", value: (one) => printedText(one.published), class: "number" },
  { title: "Measured", value: (one) => printedText(one.measured), class: "number" },
  { title: "Unit", value: (one) => one.unit },
  { title: "Without the effect", value: (one) => printedText(one.null), class: "number" },
  { title: "Verdict", value: (one) => verdict(one), show: (one) => el("span", { class: `badge ${verdict(one).replace(" ", "-")}` }, verdict(one)) },
  { title: "Cause", value: (one) => one.cause, class: "text" },
];

const paperTable = (paper) => table(`Results of ${paper.title}`, paperColumns, paper.results);
