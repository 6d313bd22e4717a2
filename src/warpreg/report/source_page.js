"use strict";
// Lines of the source and their instructions: marks, movement by keyboard, and which columns are shown.

const main = document.getElementById("main");
const NARROW = 640;

for (const box of document.querySelectorAll("[data-part]")) {
  const show = () => main.classList.toggle(`hide-${box.dataset.part}`, !box.checked);
  if (box.dataset.part === "ranges" && window.innerWidth < NARROW) box.checked = false;
  box.addEventListener("change", show);
  show();
}

for (const kernel of document.querySelectorAll(".sides")) {
  const rows = [...kernel.querySelectorAll("tr[data-line]")];
  const byLine = Map.groupBy(rows, (row) => row.dataset.line);
  const sides = [...kernel.querySelectorAll(".side")].map((side) => ({
    side,
    rows: rows.filter((row) => side.contains(row)),
  }));
  const marked = new Set();

  const mark = (row) => {
    for (const one of marked) one.classList.remove("marked");
    marked.clear();
    for (const one of byLine.get(row.dataset.line)) {
      one.classList.add("marked");
      marked.add(one);
    }
  };

  /** The first row of the line on the other side. */
  const partner = (row) => byLine.get(row.dataset.line).find((one) => one.closest(".side") !== row.closest(".side"));

  const reveal = (row) => {
    const side = row.closest(".side");
    side.scrollTop += row.getBoundingClientRect().top - side.getBoundingClientRect().top - side.clientHeight / 2;
  };

  for (const { rows: own } of sides) {
    own.forEach((row, place) => {
      row.tabIndex = place ? -1 : 0; // one stop of the tab key for each side; the arrow keys move inside it
      row.addEventListener("mouseenter", () => mark(row));
      row.addEventListener("focus", () => mark(row));
      row.addEventListener("click", () => partner(row) && reveal(partner(row)));
      row.addEventListener("keydown", (event) => {
        const next = {
          ArrowDown: own[place + 1],
          ArrowUp: own[place - 1],
          Home: own[0],
          End: own.at(-1),
          Enter: partner(row),
        }[event.key];
        if (!next) return;
        event.preventDefault();
        const others = sides.find((side) => side.rows.includes(next)).rows;
        for (const one of others) one.tabIndex = one === next ? 0 : -1;
        next.focus();
        if (event.key !== "Enter" && partner(next)) reveal(partner(next));
      });
    });
  }
}
