"use strict";
// What the server has put into the page, and its choices.

const byId = (id) => document.getElementById(id);
const DATA = JSON.parse(byId("data").textContent);

/** A list of choices with a label. */
function choice(label, options, value, change) {
  const select = el("select", { change: (event) => change(event.target.value) });
  for (const [key, text] of options) select.append(el("option", { value: key, selected: key === value }, text));
  return el("label", { class: "choice" }, el("span", {}, label), select);
}
