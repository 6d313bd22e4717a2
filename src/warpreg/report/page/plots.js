"use strict";
// How every plot looks: colours of the style sheet, one layout, and a table behind each.

const NARROW = 640;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const BAR = 26;
const BUTTONS = { displaylogo: false, responsive: true, modeBarButtons: [["toImage", "resetScale2d"]] };
const printing = { width: null };

const knownColours = new Map();

/** A colour of the style sheet, as the current theme has it. */
function colour(name) {
  if (!knownColours.has(name)) {
    const probe = el("span", { style: `color: var(--${name})` });
    document.body.append(probe);
    knownColours.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return knownColours.get(name);
}

/** Text for a plot, where it would be read as markup. */
const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const isNarrow = () => window.innerWidth < NARROW;

/** A name beside a plot, shortened in its middle to its place. */
function tick(text, longest = isNarrow() ? 17 : 34) {
  const half = Math.floor(longest / 2);
  return plain(text.length > longest ? `${text.slice(0, half)}…${text.slice(-half)}` : text);
}

/** An axis of names at the places 0, 1, 2, ... */
const names = (labels, more = {}) => ({
  tickvals: labels.map((_, place) => place),
  ticktext: labels.map((label) => tick(label)),
  automargin: true,
  zeroline: false,
  ...more,
});

const numbers = (title, more = {}) => ({
  title: { text: isNarrow() ? plain(title).replace(", ", "<br>") : plain(title), standoff: 10 },
  automargin: true,
  rangemode: "tozero",
  ...more,
});

function layoutOf(own) {
  const [ink, quiet, line] = [colour("ink"), colour("quiet"), colour("line")];
  const axis = (given = {}) => ({
    gridcolor: line,
    zerolinecolor: line,
    linecolor: line,
    tickfont: { color: quiet },
    ...given,
  });
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: FONT, size: 12, color: ink },
    margin: { l: 8, r: 16, t: 30, b: 8 },
    hoverlabel: { bgcolor: colour("raised"), bordercolor: line, font: { color: ink, family: FONT }, align: "left" },
    legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", xanchor: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: quiet, activecolor: ink },
    ...own,
    width: printing.width ?? undefined,
    xaxis: axis(own.xaxis),
    yaxis: axis(own.yaxis),
  };
}

/** A legend above a plot; on a phone it is a list of the page, which has room for its lines. */
const legendAbove = () => ({
  showlegend: !isNarrow(),
  legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", xanchor: "left", traceorder: "normal" },
});

const keyOf = ({ title, color, isHatched }) =>
  el("li", {}, el("span", { class: isHatched ? "key hatched" : "key", style: `--key: ${color}` }), title);

/**
 * A figure with heading, note, plot and table.  `build()` returns its `note`, `traces`, `layout`, `columns` and `rows`,
 * perhaps the `keys` of its colours, or null where there is nothing to show; it is called again at every change.
 */
function figure(id, title, build, controls = null) {
  const note = el("p", { class: "note" });
  const plot = el("div", { class: "plot", role: "group" });
  const keys = el("ul", { class: "keys" });
  const data = el("details", { class: "data", toggle: fillTable }, el("summary", {}, "Show as a table"));
  const caption = el("h2", { id: `${id}-title` }, title);
  const node = el(
    "figure",
    { id, "aria-labelledby": `${id}-title` },
    el("figcaption", {}, el("div", { class: "figure-head" }, caption, controls ?? []), note, keys),
    plot,
    data,
  );
  let built = null;

  function fillTable() {
    if (data.open && built) data.replaceChildren(data.firstElementChild, table(title, built.columns, built.rows));
  }

  function update() {
    built = build();
    node.hidden = built === null;
    if (!built) return;
    note.textContent = built.note;
    keys.replaceChildren(...(isNarrow() ? built.keys ?? [] : []).map(keyOf));
    plot.setAttribute("aria-label", `${title}. ${built.note} The table below has the same values.`);
    Plotly.react(plot, built.traces, layoutOf(built.layout), { ...BUTTONS, displayModeBar: !isNarrow() });
    for (const drawn of plot.querySelectorAll("svg.main-svg")) drawn.setAttribute("aria-hidden", "true");
    plot.removeAllListeners?.("plotly_click");
    plot.on("plotly_click", ({ points }) => {
      const target = built.target?.(points[0]);
      if (target) location.hash = target;
    });
    fillTable();
  }
  return { node, update };
}
