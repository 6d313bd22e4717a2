// The source: a text area over the same text in colours, with numbers of lines beside it.

const TINTS = 6;
const source = byId("source");
const paint = byId("paint");
const gutter = byId("gutter");
const shownLines = []; // what the rows show, to draw only those that change
let tints = new Map(); // by line, the colour that it shares with its instructions
let faults = new Map(); // by line, its errors
let marked = 0;

const lineAt = (offset) => source.value.slice(0, offset).split("\n").length;
const lineHeight = () => parseFloat(getComputedStyle(source).lineHeight);

/** Draw the text again after it, its errors or its colours have changed. */
function drawSource() {
  const lines = painted(source.value);
  lines.forEach((pieces, place) => {
    const line = place + 1;
    const kind = [
      "row",
      tints.has(line) ? `tint-${tints.get(line)}` : "",
      faults.has(line) ? "fault" : "",
      line === marked ? "marked" : "",
    ].join(" ");
    const key = JSON.stringify([pieces, kind, faults.get(line) ?? []]);
    if (shownLines[place] === key) return;
    shownLines[place] = key;
    put(paint, place, el("div", { class: kind }, drawn(pieces, line)));
    put(gutter, place, el("div", { class: kind, title: faults.get(line)?.map((one) => one.message).join("\n") }, `${line}`));
  });
  for (const rows of [paint, gutter]) while (rows.children.length > lines.length) rows.lastChild.remove();
  shownLines.length = lines.length;
  scrolled();
}

function put(parent, place, row) {
  if (place < parent.children.length) parent.children[place].replaceWith(row);
  else parent.append(row);
}

/** The pieces of a line, with a mark at the columns of its errors. */
function drawn(pieces, line) {
  const columns = new Set((faults.get(line) ?? []).map((one) => one.column - 1));
  const parts = [];
  let at = 0;
  for (const [text, kind] of pieces) {
    let piece = "";
    for (const letter of text) {
      if (columns.has(at)) {
        parts.push(kind ? el("span", { class: kind }, piece) : piece, el("span", { class: `${kind} here` }, letter));
        piece = "";
      } else piece += letter;
      at += letter.length;
    }
    parts.push(kind ? el("span", { class: kind }, piece) : piece);
  }
  if ([...columns].some((column) => column >= at)) parts.push(el("span", { class: "here" }, " "));
  return parts;
}

function scrolled() {
  paint.style.transform = `translate(${-source.scrollLeft}px, ${-source.scrollTop}px)`;
  gutter.style.transform = `translateY(${-source.scrollTop}px)`;
}

/** Mark a line of the source; 0 marks none. */
function markSource(line) {
  if (line === marked) return;
  for (const rows of [paint, gutter]) {
    rows.children[marked - 1]?.classList.remove("marked");
    rows.children[line - 1]?.classList.add("marked");
  }
  for (const number of [marked, line]) shownLines[number - 1] = "";
  marked = line;
}

/** Scroll a line of the source into view. */
function revealSource(line) {
  const top = (line - 1) * lineHeight();
  if (top < source.scrollTop || top > source.scrollTop + source.clientHeight - 2 * lineHeight()) {
    source.scrollTop = top - source.clientHeight / 2;
  }
}

/** Put the caret at a line and column. */
function goTo(line, column = 1) {
  const lines = source.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  const offset = before + Math.min(Math.max(column, 1) - 1, (lines[line - 1] ?? "").length);
  source.focus();
  source.setSelectionRange(offset, offset);
  revealSource(line);
}

/** The line under the pointer. */
function lineUnder(event) {
  const box = source.getBoundingClientRect();
  const padding = parseFloat(getComputedStyle(source).paddingTop);
  const line = Math.floor((event.clientY - box.top - padding + source.scrollTop) / lineHeight()) + 1;
  return line >= 1 && line <= shownLines.length ? line : 0;
}

/** A new line begins where the one before does. */
function indented(event) {
  const { selectionStart: start, value } = source;
  const [blanks] = value.slice(value.lastIndexOf("\n", start - 1) + 1, start).match(/^[ \t]*/);
  if (!blanks) return;
  event.preventDefault();
  document.execCommand("insertText", false, `\n${blanks}`); // unlike an assignment, it can be undone
}

function nextFault(step) {
  const lines = [...faults.keys()].sort((a, b) => step * (a - b));
  const now = lineAt(source.selectionStart);
  const line = lines.find((one) => step * (one - now) > 0) ?? lines[0];
  if (line) goTo(line, faults.get(line)[0].column);
}
