// The left: the tree. Only the rows in sight are in the page.

const ROW = 28; // height of a row, as page.css has it

let rows = [];
const folded = new Set();

function listRows() {
  const wanted = new Set(scope());
  const all = ROWS.filter((row) => wanted.has(row.doc));
  all.forEach((row, index) => (row.opens = all[index + 1]?.depth > row.depth));
  rows = [];
  if (narrowed()) {
    // From the end: a row that is wanted needs those it hangs from.
    let need = 0;
    for (const row of [...all].reverse()) {
      const wants = row.chunk !== null && !row.elsewhere && row.chunk.hits >= 0;
      if (!wants && row.depth >= need) continue;
      need = row.depth;
      rows.push(row);
    }
    rows.reverse();
    return;
  }
  let closed = Infinity;
  for (const row of all) {
    if (row.depth > closed) continue;
    closed = folded.has(row) ? row.depth : Infinity;
    rows.push(row);
  }
}

function drawOutline() {
  const box = byId("outline");
  const list = box.firstElementChild;
  list.style.height = `${rows.length * ROW}px`;
  const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 8);
  const last = Math.min(rows.length, first + Math.ceil(box.clientHeight / ROW) + 16);
  list.replaceChildren(...rows.slice(first, last).map((row, index) => drawRow(row, first + index)));
}

function drawRow(row, index) {
  const { chunk, depth } = row;
  const name = row.title === null ? rowName(chunk) : row.title || "No heading";
  const classes = [
    depth ? "" : "root",
    row.title === null ? "part" : "",
    row.elsewhere ? "elsewhere" : "",
    chunk && chunk === state.chunk && !row.elsewhere ? "current" : "",
  ];
  const item = make("li", { class: classes.filter(Boolean).join(" ") });
  item.style.top = `${index * ROW}px`;
  item.style.paddingLeft = `${8 + Math.min(depth, 9) * 13}px`;
  if (row.opens && !narrowed()) {
    const open = !folded.has(row);
    item.append(
      button(
        open ? "▾" : "▸",
        { "aria-expanded": String(open), "aria-label": `${open ? "Fold" : "Unfold"} ${name}` },
        () => {
          if (!folded.delete(row)) folded.add(row);
          listRows();
          drawOutline();
        },
      ),
    );
  } else item.append(make("span", { class: "gap" }));
  if (!chunk) {
    item.append(make("span", { class: "name", dir: "auto", title: name }, name));
    return item;
  }
  const title = row.elsewhere ? `${name} (in ${label(chunk)})` : name;
  item.append(make("a", { class: "name", href: address(chunk), dir: "auto", title }, name));
  if (row.elsewhere) item.append(make("small", null, label(chunk)));
  else
    item.append(
      meter(chunk),
      make(
        "small",
        {
          class: chunk.forced ? "alert" : null,
          title: chunk.forced ? "tokens; forced split" : "tokens",
        },
        number(chunk.tokens),
      ),
    );
  return item;
}

function rowName(chunk) {
  return `${label(chunk)} ${chunk.text
    .slice(0, 160)
    .replace(/[#>|*`\s]+/g, " ")
    .trim()}`;
}

function showRow() {
  const box = byId("outline");
  const index = rows.findIndex((row) => row.chunk === state.chunk && !row.elsewhere);
  const top = index * ROW;
  if (
    index >= 0 &&
    (top < box.scrollTop + ROW || top > box.scrollTop + box.clientHeight - 2 * ROW)
  ) {
    box.scrollTop = top - box.clientHeight / 3;
  }
  drawOutline();
}
