"use strict";
// Shows the view of the address, and again whatever changes; themes and printing.

const main = document.getElementById("main");
const THEMES = ["auto", "light", "dark"];
let view = { figures: [] };
let pending = null;
let waiting = [];
let drawing = null;

/** Replace the view by that of the address; `focused` moves the focus to its heading. */
function openView(focused) {
  readAddress();
  for (const plot of main.querySelectorAll(".plot")) Plotly.purge(plot);
  view = (VIEWS[state.view] ?? overview)(state.name);
  main.replaceChildren(...view.nodes.filter(Boolean));
  document.title = `${view.title} · Warpreg`;
  const figures = main.querySelector("figure") !== null || state.view === "workloads";
  document.getElementById("controls").hidden = !figures || !results.length || state.view === "papers";
  showControls();
  update();
  if (focused) {
    main.querySelector("h1").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
}

/** Draw again what depends on the state, and the links that carry it. */
function update() {
  pending = null;
  showNavigation();
  redraw();
  document.getElementById("status").textContent = `${many(shown().length, "result")} shown.`;
}

/** Change the state; figures follow before the next frame. */
function change(values) {
  Object.assign(state, values);
  history.replaceState(null, "", address(state.view, state.name));
  pending ??= requestAnimationFrame(update);
}

function showNavigation() {
  const current = { workload: "workloads", design: "designs" }[state.view] ?? state.view;
  document.getElementById("views").replaceChildren(
    ...NAVIGATION.map(([name, text]) =>
      el("a", { href: address(name), "aria-current": name === current ? "page" : null }, text)
    ),
  );
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.textContent = { auto: "Auto", light: "Light", dark: "Dark" }[theme];
  button.setAttribute("aria-label", `${button.textContent}: colours of the page`);
  redraw();
}

/** Draw what the window shows, then the rest, one figure at a time, so that the page answers in between. */
function redraw() {
  knownColours.clear();
  clearTimeout(drawing);
  const inWindow = ({ node }) => !node || node.getBoundingClientRect().top < window.innerHeight;
  waiting = view.figures.filter((one) => !inWindow(one));
  for (const one of view.figures.filter(inWindow)) one.update();
  drawNext();
}

function drawNext() {
  main.setAttribute("aria-busy", String(waiting.length > 0));
  if (!waiting.length) return;
  drawing = setTimeout(() => {
    waiting.shift().update();
    drawNext();
  });
}

/** Draw what waits, at once. */
function drawAll() {
  clearTimeout(drawing);
  for (const one of waiting) one.update();
  waiting = [];
  drawNext();
}

/** Figures as wide as the paper and in light colours, while the page is printed. */
function layOutFor(width, theme) {
  printing.width = width;
  document.documentElement.dataset.theme = theme;
  redraw();
  drawAll();
}

const PAPER = 700;
let screenTheme = "auto";
window.addEventListener("beforeprint", () => {
  screenTheme = document.documentElement.dataset.theme;
  layOutFor(PAPER, "light");
});
window.addEventListener("afterprint", () => layOutFor(null, screenTheme));
window.addEventListener("hashchange", () => openView(true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
matchMedia(`(max-width: ${NARROW}px)`).addEventListener("change", redraw);
document.addEventListener("click", (event) => {
  for (const list of document.querySelectorAll(".filter[open]")) if (!list.contains(event.target)) list.open = false;
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.getElementById("theme").addEventListener("click", () => {
  const now = THEMES.indexOf(document.documentElement.dataset.theme);
  setTheme(THEMES[(now + 1) % THEMES.length]);
});
document.getElementById("origin").textContent = report.codes.length
  ? `Measured by warpreg ${report.codes.join(", ")}.`
  : "";
document.documentElement.dataset.theme = "auto";
openView(false);
