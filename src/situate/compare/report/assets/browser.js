// The filters, and what happens when one of them changes.

const outcomes = {}; // a button each, and its count

function field(name, control) {
  return make("label", { class: "field" }, make("span", null, name), control);
}

function choice(name, options, chosen, act) {
  const select = make("select", null);
  for (const [value, text] of options)
    select.append(make("option", { value, selected: value === chosen }, text));
  select.addEventListener("change", () => act(select.value));
  return field(name, select);
}

function update() {
  const counts = select();
  for (const [name, { element, count }] of Object.entries(outcomes)) {
    count.textContent = number(counts[name]);
    element.setAttribute("aria-pressed", String(state.outcome === name));
  }
  drawList();
  drawOpened();
  const of = QUESTIONS.length;
  const all = many(of, "question");
  const shown = wanted.length === of ? all : `${number(wanted.length)} of ${all}`;
  const left = VIEW.questions_in_all - of;
  byId("status").textContent =
    `${shown} · ${VIEW.arms[state.arm]} against ${VIEW.arms[state.other]} under ` +
    VIEW.retrievers[state.retriever] +
    (left > 0 ? ` · ${number(left)} more are not in this page` : "");
}

function drawFilters() {
  const numbered = (names) => names.map((name, at) => [at, name]);
  const distinct = (key) => [
    ...new Set(QUESTIONS.map((question) => question[key]).filter(Boolean)),
  ];
  const set = (key) => (value) => {
    state[key] = ["kind", "origin"].includes(key) ? value : Number(value);
    update();
  };
  const box = byId("filters");
  const search = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      state.words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      update();
    }, 120);
  });
  const buttons = Object.keys(OUTCOMES).map((name) => {
    const count = make("span");
    const element = button(name[0].toUpperCase() + name.slice(1), null, () => {
      state.outcome = name;
      update();
    });
    element.append(count);
    outcomes[name] = { element, count };
    return element;
  });
  const every = make("input", { type: "checkbox" });
  every.addEventListener("change", () => {
    state.every = every.checked;
    drawOpened();
  });
  const kinds = distinct("kind");
  const origins = distinct("origin");
  const any = ["", "any"];
  box.append(
    choice("Retriever", numbered(VIEW.retrievers), state.retriever, set("retriever")),
    choice("Arm", numbered(VIEW.arms), state.arm, set("arm")),
    choice("against", numbered(VIEW.arms), state.other, set("other")),
    make("fieldset", { class: "outcomes" }, make("legend", null, "Outcome"), ...buttons),
    field("Search questions and gold", search),
  );
  if (kinds.length > 1)
    box.append(choice("Kind", [any, ...kinds.map((kind) => [kind, kind])], "", set("kind")));
  if (origins.length > 1)
    box.append(
      choice(
        "Origin",
        [any, ...origins.map((origin) => [origin, ORIGINS[origin]])],
        "",
        set("origin"),
      ),
    );
  if (VIEW.arms.length > 2)
    box.append(make("label", { class: "check" }, every, "Show every arm"));
  box.addEventListener("submit", (event) => event.preventDefault());
}

/** Give the place of the question that the address names, -1 where it names none. */
function named() {
  let id = location.hash.slice(1);
  try {
    id = decodeURIComponent(id);
  } catch {
    // Not every address is an encoded one.
  }
  return wanted.findIndex((question) => wellFormed(question.qid) === id);
}

if (QUESTIONS.length) {
  drawFilters();
  listenToList();
  update();
  const open = () => {
    const at = named();
    if (at >= 0 && wanted[at] !== state.question) {
      choose(at);
      byId("questions").scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  open();
}
