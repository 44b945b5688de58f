// The top, and what keys, clicks and addresses do.

function drawTop() {
  byId("name").textContent = VIEW.name;
  const limit =
    VIEW.max_tokens === null ? "limit unknown" : `limit ${many(VIEW.max_tokens, "token")}`;
  byId("facts").textContent = [
    many(VIEW.documents.length, "document"),
    many(CHUNKS.length, "chunk"),
    limit,
  ].join(" · ");
  const { warnings } = VIEW;
  if (warnings.length) {
    byId("warnings").hidden = false;
    byId("warnings-title").textContent = many(warnings.length, "warning");
    const items = warnings.map(({ doc_id: doc, message }) =>
      make("li", { dir: "auto" }, doc ? make("b", null, `${doc}: `) : "", message),
    );
    byId("warnings").lastElementChild.append(...items);
  }
  byId("summary").append(...summary());
}

function tile(title, figure, unit, items, wide) {
  const list = make(
    "ul",
    null,
    ...items.map(([name, value]) =>
      make("li", null, make("span", null, name), make("b", null, number(value))),
    ),
  );
  return make(
    "div",
    { class: wide ? "wide" : null },
    make("h2", null, title),
    make("p", { class: "figure" }, figure, make("small", null, unit)),
    items.length ? list : null,
  );
}

function summary() {
  const { levels, roles, forced, statuses } = VIEW.summary;
  const leaves = roles.leaf ?? 0;
  const others = Object.entries({ parents: roles.parent, paragraphs: roles.paragraph }).filter(
    ([, count]) => count,
  );
  const tiles = [
    tile("Chunks", number(leaves), others.length ? "leaves" : "", [
      ...others,
      ...LEVELS.map((level) => [`level ${level}`, levels[level]]),
    ]),
    sizes(),
    tile(
      "Forced splits",
      number(forced),
      forced ? "cut inside a sentence or word" : "no sentence was cut",
      [],
    ),
  ];
  if (STATEMENTS) {
    const total = (status) =>
      Object.values(statuses[status] ?? {}).reduce((sum, count) => sum + count, 0);
    const reasons = ["fallback", "skipped"].flatMap((status) =>
      Object.entries(statuses[status] ?? {}).map(([reason, count]) => [
        `${status}: ${reason || "no reason"}`,
        count,
      ]),
    );
    tiles.push(tile("Statements", number(total("statement")), `of ${number(leaves)}`, reasons));
  }
  const outside = VIEW.documents.filter((doc) => doc.outside !== null);
  if (outside.length) {
    const characters = outside.reduce((sum, doc) => sum + doc.outside, 0);
    tiles.push(
      tile(
        "Source in no chunk",
        number(characters),
        characters === 1 ? "character" : "characters",
        [],
      ),
    );
  }
  return tiles;
}

function sizes() {
  const { histogram, median, most } = VIEW.summary;
  const top = Math.max(1, ...histogram);
  const share = LIMIT / 10;
  const texts = histogram.map((count, bar) =>
    bar < 10
      ? `${Math.floor(bar * share) + 1} to ${Math.floor((bar + 1) * share)}: ${number(count)}`
      : `above: ${number(count)}`,
  );
  const bars = histogram.map((count, bar) => {
    const element = make("i", {
      class: count === 0 ? "none" : bar === 10 ? "over" : null,
      title: `${texts[bar]} chunks`,
    });
    element.style.height = `${(count / top) * 100}%`;
    return element;
  });
  // Nothing is above the limit unless a rule is broken: then there is one bar more.
  if (!histogram[10]) bars.pop();
  const box = tile(
    "Tokens of a chunk",
    number(median),
    `median, ${number(most)} at most`,
    [],
    true,
  );
  box.append(
    make(
      "div",
      { class: "histogram", role: "img", "aria-label": `Chunks by tokens. ${texts.join("; ")}` },
      ...bars,
    ),
    make(
      "div",
      { class: "scale", "aria-hidden": "true" },
      make("span", null, "0"),
      make("span", null, VIEW.max_tokens === null ? number(LIMIT) : `limit ${number(LIMIT)}`),
    ),
  );
  return box;
}

function drawPicker() {
  const select = byId("document");
  if (VIEW.documents.length < 2) byId("picker").hidden = true;
  select.append(make("option", { value: "" }, `All ${many(VIEW.documents.length, "document")}`));
  VIEW.documents.forEach((doc, index) =>
    select.append(make("option", { value: index }, doc.doc_id)),
  );
  select.addEventListener("change", () => {
    state.doc = select.value === "" ? null : VIEW.documents[select.value];
    if (state.chunk && state.doc && state.chunk.doc !== state.doc) choose(null);
    byId("outline").scrollTop = 0;
    redraw();
  });
}

function choose(chunk, { scroll = true, note = true } = {}) {
  if (chunk && state.doc && chunk.doc !== state.doc) {
    state.doc = null;
    byId("document").value = "";
    update();
  }
  const before = state.chunk;
  state.chunk = chunk;
  drawPanel();
  if (chunk !== before) byId("panel").scrollTop = 0;
  for (const element of document.querySelectorAll("#flow [aria-current]"))
    element.removeAttribute("aria-current");
  // A paragraph is shown inside its leaf.
  const row = chunk?.group ? chunk : chunk?.parent;
  const group = row?.group;
  if (group) {
    for (const near of [group.previousElementSibling, group, group.nextElementSibling]) fill(near);
    const elements = byId("flow").querySelectorAll(`[data-chunk="${row.index}"]`);
    for (const element of elements) element.setAttribute("aria-current", "true");
    if (scroll) reveal(elements[0]);
  }
  showRow();
  tell();
  if (note)
    history.replaceState(null, "", chunk ? address(chunk) : location.pathname + location.search);
  // Where the panel covers the page the focus goes there, and back.
  if (getComputedStyle(byId("panel")).position !== "fixed") return;
  if (chunk) byId("panel").focus();
  else if (before)
    byId("flow").querySelector(`[data-chunk="${before.index}"] a`)?.focus({ preventScroll: true });
}

function reveal(element) {
  element?.scrollIntoView({ block: "start" });
  // Groups that come into view get their true height and move what is below them.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => element?.scrollIntoView({ block: "start" })),
  );
}

function step(by) {
  if (!shown.length) return;
  const at = shown.indexOf(state.chunk);
  let next = at + by;
  if (at < 0) {
    // A parent or a paragraph is in no row of its own: on to what stands next to it.
    const after = shown.findIndex((chunk) => chunk.index > (state.chunk?.index ?? -1));
    next = by > 0 ? after : (after < 0 ? shown.length : after) - 1;
  }
  if (shown[next]) choose(shown[next]);
}

function named() {
  const hash = location.hash.slice(1);
  let decoded = hash;
  try {
    decoded = decodeURIComponent(hash);
  } catch {
    // Not every address is an encoded one.
  }
  return BY_ID.get(decoded) ?? BY_ID.get(hash) ?? null;
}

function listen() {
  let waiting = 0;
  const query = byId("query");
  const search = () => {
    clearTimeout(waiting);
    state.query = asQuery(query.value);
    redraw();
  };
  query.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, 160);
  });
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") query.value ? ((query.value = ""), search()) : query.blur();
  });
  byId("search").addEventListener("submit", (event) => event.preventDefault());
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("outline").addEventListener("scroll", () => requestAnimationFrame(drawOutline), {
    passive: true,
  });
  document.addEventListener("keydown", (event) => {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.target.closest("input, select, textarea, .table, .code")
    )
      return;
    const act = {
      j: () => step(1),
      ArrowRight: () => step(1),
      k: () => step(-1),
      ArrowLeft: () => step(-1),
      "/": () => query.focus(),
      Escape: () => choose(null),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  addEventListener("hashchange", () => {
    const chunk = named();
    if (chunk && chunk !== state.chunk) choose(chunk, { note: false });
  });
  addEventListener("resize", () => {
    document.body.style.setProperty("--bar", `${byId("bar").offsetHeight}px`);
    drawOutline();
  });
  addEventListener("beforeprint", () => {
    for (const group of document.querySelectorAll(".group")) fill(group);
  });
}

byId("tools").open = matchMedia("(min-width: 52.01rem)").matches;
drawTop();
drawPicker();
drawFilters();
listen();
update();
drawPanel();
if (named()) choose(named(), { note: false });
