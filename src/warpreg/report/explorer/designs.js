// Designs beside the code: which ones, and the values of their parameters.

const chosen = new Map(Object.entries(DATA.chosen).map(([name, values]) => [name, { ...values }]));
const designOf = new Map(DATA.designs.map((design) => [design.name, design]));

function drawDesigns() {
  const rest = DATA.designs.filter((design) => !chosen.has(design.name));
  const add = choice("Add a design", [["", "choose …"], ...rest.map((one) => [one.name, one.shown])], "", (name) => {
    if (!name) return;
    chosen.set(name, {});
    drawDesigns();
    byId("designs").querySelector("select").focus();
    compile();
  });
  byId("designs").replaceChildren(...[...chosen.keys()].map(card), add);
}

function card(name) {
  const design = designOf.get(name);
  const remove = () => {
    chosen.delete(name);
    drawDesigns();
    byId("designs").querySelector("select").focus();
    compile();
  };
  const values = el("span", { class: "quiet" });
  const tell = () => values.textContent = Object.entries(chosen.get(name)).map(([key, value]) => `${key}=${value}`).join(", ");
  tell();
  const parameters = design.parameters.map((one) => parameter(name, one, tell));
  return el(
    "div",
    { class: "card" },
    el(
      "details",
      {},
      el("summary", { title: design.summary }, design.shown, " ", values),
      el("div", { class: "choices" }, el("p", { class: "quiet" }, design.summary), parameters),
    ),
    el("button", { type: "button", "aria-label": `Remove ${design.shown}`, title: "Remove", click: remove }, "×"),
  );
}

function parameter(name, spec, tell) {
  const values = chosen.get(name);
  const set = (value) => {
    values[spec.name] = value;
    tell();
    compile();
  };
  const value = values[spec.name] ?? spec.default;
  if (spec.choices.length) return choice(spec.name, spec.choices.map((one) => [one, one]), value, set);
  const kind = spec.is_number ? { type: "number", step: "any", min: spec.low, max: spec.high } : { type: "text" };
  const input = el("input", { ...kind, value, title: spec.expected, change: (event) => set(event.target.value) });
  return el("label", { class: "choice" }, el("span", {}, spec.name), input);
}

/** Parameters close at Escape, and where the user does something else. */
function closeCards(event) {
  for (const open of byId("designs").querySelectorAll("details[open]")) {
    if (event.key !== "Escape" && open.contains(event.target)) continue;
    open.open = false;
    if (event.key === "Escape") open.querySelector("summary").focus();
  }
}
document.addEventListener("keydown", (event) => event.key === "Escape" && closeCards(event));
document.addEventListener("pointerdown", closeCards);
