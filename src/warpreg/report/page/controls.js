"use strict";
// The controls above the figures: measure, baseline, order and filters.

const SORTS = [["value", "value"], ["name", "name"], ["given", "order of the study"]];
const MANY = 12;

function showControls() {
  const metrics = MEASURED.map((name) => [name, METRICS[name].title]);
  const baselines = [[PLAIN, "the plain register file"], ...axisOf.design.values.map((label) => [label, label]), [
    ABSOLUTE,
    "nothing: with units",
  ]];
  document.getElementById("controls").replaceChildren(
    choice("Measure", metrics, state.metric, (metric) => change({ metric })),
    choice("Relative to", baselines, state.baseline, (baseline) => change({ baseline })),
    choice("Order", SORTS, state.sort, (sort) => change({ sort })),
    ...AXES.filter((axis) => axis.values.length > 1).map(filter),
  );
}

/** Which values of an axis are shown. */
function filter(axis) {
  const hidden = state.hidden[axis.key];
  const told = el("span", { class: "quiet" });
  const boxes = axis.values.map((value) => {
    const box = el("input", {
      type: "checkbox",
      checked: !hidden.has(value),
      change: () => choose([value], box.checked),
    });
    return { value, box, line: el("label", {}, box, value) };
  });
  const search = el("input", {
    type: "search",
    placeholder: "Find",
    "aria-label": `Find among ${axis.title}`,
    input: find,
  });
  const all = (checked) => () => choose(boxes.filter(({ line }) => !line.hidden).map(({ value }) => value), checked);
  tell();
  return el(
    "details",
    { class: "filter", name: "filter", keydown: closeOnEscape },
    el("summary", {}, `${axis.title} `, told),
    el(
      "div",
      { class: "choices" },
      axis.values.length > MANY ? search : [],
      el(
        "div",
        { class: "all" },
        el("button", { type: "button", click: all(true) }, "All"),
        el("button", { type: "button", click: all(false) }, "None"),
      ),
      el("fieldset", {}, el("legend", { class: "spoken" }, axis.title), boxes.map(({ line }) => line)),
    ),
  );

  function choose(values, checked) {
    for (const value of values) {
      if (checked) hidden.delete(value);
      else hidden.add(value);
    }
    for (const { value, box } of boxes) box.checked = !hidden.has(value);
    tell();
    change({});
  }

  function tell() {
    const shownNow = axis.values.length - axis.values.filter((value) => hidden.has(value)).length;
    told.textContent = hidden.size ? `${shownNow} of ${axis.values.length}` : String(axis.values.length);
  }

  function find() {
    const wanted = search.value.toLowerCase();
    for (const { value, line } of boxes) line.hidden = !value.toLowerCase().includes(wanted);
  }

  function closeOnEscape(event) {
    if (event.key !== "Escape") return;
    event.currentTarget.open = false;
    event.currentTarget.firstElementChild.focus();
  }
}
