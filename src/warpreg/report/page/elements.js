"use strict";
// Links, boxes and tables of the page.

const viewLink = (view, name, text = name) => el("a", { href: address(view, name) }, text);

/** A box that scrolls sideways if its content is wider, also by keyboard. */
const scrolling = (label, content) =>
  el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, content);

/**
 * A table that its headings sort.  A column has a `title`, and `value(row)`: a number, text or null; `show(row)` is what
 * stands in the cell, by default the value.
 */
function table(caption, columns, rows) {
  const body = el("tbody");
  const order = { column: null, down: false };
  const heads = columns.map((column) => {
    const head = el("th", { scope: "col", class: isNumeric(column, rows) ? "number" : "" });
    head.append(el("button", { type: "button", click: () => sortBy(column, head) }, column.title));
    return head;
  });
  fill(rows);
  const said = el("caption", {}, el("span", {}, caption));
  return scrolling(caption, el("table", {}, said, el("thead", {}, el("tr", {}, heads)), body));

  function sortBy(column, head) {
    order.down = order.column === column ? !order.down : isNumeric(column, rows);
    order.column = column;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    const sign = order.down ? -1 : 1;
    fill([...rows].sort((a, b) => sign * compareCells(column.value(a), column.value(b), sign)));
  }

  function fill(sorted) {
    body.replaceChildren(
      ...sorted.map((row) => el("tr", {}, columns.map((column, place) => cell(column, row, place)))),
    );
  }

  function cell(column, row, place) {
    const content = (column.show ?? ((one) => cellText(column.value(one))))(row);
    const kind = isNumeric(column, rows) ? "number" : column.class ?? "";
    return place === 0 ? el("th", { scope: "row", class: kind }, content) : el("td", { class: kind }, content);
  }
}

const cellText = (value) => (typeof value === "number" ? numberText(value) : value ?? "–");

function isNumeric(column, rows) {
  return rows.every((row) => typeof (column.value(row) ?? 0) === "number");
}

/** Cells without a value come last in either direction. */
function compareCells(a, b, sign) {
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : sign;
  if (b === null || b === undefined) return -sign;
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
}

/** A list of terms with what they mean; entries without a value are left out. */
function facts(entries) {
  const told = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el(
    "dl",
    { class: "facts" },
    told.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))),
  );
}

const heading = (text, ...more) => el("div", { class: "heading" }, el("h1", { tabindex: "-1" }, text), ...more);

/** A list of choices with a label. */
function choice(label, options, value, change) {
  const select = el("select", { change: (event) => change(event.target.value) });
  for (const [key, text] of options) select.append(el("option", { value: key, selected: key === value }, text));
  return el("label", { class: "choice" }, el("span", {}, label), select);
}
