"use strict";
// The figures: what each shows of the results that are not hidden.

const OTHER = 8;
/** So many names stand side by side below a plot; more are turned. */
const FEW = 8;
/** Colours of the style sheet for series; further ones begin again. */
const series = (place) => colour(`series-${place % OTHER}`);

/** Bars of the means of groups, with the range in which the middle eight tenths of their values are. */
function bars(some, axis, name, note) {
  const groups = summaries(some, axis, name);
  if (!groups.length) return null;
  const places = groups.map((_, place) => place);
  const several = groups.some((one) => one.values.length > 1);
  const low = groups.map((one) => quantile(one.values, 0.1));
  const high = groups.map((one) => quantile(one.values, 0.9));
  const range = (place) => `${format(name, low[place])} to ${format(name, high[place])}`;
  const spread = several ? `<br>middle 80%: %{customdata}` : "";
  return {
    note,
    traces: [
      {
        type: "bar",
        orientation: "h",
        y: places,
        x: groups.map((one) => one.mean),
        text: groups.map((one) => format(name, one.mean)),
        textposition: "inside",
        insidetextanchor: "start",
        textangle: 0,
        customdata: places.map(range),
        hovertext: groups.map((one) => plain(one.label)),
        hovertemplate: `<b>%{hovertext}</b><br>%{text}${spread}<extra></extra>`,
        marker: { color: groups.map((one) => colour(one.label === state.baseline ? "muted" : "accent")) },
        textfont: { color: colour("on-accent") },
        error_x: several
          ? {
            type: "data",
            symmetric: false,
            color: colour("ink"),
            thickness: 1,
            width: 3,
            array: places.map((place) => Math.max(0, high[place] - groups[place].mean)),
            arrayminus: places.map((place) => Math.max(0, groups[place].mean - low[place])),
          }
          : { visible: false },
      },
    ],
    layout: {
      height: 90 + BAR * groups.length,
      xaxis: numbers(axisTitle(name, state.baseline), METRICS[name].percent ? { tickformat: ".0%" } : {}),
      yaxis: names(groups.map((one) => one.label), { autorange: "reversed", showgrid: false }),
      bargap: 0.25,
      shapes: isRelative(name, state.baseline) ? [upright(1)] : [],
    },
    target: (point) => address(axis, groups[point.y].label),
    columns: [
      {
        title: axisOf[axis].one,
        value: (one) => one.label,
        show: (one) => viewLink(axis, one.label),
      },
      { title: axisTitle(name, state.baseline), value: (one) => one.mean },
      { title: "10%", value: (one) => quantile(one.values, 0.1) },
      { title: "median", value: (one) => quantile(one.values, 0.5) },
      { title: "90%", value: (one) => quantile(one.values, 0.9) },
      { title: "results", value: (one) => one.values.length },
    ],
    rows: groups,
  };
}

const hatched = (shape = "") => ({ shape, fillmode: "overlay", fgcolor: colour("raised"), size: 6, solidity: 0.3 });

const upright = (x) => ({
  type: "line",
  x0: x,
  x1: x,
  y0: 0,
  y1: 1,
  yref: "paper",
  line: { color: colour("quiet"), width: 1, dash: "dot" },
});

function meansByDesign() {
  const { used, note } = comparable(shown(), state.metric);
  const kind = METRICS[state.metric].mean;
  const better = METRICS[state.metric].better;
  return bars(
    used,
    "design",
    state.metric,
    `${capital(kind)} means ${note}; ${better} is better. Lines span the middle 80% of the runs.`,
  );
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Where the dynamic energy goes: arrays and wires of each level, and what the design adds to them. */
function energyParts(some, note) {
  const parts = [
    ...LEVELS.flatMap((level, place) => [
      { title: `${level.toUpperCase()} array`, key: `${level}_access_normalized`, place },
      { title: `${level.toUpperCase()} wires`, key: `${level}_wire_normalized`, place, pattern: "/" },
    ]),
    { title: "tables and logic", key: "added_normalized", place: OTHER - 1 },
  ];
  const groups = summaries(some, "design", "energy");
  const rows = groups.map((group) => ({
    ...group,
    parts: parts.map((part) => sum(group.own.map((one) => partOf(one, part.key))) / group.own.length),
  }));
  const used = parts.map((part, place) => ({ ...part, at: place })).filter(({ at }) =>
    rows.some((row) => row.parts[at] > 0)
  );
  if (!rows.length) return null;
  return {
    note,
    traces: used.map(({ title, place, pattern, at }) => ({
      type: "bar",
      orientation: "h",
      name: plain(title),
      y: rows.map((_, row) => row),
      x: rows.map((row) => row.parts[at]),
      marker: { color: series(place), pattern: hatched(pattern), line: { width: 0 } },
      hovertext: rows.map((row) => plain(row.label)),
      hovertemplate: `<b>%{hovertext}</b><br>${plain(title)}: %{x:.3f}<extra></extra>`,
    })),
    keys: used.map(({ title, place, pattern }) => ({ title, color: series(place), isHatched: Boolean(pattern) })),
    layout: {
      ...legendAbove(),
      barmode: "stack",
      bargap: 0.25,
      height: (isNarrow() ? 90 : 130) + BAR * rows.length,
      xaxis: numbers(axisTitle("energy", state.baseline)),
      yaxis: names(rows.map((row) => row.label), { autorange: "reversed", showgrid: false }),
    },
    target: (point) => address("design", rows[point.y].label),
    columns: [
      { title: "Design", value: (row) => row.label, show: (row) => viewLink("design", row.label) },
      ...used.map(({ title, at }) => ({ title, value: (row) => row.parts[at] })),
      { title: "sum", value: (row) => sum(row.parts) },
    ],
    rows,
  };
}

/** A part of the energy of a result in the unit of the figure: rows have it relative to the plain register file. */
function partOf(one, key) {
  const scale = one.energy_normalized ? quantity("energy", one, state.baseline) / one.energy_normalized : 0;
  return (one[key] ?? 0) * scale;
}

/** What the cycles of a warp go to, for timed results. */
function cycleParts(some) {
  const timed = some.filter((one) => one.stalls);
  if (!timed.length) return null;
  const causes = [...new Set(timed.flatMap((one) => Object.keys(one.stalls)))].filter((cause) => cause !== "empty");
  const rows = [...grouped(timed, "design")].map(([label, own]) => {
    const totals = causes.map((cause) => sum(own.map((one) => one.stalls[cause] ?? 0)));
    return { label, shares: totals.map((cycles) => cycles / sum(totals)) };
  });
  const main = causes.filter((_, at) => rows.some((row) => row.shares[at] >= 0.005));
  return {
    note: "What the resident warps do or wait for, as a share of their cycles.",
    traces: main.map((cause, place) => ({
      type: "bar",
      orientation: "h",
      name: plain(cause),
      y: rows.map((_, row) => row),
      x: rows.map((row) => row.shares[causes.indexOf(cause)]),
      marker: { color: series(place), pattern: hatched(place < OTHER ? "" : "/") },
      hovertext: rows.map((row) => plain(row.label)),
      hovertemplate: `<b>%{hovertext}</b><br>${plain(cause)}: %{x:.1%}<extra></extra>`,
    })),
    keys: main.map((title, place) => ({ title, color: series(place), isHatched: place >= OTHER })),
    layout: {
      ...legendAbove(),
      barmode: "stack",
      bargap: 0.25,
      height: (isNarrow() ? 90 : 130) + BAR * rows.length,
      xaxis: numbers("share of the cycles of warps", { tickformat: ".0%", range: [0, 1] }),
      yaxis: names(rows.map((row) => row.label), { autorange: "reversed", showgrid: false }),
    },
    columns: [
      { title: "Design", value: (row) => row.label },
      ...causes.map((cause, at) => ({
        title: cause,
        value: (row) => row.shares[at],
        show: (row) => format("elided", row.shares[at]),
      })),
    ],
    rows,
  };
}

/** A measure of every workload under every design. */
function heat() {
  const name = state.metric;
  const some = shown();
  const designs = summaries(some, "design", name).map((one) => one.label);
  const workloads = summaries(some, "workload", name).map((one) => one.label);
  if (!designs.length || workloads.length * designs.length < 2) return null;
  const cells = new Map([...grouped(some, "workload")].map(([workload, own]) => [workload, grouped(own, "design")]));
  const value = (workload, design) => {
    const own = cells.get(workload).get(design) ?? [];
    return mean(name, own.map((one) => quantity(name, one, state.baseline)).filter((found) => found !== null));
  };
  const upright = window.innerWidth < workloads.length * 9 + 120;
  const [across, down] = upright ? [designs, workloads] : [workloads, designs];
  const at = upright ? (x, y) => value(y, x) : (x, y) => value(x, y);
  const z = down.map((y) => across.map((x) => at(x, y)));
  return {
    note: `${capital(METRICS[name].better)} is better. Choose a cell to see the workload.`,
    traces: [{
      type: "heatmap",
      z,
      ...heatColours(name, z.flat().filter((one) => one !== null)),
      hoverongaps: false,
      xgap: 1,
      ygap: 1,
      text: down.map((y) => across.map((x) => `<b>${plain(x)}</b><br>${plain(y)}<br>${format(name, at(x, y))}`)),
      hovertemplate: "%{text}<extra></extra>",
      colorbar: {
        orientation: "h",
        thickness: 10,
        len: isNarrow() ? 1 : 0.4,
        nticks: 5,
        tickangle: 0,
        x: 0,
        xanchor: "left",
        y: 1,
        yanchor: "bottom",
        outlinewidth: 0,
        ...(METRICS[name].percent ? { tickformat: ".0%" } : {}),
      },
    }],
    layout: {
      height: 190 + down.length * (upright ? 15 : 20),
      xaxis: names(across, {
        tickangle: isNarrow() || across.length > FEW ? -90 : 0,
        showgrid: false,
        tickfont: { size: 10, color: colour("quiet") },
      }),
      yaxis: names(down, {
        autorange: "reversed",
        showgrid: false,
        tickfont: { size: upright ? 10 : 11, color: colour("quiet") },
      }),
    },
    target: (point) => address("workload", upright ? down[point.y] : across[point.x]),
    columns: [
      { title: "Workload", value: (row) => row, show: (row) => viewLink("workload", row) },
      ...designs.map((design) => ({
        title: design,
        value: (row) => value(row, design),
        show: (row) => format(name, value(row, design)),
      })),
    ],
    rows: workloads,
  };
}

/** Two colours that meet at the baseline, or one that grows. */
function heatColours(name, values) {
  const [worse, middle, better] = [colour("worse"), colour("middle"), colour("better")];
  const [low, high] = METRICS[name].better === "lower" ? [better, worse] : [worse, better];
  if (!isRelative(name, state.baseline)) {
    return { colorscale: METRICS[name].better === "lower" ? [[0, better], [1, middle]] : [[0, middle], [1, better]] };
  }
  const sorted = values.map((one) => Math.abs(one - 1)).sort((a, b) => a - b);
  const reach = quantile(sorted, 0.98) || 0.1;
  return { zmin: 1 - reach, zmax: 1 + reach, colorscale: [[0, low], [0.5, middle], [1, high]] };
}
