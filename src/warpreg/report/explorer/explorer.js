// Compiles what is in the editor, after each pause, and shows the answer.

const PAUSE_MS = 350;
const PAGE = crypto.randomUUID();
const status = byId("status");
const options = { ...DATA.options };
let asked = 0;
let waiting = 0;
let running = new AbortController();

/** Compile soon: a change that follows at once is compiled with it. */
function compile(pause = 0) {
  clearTimeout(waiting);
  byId("main").setAttribute("aria-busy", "true");
  waiting = setTimeout(ask, pause);
}

async function ask() {
  const number = ++asked;
  running.abort(); // the server ends the older compilation as well
  running = new AbortController();
  const shown = (viewNow()?.code ?? shownTitle).split(" ")[0];
  status.textContent = "Compiling …";
  const body = JSON.stringify({
    page: PAGE, text: source.value, shown, designs: Object.fromEntries(chosen), ...options,
  });
  let answer;
  try {
    const response = await fetch("compile", { method: "POST", body, signal: running.signal });
    answer = response.ok ? await response.json() : wrong(await response.text());
  } catch {
    answer = wrong("The server does not answer; 'warpreg explain --serve' has ended.");
  }
  if (number !== asked) return; // a newer text has been sent
  show(answer);
  byId("main").setAttribute("aria-busy", "false");
}

const wrong = (message) => ({ problems: [{ message: message.trim(), line: 0, column: 0 }], kernels: [] });

function show({ problems, kernels: found, left_out: leftOut }) {
  faults = new Map();
  for (const one of problems) if (one.line) faults.set(one.line, [...(faults.get(one.line) ?? []), one]);
  const list = byId("problems");
  list.hidden = !problems.length;
  list.replaceChildren(...problems.map(entry));
  panel.classList.toggle("stale", problems.length > 0);
  if (problems.length) drawSource();
  else showKernels(found, leftOut);
  status.textContent = problems.length ? `${problems.length} error${problems.length > 1 ? "s" : ""}` : told();
}

/** An error; one that names a line leads there. */
function entry(one) {
  if (!one.line) return el("li", {}, one.message);
  const go = () => goTo(one.line, one.column);
  return el("li", {}, el("button", { type: "button", click: go }, place(one).slice(0, -2)), " ", one.message);
}

const told = () =>
  viewsNow().filter((view) => view.facts.Registers !== undefined)
    .map((view) => `${titled(view)}: ${view.facts.Registers} registers`).join(", ");

function drawControls() {
  const [low, high] = DATA.limits;
  const limit = el("input", {
    type: "number", min: low, max: high, step: 1, placeholder: "none", value: options.max_registers ?? "",
    change: ({ target }) => {
      options.max_registers = target.value === "" ? null : Number(target.value);
      compile();
    },
  });
  const schedule = el("input", {
    type: "checkbox", checked: options.schedule,
    change: ({ target }) => {
      options.schedule = target.checked;
      compile();
    },
  });
  const bits = choice("Address bits", [["64", "64"], ["32", "32"]], `${options.address_bits}`, (value) => {
    options.address_bits = Number(value);
    compile();
  });
  byId("controls").append(
    el("label", { class: "choice" }, el("span", {}, "Register limit"), limit),
    bits,
    el("label", { class: "check" }, schedule, " Reorder instructions"),
  );
}

function edited() {
  byId("reset").disabled = source.value === DATA.text;
  drawSource();
  compile(PAUSE_MS);
}

function restore() {
  source.value = DATA.text;
  edited();
  source.focus();
}

function download() {
  const link = el("a", { href: URL.createObjectURL(new Blob([source.value], { type: "text/plain" })), download: DATA.name });
  link.click();
  URL.revokeObjectURL(link.href);
}

source.value = DATA.text;
source.addEventListener("input", edited);
source.addEventListener("scroll", scrolled);
source.addEventListener("mousemove", (event) => mark(lineUnder(event)));
source.addEventListener("click", () => revealCode(lineAt(source.selectionStart)));
source.addEventListener("keydown", (event) => {
  if (event.key === "F8") {
    event.preventDefault();
    nextFault(event.shiftKey ? -1 : 1);
  } else if (event.key === "Enter" && event.ctrlKey) {
    const row = revealCode(lineAt(source.selectionStart));
    if (row) focusRow(row);
  } else if (event.key === "Enter" && !event.isComposing) indented(event);
});
document.addEventListener("selectionchange", () => {
  if (document.activeElement !== source) return;
  const line = lineAt(source.selectionStart);
  if (line === marked) return;
  mark(line);
  revealCode(line);
});
panel.addEventListener("keydown", moveRow);
panel.addEventListener("mouseover", ({ target }) => mark(Number(target.closest("tr[data-pc]")?.dataset.line ?? 0)));
panel.addEventListener("focusin", ({ target }) => {
  const line = Number(target.closest("tr[data-pc]")?.dataset.line ?? 0);
  mark(line);
  if (line) revealSource(line);
});
panel.addEventListener("click", ({ target }) => {
  const row = target.closest("tr[data-line]");
  if (row) revealSource(Number(row.dataset.line));
});
byId("reset").addEventListener("click", restore);
byId("download").addEventListener("click", download);
window.addEventListener("beforeunload", (event) => {
  if (source.value !== DATA.text) event.preventDefault(); // the browser asks whether to leave
});

drawControls();
drawDesigns();
drawSource();
compile();
