// One question: its gold, and what every arm retrieved for it, side by side.

const RUN = 3; // words in a row that make a passage the gold's
const SHORT = 420; // characters of a text shown before somebody asks for the rest

function* wordsOf(text) {
  for (const found of text.matchAll(/[\p{L}\p{N}_]+/gu))
    yield [found[0].toLowerCase(), found.index, found.index + found[0].length];
}

/** Find where a text says what gold says: ranges of words that stand there in a row. */
function goldIn(text, golds) {
  const words = [...wordsOf(text)];
  const ranges = [];
  const runs = new Map(); // run length to the runs of that many gold words
  for (const gold of golds) {
    const said = [...wordsOf(gold)].map(([word]) => word);
    const length = Math.min(RUN, said.length);
    if (!length) continue;
    const known = runs.get(length) ?? new Set();
    for (let at = 0; at + length <= said.length; at += 1)
      known.add(said.slice(at, at + length).join(" "));
    runs.set(length, known);
  }
  for (const [length, known] of runs)
    for (let at = 0; at + length <= words.length; at += 1) {
      const run = words.slice(at, at + length);
      if (known.has(run.map(([word]) => word).join(" "))) ranges.push([run[0][1], run.at(-1)[2]]);
    }
  ranges.sort(([left], [right]) => left - right);
  const joined = [];
  for (const [start, end] of ranges) {
    // What stands between two marked words belongs to both.
    if (joined.length && start <= joined.at(-1)[1] + 2)
      joined.at(-1)[1] = Math.max(end, joined.at(-1)[1]);
    else joined.push([start, end]);
  }
  return joined;
}

function marked(element, text, ranges) {
  let reached = 0;
  for (const [start, end] of ranges) {
    element.append(text.slice(reached, start), make("mark", null, text.slice(start, end)));
    reached = end;
  }
  element.append(text.slice(reached));
  return element;
}

function body(text, ranges) {
  const element = make("div", { class: "text", dir: "auto" });
  // Gold is never folded away.
  const shown = Math.max(SHORT, ranges.at(-1)?.[1] ?? 0);
  if (text.length <= shown + 80) return [marked(element, text, ranges)];
  const rest = text.length - shown;
  marked(element, text.slice(0, shown), ranges);
  const open = button(`${number(rest)} more characters`, { class: "more" }, () => {
    element.replaceChildren();
    marked(element, text, ranges);
    element.setAttribute("tabindex", "-1");
    open.remove();
    element.focus({ preventScroll: true });
  });
  element.append("…");
  return [element, open];
}

function hit([index, covers], golds) {
  const [id, doc, breadcrumb, statement, text] = ENTRIES[index];
  const own = golds.filter(([where]) => where === doc).map(([, words]) => words);
  const ranges = covers > 0 ? goldIn(text, own) : [];
  const percent = covers > 0 && covers < 0.005 ? "under 1" : Math.round(covers * 100);
  return make(
    "li",
    { class: covers > 0 ? "hit covering" : "hit" },
    make(
      "p",
      { class: "where" },
      make("span", { class: "id", dir: "auto" }, id),
      covers > 0 ? make("span", { class: "covers" }, `covers ${percent} % of gold`) : null,
    ),
    breadcrumb ? make("p", { class: "breadcrumb", dir: "auto" }, breadcrumb) : null,
    statement
      ? make("p", { class: "statement", dir: "auto" }, make("b", null, "Statement: "), statement)
      : null,
    ...body(text, ranges),
  );
}

function column(question, arm) {
  const hits = question.hits[state.retriever]?.[arm] ?? null;
  const score = primary(question, arm);
  const list = make("ol", null, ...(hits ?? []).map((each) => hit(each, question.gold)));
  const none = hits?.length ? null : make("p", { class: "soft" }, "Nothing was retrieved.");
  return make(
    "section",
    { class: "column", "aria-label": VIEW.arms[arm] },
    make(
      "h4",
      null,
      VIEW.arms[arm],
      make("small", null, `${VIEW.primary}: ${fixed(score)}`),
    ),
    none ?? list,
  );
}

function columns() {
  const rest = state.every ? VIEW.arms.keys() : [];
  return [...new Set([state.arm, state.other, ...rest])];
}

const ORIGINS = {
  given: "given with gold",
  drafted: "drafted from the documents",
  judged: "judged by a person",
};

function drawOpened() {
  const box = byId("opened");
  const question = state.question;
  if (!question) {
    const keys = "Choose a question: click it, or go through the list with the arrow keys.";
    box.replaceChildren(make("p", { class: "empty" }, keys));
    return;
  }
  const about = [question.qid, question.kind, ORIGINS[question.origin]].filter(Boolean);
  const result = outcome(question);
  const told =
    result === "unscored"
      ? "not scored"
      : `${VIEW.arms[state.arm]}: ${result}, ${signed(gain(question))}`;
  const gold = question.gold.map(([doc, words]) =>
    make(
      "li",
      null,
      make("span", { class: "id", dir: "auto" }, doc),
      make("div", { class: "text", dir: "auto" }, words),
    ),
  );
  const shown = columns();
  const side = make(
    "div",
    {
      class: "columns",
      role: "region",
      tabindex: 0,
      "aria-label": `Retrieved under ${VIEW.retrievers[state.retriever]}`,
    },
    ...shown.map((arm) => column(question, arm)),
  );
  side.style.setProperty("--columns", shown.length);
  box.replaceChildren(
    make("h3", { dir: "auto" }, question.query),
    make("p", { class: "soft" }, about.join(" · ")),
    make("p", { class: `result ${result}` }, told),
    make(
      "details",
      { class: "gold", open: true },
      make("summary", null, many(gold.length, "gold excerpt")),
      make("ul", null, ...gold),
    ),
    side,
  );
}
