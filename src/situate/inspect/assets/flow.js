// The middle: chunks in a row. A few are drawn at a time, when they come near.

const GROUP = 16; // chunks drawn at a time

/** List what is shown: documents, chunks, parents in a line, and what is in no chunk. */
function entries() {
  const whole = !narrowed();
  const list = [];
  for (const doc of scope()) {
    const first = list.length;
    list.push({ doc });
    if (state.form === "source" && doc.flow && !state.levels.size) {
      const seen = new Set();
      for (const [index, pieces] of doc.flow) {
        const chunk = index === null ? null : doc.all[index];
        if (chunk === null) {
          if (whole) list.push({ outside: pieces[0][0] });
        } else if (chunk.hits >= 0) {
          list.push({
            chunk,
            pieces: pieces.length ? pieces : bodies(chunk),
            again: seen.has(chunk),
            unplaced: !pieces.length,
          });
          seen.add(chunk);
        } else if (whole && chunk.role === "parent") list.push({ slim: chunk });
      }
    } else {
      for (const chunk of doc.all) {
        if (chunk.hits >= 0) list.push({ chunk, pieces: bodies(chunk) });
        else if (whole && chunk.role === "parent") list.push({ slim: chunk });
      }
    }
    if (list.length === first + 1 && !whole) list.pop();
  }
  return list;
}

const watcher = new IntersectionObserver(
  (records) => {
    for (const record of records) if (record.isIntersecting) fill(record.target);
  },
  { rootMargin: "1500px 0px" },
);

function drawFlow() {
  const flow = byId("flow");
  const list = entries();
  const groups = [];
  shown = [];
  watcher.disconnect();
  for (let start = 0; start < list.length; start += GROUP) {
    const group = make("div", { class: "group" });
    group.entries = list.slice(start, start + GROUP);
    let height = 0;
    for (const entry of group.entries) {
      const size = (entry.pieces ?? []).reduce(
        (sum, [text]) => sum + Math.min(text.length, LONG),
        0,
      );
      height += 60 + (size / 75) * 24;
      const chunk = entry.chunk ?? entry.slim;
      if (chunk && !entry.again) chunk.group = group;
      if (entry.chunk && !entry.again) shown.push(entry.chunk);
    }
    // Until a group is drawn it is about as high as its texts are long.
    group.style.containIntrinsicSize = `auto ${Math.round(height)}px`;
    group.style.minHeight = `${Math.round(height)}px`;
    groups.push(group);
    watcher.observe(group);
  }
  if (!shown.length) {
    groups.push(
      make(
        "p",
        { class: "empty" },
        CHUNKS.length
          ? "Nothing matches. Take a filter away, or search for less."
          : "There are no chunks: the documents hold no text.",
      ),
    );
  }
  flow.replaceChildren(...groups);
}

function fill(group) {
  if (!group?.entries) return;
  group.append(...group.entries.map(draw));
  group.entries = null;
  group.style.minHeight = "";
  watcher.unobserve(group);
}

function draw(entry) {
  if (entry.doc) return heading(entry.doc);
  if (entry.slim) return slim(entry.slim);
  if (entry.outside !== undefined) return between(entry.outside);
  return band(entry);
}

function heading(doc) {
  const { title, doc_type: type } = doc.about;
  const name = title ?? doc.doc_id;
  const more = [
    name === doc.doc_id ? null : doc.doc_id,
    type,
    many(doc.all.length, "chunk"),
  ].filter(Boolean);
  return make("h2", { dir: "auto" }, name, make("small", null, more.join(" · ")));
}

function slim(chunk) {
  const current = chunk === state.chunk ? "true" : null;
  return make(
    "p",
    { class: "slim", "data-chunk": chunk.index, "aria-current": current },
    make("a", { href: address(chunk) }, label(chunk)),
    make("span", null, `${chunk.level} of ${many(chunk.children.length, "chunk")}`),
    make("span", { dir: "auto" }, chunk.breadcrumb ?? chunk.section),
  );
}

function between(text) {
  const body = make("div", { class: "outside" });
  const size = text.trim().length;
  const details = make(
    "details",
    { class: "between", open: size <= 200 },
    make("summary", null, `In no chunk: ${many(size, "character")}`),
    body,
  );
  const show = () => {
    if (details.open && !body.childNodes.length) typeset(body, text);
  };
  details.addEventListener("toggle", show);
  show();
  return details;
}

function flags(chunk) {
  return [
    chunk.forced ? "forced split" : "",
    chunk.sections?.length > 1 ? `${chunk.sections.length} sections` : "",
    chunk.bare ? "heading alone" : "",
    chunk.embed || chunk.role === "parent" ? "" : "not embedded",
  ].filter(Boolean);
}

function band({ chunk, pieces, again, unplaced }) {
  const header = make(
    "header",
    null,
    make(
      "a",
      {
        href: address(chunk),
        "aria-label": `Chunk ${label(chunk)}, ${chunk.breadcrumb ?? chunk.section}`,
      },
      label(chunk),
    ),
  );
  if (again) header.append("continued");
  else {
    header.append(meter(chunk), make("span", null, many(chunk.tokens, "token")));
    if (chunk.level !== "section" || chunk.role !== "leaf")
      header.append(make("span", null, kind(chunk)));
    for (const flag of flags(chunk))
      header.append(make("span", { class: flag === "forced split" ? "flag" : "" }, flag));
    if (chunk.status === "fallback") header.append(make("span", { class: "flag" }, "fallback"));
    if (unplaced) header.append("no place in the source");
  }
  const body = make("div");
  if (!again && prefixes(chunk).length) body.append(prefix(chunk));
  for (const [text, owner] of pieces) body.append(piece(chunk, text, owner));
  const element = make(
    "article",
    {
      class: chunk.odd ? "band odd" : "band",
      "data-chunk": chunk.index,
      "aria-current": chunk === state.chunk ? "true" : null,
    },
    header,
    body,
  );
  element.addEventListener("click", (event) => {
    if (event.target.closest("a, button") || !getSelection().isCollapsed) return;
    choose(chunk, { scroll: false });
  });
  return element;
}

function kind(chunk) {
  if (chunk.role === "paragraph") return "paragraph";
  if (chunk.role === "parent") return `${chunk.level}, parent`;
  return chunk.level === "block" ? "part of a section" : chunk.level;
}

function prefix(chunk) {
  const [breadcrumb, statement] = [
    chunk.breadcrumb,
    state.prefix === "statement" ? chunk.statement : null,
  ];
  return make(
    "div",
    { class: "prefix" },
    breadcrumb ? marked("p", { class: "breadcrumb", dir: "auto" }, breadcrumb) : null,
    statement ? marked("p", { class: "statement", dir: "auto" }, statement) : null,
  );
}

function piece(chunk, text, owner) {
  if (owner === -1)
    return typeset(make("div", { class: "piece outside", title: "In no chunk" }), text);
  const element = typeset(make("div", { class: "piece" }), text, text !== chunk.reading);
  if (owner !== null) {
    const paragraph = chunk.doc.all[owner];
    element.classList.add("paragraph");
    element.append(
      make(
        "a",
        { href: address(paragraph), "aria-label": `Paragraph chunk ${label(paragraph)}` },
        label(paragraph),
      ),
    );
  }
  return element;
}
