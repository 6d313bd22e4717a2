"use strict";
// The Pareto view: designs that no other beats in energy, performance and added storage together.

const OBJECTIVES = ["energy", "speed", "storage"].filter((name) => MEASURED.includes(name));

/** Names stand beside points if there are at most so many of them. */
const LABELLED = 12;

/** Names of points so close to each other, as shares of the axes, are above one and below the other. */
const [NEAR_ACROSS, NEAR_UP] = [0.15, 0.04];
const reachOf = (values) => Math.max(...values) - Math.min(...values);

/** Each design with its means, and the designs that are at least as good in every objective and better in one. */
function judgedDesigns() {
  const { used, note } = comparable(shown(), OBJECTIVES.includes("speed") ? "speed" : "energy");
  const needed = [...new Set([...OBJECTIVES, state.x, state.y])];
  const designs = [...grouped(used, "design")].map(([label, own]) => ({ label, ...meansOf(own, needed) }));
  const known = designs.filter((one) => needed.every((name) => one[name] !== null));
  for (const one of known) one.beatenBy = known.filter((other) => beats(other, one)).map((other) => other.label);
  return { designs: known, note };
}

function meansOf(own, needed) {
  const values = (name) => own.map((one) => quantity(name, one, state.baseline)).filter((value) => value !== null);
  return Object.fromEntries(needed.map((name) => [name, mean(name, values(name))]));
}

function beats(one, other) {
  const signs = OBJECTIVES.map((name) => compareValues(name, one[name], other[name]));
  return signs.every((sign) => sign >= 0) && signs.some((sign) => sign > 0);
}

function pareto() {
  const { designs, note } = judgedDesigns();
  if (designs.length < 2) return null;
  const front = designs.filter((one) => !one.beatenBy.length);
  const beaten = designs.filter((one) => one.beatenBy.length);
  const words = OBJECTIVES.map((name) => METRICS[name].title.toLowerCase());
  const size = OBJECTIVES.includes("speed") && ![state.x, state.y].includes("storage") ? "storage" : null;
  const largest = Math.max(...designs.map((one) => one[size] ?? 0));
  const [width, height] = [state.x, state.y].map((name) => reachOf(designs.map((one) => one[name])));
  const isNear = (one, other) =>
    Math.abs(one[state.x] - other[state.x]) <= NEAR_ACROSS * width &&
    Math.abs(one[state.y] - other[state.y]) <= NEAR_UP * height;
  const isCrowded = (one) => designs.slice(0, designs.indexOf(one)).some((other) => isNear(one, other));
  return {
    note: `Means ${note}. Full points: no other design is as good in ${listed(words)} and better in one of them.${
      size ? " The larger a point, the more storage is added." : ""
    }`,
    traces: [points(beaten, "beaten", true), points(front, "on the front", false)],
    layout: {
      height: 460,
      hovermode: "closest",
      xaxis: numbers(axisTitle(state.x, state.baseline), { rangemode: "normal" }),
      yaxis: numbers(axisTitle(state.y, state.baseline), { rangemode: "normal" }),
    },
    target: (point) => address("design", point.customdata),
    columns: [
      { title: "Design", value: (one) => one.label, show: (one) => viewLink("design", one.label) },
      ...Object.keys(designs[0]).filter((name) => name in METRICS).map((name) => ({
        title: METRICS[name].title,
        value: (one) => one[name],
        show: (one) => format(name, one[name]),
      })),
      { title: "beaten by", value: (one) => one.beatenBy.join(", ") || "none" },
    ],
    rows: designs,
  };

  function points(some, name, hollow) {
    return {
      type: "scatter",
      mode: (hollow ? designs : some).length > LABELLED ? "markers" : "markers+text",
      name,
      x: some.map((one) => one[state.x]),
      y: some.map((one) => one[state.y]),
      text: some.map((one) => tick(one.label, isNarrow() ? 14 : 24)),
      textposition: some.map((one) => (isCrowded(one) ? "bottom center" : "top center")),
      cliponaxis: false,
      customdata: some.map((one) => one.label),
      hovertext: some.map((one) =>
        [
          `<b>${plain(one.label)}</b>`,
          ...[...new Set([state.x, state.y, ...OBJECTIVES])].map((key) =>
            `${METRICS[key].title}: ${format(key, one[key])}`
          ),
        ].join("<br>")
      ),
      hovertemplate: "%{hovertext}<extra></extra>",
      marker: {
        color: colour(hollow ? "muted" : "accent"),
        symbol: hollow ? "circle-open" : "circle",
        line: { width: hollow ? 2 : 0 },
        size: some.map((one) => (size && largest ? 9 + 24 * Math.sqrt(one[size] / largest) : 11)),
      },
    };
  }
}

const listed = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

function paretoAxes() {
  const options = MEASURED.map((name) => [name, METRICS[name].title]);
  return el(
    "div",
    { class: "axes" },
    choice("Across", options, state.x, (value) => change({ x: value })),
    choice("Up", options, state.y, (value) => change({ y: value })),
  );
}
