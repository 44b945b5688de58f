// The right: one chunk.

function drawPanel() {
  const panel = byId("panel");
  const chunk = state.chunk;
  document.body.classList.toggle("chosen", Boolean(chunk));
  panel.replaceChildren(...(chunk ? details(chunk) : hint()));
}

function hint() {
  const keys = [
    ["j", "next chunk, also →"],
    ["k", "previous chunk, also ←"],
    ["/", "search; Enter goes on to the next match"],
    ["Esc", "let go of the chunk"],
  ];
  return [
    make("h2", null, "One chunk at a time"),
    make(
      "p",
      { class: "soft" },
      "Choose a chunk to see what the embedder gets, what it was made of and where it belongs.",
    ),
    make(
      "div",
      { class: "keys" },
      ...keys.flatMap(([key, does]) => [
        make("span", null, make("kbd", null, key)),
        make("span", null, does),
      ]),
    ),
  ];
}

function details(chunk) {
  const steps = [
    button("↑", { "aria-label": "Previous chunk" }, () => step(-1)),
    button("↓", { "aria-label": "Next chunk" }, () => step(1)),
    button("✕", { "aria-label": "Close" }, () => choose(null)),
  ];
  return [
    make("div", { class: "steps" }, ...steps),
    make("p", { class: "kind" }, `${label(chunk)} · ${kind(chunk)}`),
    make("h2", { dir: "auto" }, chunk.heading ?? chunk.section),
    size(chunk),
    tags(chunk),
    ...embedded(chunk),
    ...family(chunk),
    make("h3", null, "Details"),
    facts(chunk),
    ...lineage(chunk),
  ];
}

function size(chunk) {
  const share = LIMIT ? Math.round((chunk.tokens / LIMIT) * 100) : 0;
  const of =
    VIEW.max_tokens === null ? `${share} % of the largest` : `of ${number(LIMIT)}, ${share} %`;
  const known = chunk.role === "parent" ? "" : ` ${of}`;
  return make(
    "div",
    { class: "size" },
    meter(chunk),
    make("b", null, many(chunk.tokens, "token")),
    known,
  );
}

function tags(chunk) {
  const list = flags(chunk).map((flag) =>
    make("li", { class: flag === "forced split" ? "alert" : null }, flag),
  );
  return list.length ? make("ul", { class: "tags" }, ...list) : "";
}

/** Show what the embedder gets or, where that differs, what is shown and cited. */
function embedded(chunk) {
  const reading = chunk.reading ?? chunk.text;
  const text = state.panel === "text" ? chunk.text : reading;
  const title = chunk.embed
    ? text === reading
      ? "As embedded"
      : "As shown and cited"
    : "Kept for context, not embedded";
  const head = make("div", { class: "titled" }, make("h3", null, title));
  if (chunk.reading !== undefined) {
    const again = () => {
      drawPanel();
      byId("panel").querySelector('.choice [aria-pressed="true"]').focus();
    };
    head.append(
      choice(
        "",
        "panel",
        [
          ["reading", "reading"],
          ["text", "text"],
        ],
        again,
      ),
    );
  }
  const box = make("div", { class: "embedded" });
  if (state.prefix !== "none" && chunk.breadcrumb)
    box.append(marked("p", { class: "breadcrumb", dir: "auto" }, chunk.breadcrumb));
  if (state.prefix === "statement" && chunk.statement) {
    const by = [
      `written by ${chunk.model ?? "a model"}`,
      chunk.prompt,
      chunk.view && `view ${chunk.view}`,
    ]
      .filter(Boolean)
      .join(" · ");
    const line = marked("p", { class: "statement", dir: "auto" }, chunk.statement);
    line.append(make("span", { class: "byline", dir: "ltr" }, by));
    box.append(line);
  }
  if (chunk.status === "fallback" || chunk.status === "skipped") {
    const why = [`No statement: ${chunk.status}`, chunk.reason, chunk.model]
      .filter(Boolean)
      .join(" · ");
    box.append(make("p", { class: chunk.status === "fallback" ? "refused" : "none" }, why));
  }
  box.append(typeset(make("div", { class: "body" }), text, text !== chunk.reading));
  return [head, box];
}

function link(chunk) {
  const name =
    chunk.level === "block"
      ? rowName(chunk).slice(0, 80)
      : `${label(chunk)} ${chunk.heading ?? chunk.section}`;
  return make("a", { href: address(chunk), dir: "auto" }, name);
}

function family(chunk) {
  const parts = [];
  if (chunk.parent) {
    const parent =
      typeof chunk.parent === "string"
        ? make("span", { class: "alert" }, `${chunk.parent} (not in this file)`)
        : link(chunk.parent);
    parts.push(
      make("h3", null, "Parent"),
      make("ul", { class: "family" }, make("li", null, parent)),
    );
  }
  if (chunk.children.length) {
    const list = make(
      "ul",
      { class: "family" },
      ...chunk.children.slice(0, 40).map((child) => make("li", null, link(child))),
    );
    const rest = chunk.children.slice(40);
    if (rest.length) {
      list.append(
        make(
          "li",
          null,
          button(`${number(rest.length)} more`, { class: "more" }, (event) =>
            event.target.parentElement.replaceWith(
              ...rest.map((child) => make("li", null, link(child))),
            ),
          ),
        ),
      );
    }
    parts.push(make("h3", null, `Children (${number(chunk.children.length)})`), list);
  }
  return parts;
}

function facts(chunk) {
  const { about } = chunk.doc;
  const validity = [chunk.effective_from, chunk.effective_to].some(Boolean)
    ? `${chunk.effective_from ?? "…"} to ${chunk.effective_to ?? "…"}`
    : null;
  const pairs = [
    ["chunk_id", make("code", null, chunk.id)],
    ["document", chunk.doc.doc_id],
    ["section", chunk.sections ? chunk.sections.join(", ") : chunk.section],
    ["level", chunk.level],
    ["in force", validity],
    ["pages", chunk.pages?.join(", ")],
    ["statement", chunk.status + (chunk.reason ? `: ${chunk.reason}` : "")],
    ...Object.entries(about)
      .filter(([name]) => name !== "title")
      .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  ];
  return make(
    "dl",
    null,
    ...pairs
      .filter(([, value]) => value)
      .flatMap(([name, value]) => [
        make("dt", null, name.replace("custom.", "")),
        make("dd", { dir: "auto" }, value),
      ]),
  );
}

function lineage(chunk) {
  const title = make("h3", null, `Blocks (${number(chunk.block_count)})`);
  if (!chunk.blocks)
    return chunk.block_count ? [title, make("p", { class: "soft" }, "Those of its children.")] : [];
  const kinds = chunk.blocks.some(([, name]) => name !== null);
  const parts = chunk.blocks.some(([, , , part]) => part !== null);
  const spans = chunk.blocks.some(([, , span]) => span !== null);
  const cells = (values) => values.filter((value) => value !== undefined);
  const body = chunk.blocks.map(([id, name, span, part, of]) =>
    make(
      "tr",
      null,
      ...cells([
        make("td", null, make("code", null, id)),
        kinds ? make("td", null, name ?? "") : undefined,
        parts
          ? make(
              "td",
              null,
              part ? `${part[0]} to ${part[1]}${of === null ? "" : ` of ${of}`}` : "",
            )
          : undefined,
        spans ? make("td", null, span ? `${span[0]} to ${span[1]}` : "none") : undefined,
      ]),
    ),
  );
  const heads = cells([
    "block",
    kinds ? "kind" : undefined,
    parts ? "parts" : undefined,
    spans ? "span" : undefined,
  ]);
  const table = make(
    "table",
    { class: "lineage" },
    make(
      "thead",
      null,
      make("tr", null, ...heads.map((name) => make("th", { scope: "col" }, name))),
    ),
    make("tbody", null, ...body),
  );
  return [title, table];
}
