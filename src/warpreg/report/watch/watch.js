"use strict";
// Asks for the state every two seconds while the page is visible, and changes only what differs, so that the focus and
// what a reader has opened stay. All words of the state are shown as text.
(() => {
  const PERIOD_MS = 2000;
  const NAMES = {
    results: "results",
    elided: "elided",
    energy_normalized: "energy, normalized",
    speed: "speed",
    cycles: "cycles",
  };
  const known = new Map(); // state and number of failures by id
  const byId = (id) => document.getElementById(id);

  function element(name, className) {
    const made = document.createElement(name);
    if (className) made.className = className;
    return made;
  }

  function put(where, text) {
    if (where.textContent !== text) where.textContent = text;
    where.hidden = text === "";
  }

  function created(id, number) {
    const card = element("article");
    card.id = `card-${number}`;
    card.dataset.id = id;
    const top = element("div", "top");
    const title = element("h2");
    title.id = `title-${number}`;
    card.setAttribute("aria-labelledby", title.id);
    top.append(title, element("span", "state"));
    const bar = element("progress");
    bar.setAttribute("aria-labelledby", title.id);
    const failures = element("details", "failures");
    failures.open = true;
    failures.append(element("summary"), element("ul"));
    const scroll = element("div", "scroll");
    scroll.append(element("table"));
    card.append(
      top,
      element("p", "step"),
      bar,
      element("p", "progress"),
      element("p", "facts quiet"),
      element("p", "why"),
      element("ul", "notes"),
      failures,
      scroll,
    );
    return card;
  }

  function list(where, texts) {
    while (where.children.length > texts.length) where.lastChild.remove();
    texts.forEach((text, place) => {
      const item = where.children[place] || where.appendChild(element("li"));
      put(item, text);
    });
    where.hidden = texts.length === 0;
  }

  function number(value) {
    if (Number.isInteger(value) || value >= 1000) return Math.round(value).toLocaleString("en");
    return value.toPrecision(3);
  }

  function table(where, rows) {
    where.parentElement.hidden = rows.length === 0;
    const text = JSON.stringify(rows);
    if (where.dataset.rows === text) return;
    where.dataset.rows = text;
    where.replaceChildren();
    if (rows.length === 0) return;
    const columns = Object.keys(NAMES).filter((name) => rows.some((row) => name in row));
    const caption = where.createCaption();
    caption.textContent = "Means";
    const head = where.createTHead().insertRow();
    for (const name of ["design", ...columns]) {
      const cell = element("th");
      cell.scope = "col";
      cell.textContent = NAMES[name] || name;
      head.append(cell);
    }
    const body = where.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      const design = element("th");
      design.scope = "row";
      design.textContent = row.design;
      line.append(design);
      for (const name of columns) line.insertCell().textContent = name in row ? number(row[name]) : "";
    }
  }

  function update(card, one) {
    const part = (selector) => card.querySelector(selector);
    if (card.dataset.state !== one.state) card.dataset.state = one.state;
    put(part("h2"), one.title);
    put(part(".state"), one.state);
    put(part(".step"), one.step);
    put(part(".progress"), one.progress);
    put(part(".facts"), one.facts);
    put(part(".why"), one.why);
    const bar = part("progress");
    bar.hidden = one.total === 0;
    bar.max = Math.max(1, one.total);
    bar.value = one.done;
    bar.setAttribute("aria-valuetext", one.progress);
    list(part(".notes"), one.notes);
    const count = one.failures.length + one.more_failures;
    const more = one.more_failures ? [`${one.more_failures} more`] : [];
    part(".failures").hidden = count === 0;
    put(part("summary"), `${count} failed`);
    list(part(".failures ul"), [...one.failures.map((failure) => `${failure.what}: ${failure.why}`), ...more]);
    table(part("table"), one.figures);
  }

  function show(where, ones) {
    const cards = new Map([...where.children].map((card) => [card.dataset.id, card]));
    ones.forEach((one, place) => {
      const card = cards.get(one.id) || created(one.id, `${where.id}-${cards.size + place}-${Date.now()}`);
      cards.delete(one.id);
      update(card, one);
      if (where.children[place] !== card) where.insertBefore(card, where.children[place] || null);
    });
    for (const card of cards.values()) card.remove();
  }

  function changes(ones) {
    const told = [];
    for (const one of ones) {
      const count = one.failures.length + one.more_failures;
      const before = known.get(one.id);
      if (before && before.state !== one.state) told.push(`${one.title}: ${one.state}`);
      if (before && before.count < count) told.push(`${one.title}: ${count} failed`);
      known.set(one.id, { state: one.state, count });
    }
    return told;
  }

  async function refresh() {
    try {
      const answer = await fetch("state", { cache: "no-store" });
      if (!answer.ok) throw new Error(await answer.text());
      const state = await answer.json();
      put(byId("store"), state.store);
      put(byId("updated"), `updated ${new Date().toLocaleTimeString()}`);
      byId("none").hidden = state.commands.length + state.studies.length > 0;
      show(byId("studies"), state.studies);
      show(byId("commands"), state.commands);
      const told = changes([...state.studies, ...state.commands]);
      if (told.length) byId("said").textContent = told.join(". ");
      put(byId("lost"), "");
      document.body.dataset.updates = Number(document.body.dataset.updates || 0) + 1;
    } catch (error) {
      put(byId("lost"), `The server does not answer: 'warpreg watch' has ended, or ${error.message}.`);
    }
  }

  async function loop() {
    if (!document.hidden) await refresh();
    setTimeout(loop, PERIOD_MS);
  }

  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  loop();
})();
