"use strict";
// Elements of the page.  Names of users and messages of compilers become text nodes, so none can become markup.

const byId = (id) => document.getElementById(id);
const DATA = JSON.parse(byId("data").textContent);

/** An element with attributes (functions are listeners) and children (text or elements). */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** A list of choices with a label. */
function choice(label, options, value, change) {
  const select = el("select", { change: (event) => change(event.target.value) });
  for (const [key, text] of options) select.append(el("option", { value: key, selected: key === value }, text));
  return el("label", { class: "choice" }, el("span", {}, label), select);
}
