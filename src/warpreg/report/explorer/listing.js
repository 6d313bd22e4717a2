// The code beside the source: a tab for each view, and rows that share the marks of their lines.

const tabs = byId("tabs");
const panel = byId("panel");
const first = new Map(); // by title, registers of the text as it was opened
let kernels = [];
let kernelName = "";
let shownTitle = DATA.codes[0];

const titled = (view) => view.title.replace(/^warpreg/, "Warpreg");
const viewsNow = () => (kernels.find((one) => one.name === kernelName) ?? kernels[0])?.views ?? [];
const viewNow = () => viewsNow().find((one) => one.title === shownTitle) ?? viewsNow()[0];
const rowsNow = () => [...panel.querySelectorAll("tr[data-pc]")];

/** Show kernels that have just been compiled. */
function showKernels(found, leftOut) {
  kernels = found;
  if (!kernels.some((one) => one.name === kernelName)) kernelName = kernels[0]?.name ?? "";
  for (const { title, facts } of kernels.flatMap((kernel) => kernel.views.map((view) => ({ ...view, title: key(kernel, view) })))) {
    if (!first.has(title) && facts.Registers !== undefined) first.set(title, facts.Registers);
  }
  const list = byId("kernels");
  list.hidden = kernels.length < 2;
  const names = kernels.map((one) => [one.name, one.shown]);
  const label = leftOut ? `Kernel (${leftOut} more are not compiled)` : "Kernel";
  list.replaceChildren(choice(label, names, kernelName, (name) => {
    kernelName = name;
    drawViews();
  }));
  drawViews();
}

const key = (kernel, view) => `${kernel.name} ${view.title}`;

function drawViews() {
  const now = viewNow();
  const hasFocus = tabs.contains(document.activeElement);
  tabs.replaceChildren(...viewsNow().map((view) => tab(view, view === now)));
  if (hasFocus) tabs.querySelector("[aria-selected=true]").focus();
  drawPanel();
}

function tab(view, isShown) {
  const registers = view.facts.Registers;
  const more = registers - (first.get(`${kernelName} ${view.title}`) ?? registers);
  const change = more ? el("span", { class: more > 0 ? "more" : "less" }, more > 0 ? `+${more}` : `−${-more}`) : null;
  const count = registers === undefined ? el("span", { class: "wrong" }, "error") : el("b", {}, `${registers}`);
  return el(
    "button",
    {
      type: "button", role: "tab", id: `tab-${view.title}`, "aria-selected": `${isShown}`, "aria-controls": "panel",
      tabindex: isShown ? "0" : "-1", click: () => choose(view), keydown: moveTab,
      title: "Registers of a thread, and how many more than in the file",
    },
    titled(view), " ", count, " ", change,
  );
}

function choose(view) {
  shownTitle = view.title;
  drawViews();
  byId(`tab-${view.title}`).focus();
  if (chosen.size && !view.title.includes("·")) compile(); // designs are asked about the code that is shown
}

function moveTab(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const views = viewsNow();
  const now = views.indexOf(viewNow());
  choose(views[(now + step + views.length) % views.length]);
}

function drawPanel() {
  const view = viewNow();
  if (!view) return;
  const top = panel.querySelector(".rows")?.scrollTop ?? 0;
  const focused = panel.contains(document.activeElement) ? document.activeElement.dataset.pc : undefined;
  panel.setAttribute("aria-labelledby", `tab-${view.title}`);
  const facts = Object.entries(view.facts).filter(([name, value]) => value || !name.endsWith("bytes"));
  panel.replaceChildren(
    el("dl", {}, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value.toLocaleString("en"))))),
    ...view.problems.map((one) => el("p", { class: "problem" }, place(one), one.message)),
  );
  panel.insertAdjacentHTML("beforeend", view.table); // made and escaped by the server
  const lines = [...new Set(rowsNow().map((row) => Number(row.dataset.line ?? 0)))].filter(Boolean).sort((a, b) => a - b);
  tints = new Map(lines.map((line, at) => [line, at % TINTS]));
  rowsNow().forEach((row, at) => {
    row.tabIndex = at ? -1 : 0; // one stop of the tab key; the arrow keys move inside
    if (row.dataset.line) row.classList.add(`tint-${tints.get(Number(row.dataset.line))}`);
  });
  const rows = panel.querySelector(".rows");
  if (rows) rows.scrollTop = top;
  const again = panel.querySelector(`tr[data-pc="${focused}"]`);
  if (again) focusRow(again);
  drawSource();
  mark(marked);
}

const place = (one) => (one.line ? `line ${one.line}${one.column ? `:${one.column}` : ""}: ` : "");

/** Mark a line of the source and its instructions. */
function mark(line) {
  markSource(line);
  for (const row of panel.querySelectorAll("tr.marked")) row.classList.remove("marked");
  if (line) for (const row of panel.querySelectorAll(`tr[data-line="${line}"]`)) row.classList.add("marked");
}

/** Scroll the instructions of a line into view. */
function revealCode(line) {
  const row = panel.querySelector(`tr[data-line="${line}"]`);
  const rows = panel.querySelector(".rows");
  if (!row) return null;
  const box = rows.getBoundingClientRect();
  const own = row.getBoundingClientRect();
  if (own.top < box.top + 40 || own.bottom > box.bottom) rows.scrollTop += own.top - box.top - rows.clientHeight / 2;
  return row;
}

function moveRow(event) {
  const row = event.target.closest("tr[data-pc]");
  if (!row) return;
  if (event.key === "Enter" && row.dataset.line) {
    event.preventDefault();
    goTo(Number(row.dataset.line));
    return;
  }
  const own = rowsNow();
  const now = own.indexOf(row);
  const next = { ArrowDown: own[now + 1], ArrowUp: own[now - 1], Home: own[0], End: own.at(-1) }[event.key];
  if (!next) return;
  event.preventDefault();
  focusRow(next);
}

function focusRow(row) {
  for (const one of rowsNow()) one.tabIndex = one === row ? 0 : -1;
  row.focus();
}
