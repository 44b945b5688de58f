// The bar: filters, views and what they leave.

function passes(chunk) {
  if (state.levels.size ? !state.levels.has(chunk.level) : chunk.role !== "leaf") return false;
  if (state.statuses.size && !state.statuses.has(chunk.status)) return false;
  for (const flag of state.flags) if (!FLAGS[flag](chunk)) return false;
  return true;
}

function update() {
  const wanted = new Set(scope());
  let total = 0;
  for (const chunk of CHUNKS) {
    chunk.group = null;
    chunk.hits = wanted.has(chunk.doc) && passes(chunk) ? 0 : -1;
    if (chunk.hits === 0 && state.query) {
      chunk.hits = hits(chunk) || -1;
      total += Math.max(0, chunk.hits);
    }
  }
  state.total = total;
  drawFlow();
  listRows();
  drawOutline();
  counts();
  tell();
  document.body.style.setProperty("--bar", `${byId("bar").offsetHeight}px`);
}

/** Redraw everything and stay where the reader is. */
function redraw() {
  update();
  if (state.chunk) choose(state.chunk, { note: false });
  else if (scrollY > byId("bar").offsetTop) scrollTo(0, byId("bar").offsetTop);
}

function tell() {
  const leaves = scope().reduce(
    (sum, doc) => sum + doc.all.filter((chunk) => chunk.role === "leaf").length,
    0,
  );
  const at = shown.indexOf(state.chunk);
  const parts = [
    at < 0 ? many(shown.length, "chunk") : `${number(at + 1)} of ${many(shown.length, "chunk")}`,
    state.query ? many(state.total, "hit") : "",
    narrowed() && !state.levels.size ? `${number(leaves)} in all` : "",
  ];
  byId("status").textContent = parts.filter(Boolean).join(" · ");
  byId("previous").disabled = at === 0 || !shown.length;
  byId("next").disabled = at === shown.length - 1 || !shown.length;
}

const chips = []; // a button each, and how many chunks it would leave

function chip(set, value, text, test) {
  const count = make("span");
  // What there is nowhere needs no filter, unless it has a number to change.
  const hidden = !(set === state.flags && ["over", "tiny"].includes(value)) && !CHUNKS.some(test);
  const element = button(text, { "aria-pressed": "false", hidden }, () => {
    if (!set.delete(value)) set.add(value);
    element.setAttribute("aria-pressed", set.has(value));
    redraw();
  });
  element.append(count);
  chips.push({ element, count, test });
  return element;
}

function counts() {
  const all = scope().flatMap((doc) => doc.all);
  for (const { element, count, test } of chips) {
    const left = all.filter(test).length;
    count.textContent = number(left);
    element.disabled = !left && element.getAttribute("aria-pressed") === "false";
  }
}

function threshold(flag, text, after, key, most) {
  const leaf = (chunk) => chunk.role === "leaf" && FLAGS[flag](chunk);
  const input = make("input", {
    type: "number",
    min: 0,
    max: most,
    value: state[key],
    "aria-label": `${text} … ${after}`,
  });
  input.addEventListener("input", () => {
    state[key] = input.valueAsNumber || 0;
    if (state.flags.has(flag)) redraw();
    else counts();
  });
  const element = chip(state.flags, flag, text, leaf);
  return [element, input, make("span", { class: "soft" }, after)];
}

function choice(name, key, options, act = redraw) {
  const field = make("fieldset", { class: "choice" }, name ? make("legend", null, name) : null);
  for (const [value, text] of options) {
    const element = button(text, { "aria-pressed": String(state[key] === value) }, () => {
      state[key] = value;
      for (const other of field.querySelectorAll("button"))
        other.setAttribute("aria-pressed", String(other === element));
      act();
    });
    field.append(element);
  }
  return field;
}

function drawFilters() {
  const leaf = (test) => (chunk) => chunk.role === "leaf" && test(chunk);
  const box = byId("filters");
  const choices = byId("choices");
  const forms = [
    SOURCES && ["source", "source"],
    ["text", "text"],
    READINGS && ["reading", "reading"],
  ].filter(Boolean);
  if (forms.length > 1) choices.append(choice("Show", "form", forms));
  const above = [
    ["none", "none"],
    ["breadcrumb", "breadcrumb"],
    STATEMENTS && ["statement", "+ statement"],
  ].filter(Boolean);
  choices.append(choice("Prefix", "prefix", above));
  if (LEVELS.length > 1)
    box.append(
      make(
        "fieldset",
        null,
        make("legend", null, "Level"),
        ...LEVELS.map((level) =>
          chip(state.levels, level, level, (chunk) => chunk.level === level),
        ),
      ),
    );
  if (STATUSES.length > 1) {
    box.append(
      make(
        "fieldset",
        null,
        make("legend", null, "Statement"),
        ...STATUSES.map((status) =>
          chip(
            state.statuses,
            status,
            status,
            leaf((chunk) => chunk.status === status),
          ),
        ),
      ),
    );
  }
  const names = { forced: "forced splits", merged: "merged sections", bare: "headings alone" };
  const plain = Object.entries(names).map(([flag, name]) =>
    chip(state.flags, flag, name, leaf(FLAGS[flag])),
  );
  const of = VIEW.max_tokens === null ? "% of the largest" : "% of the limit";
  const sizes = [
    threshold("over", "above", of, "over", 1000),
    threshold("tiny", "under", "tokens", "under", 100000),
  ];
  box.append(make("fieldset", null, make("legend", null, "Only"), ...plain, ...sizes.flat()));
}
