// The list. Rows are drawn as they come near; arrows go from one to the next.

const ROWS = 60; // drawn at a time

const LIST = byId("list");
let drawn = 0;

const MARKS = { won: "▲", lost: "▼", tied: "=", unscored: "–" };

function row(question, index) {
  const result = outcome(question);
  const value = gain(question);
  const told = value === null ? "not scored" : `${result} ${signed(value)}`;
  return make(
    "div",
    {
      class: "row",
      role: "option",
      id: `row-${index}`,
      "aria-selected": String(question === state.question),
      "aria-setsize": wanted.length,
      "aria-posinset": index + 1,
    },
    make("span", { class: "query", dir: "auto" }, question.query),
    make(
      "span",
      { class: `result ${result}` },
      make("span", { "aria-hidden": "true" }, `${MARKS[result]} `),
      told,
    ),
    question.origin === "drafted" ? make("span", { class: "tag" }, "drafted") : null,
  );
}

function more() {
  if (drawn >= wanted.length) return;
  const next = wanted.slice(drawn, drawn + ROWS);
  LIST.append(...next.map((question, index) => row(question, drawn + index)));
  drawn += next.length;
}

function drawList() {
  drawn = 0;
  LIST.replaceChildren();
  LIST.scrollTop = 0;
  if (!wanted.length)
    LIST.append(make("p", { class: "empty" }, "No question matches. Take a filter away."));
  const at = wanted.indexOf(state.question);
  do more();
  while (drawn <= at);
  point(at);
}

function point(at) {
  if (at < 0) LIST.removeAttribute("aria-activedescendant");
  else LIST.setAttribute("aria-activedescendant", `row-${at}`);
}

/** Open the question at a place of the list and bring its row into sight. */
function choose(at) {
  const question = wanted[at];
  if (!question) return;
  LIST.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
  while (drawn <= at) more();
  state.question = question;
  const element = byId(`row-${at}`);
  element.setAttribute("aria-selected", "true");
  // Only the list scrolls; the page stays where the reader is.
  const over = element.offsetTop + element.offsetHeight - LIST.scrollTop - LIST.clientHeight;
  if (over > 0) LIST.scrollTop += over;
  if (element.offsetTop < LIST.scrollTop) LIST.scrollTop = element.offsetTop;
  point(at);
  drawOpened();
  history.replaceState(null, "", `#${encodeURIComponent(wellFormed(question.qid))}`);
}

// Half a character has no place in an address.
const wellFormed = (id) => id.replace(/\p{Surrogate}/gu, "\ufffd");

function listenToList() {
  LIST.addEventListener("scroll", () => {
    if (LIST.scrollTop + LIST.clientHeight > LIST.scrollHeight - 400) more();
  });
  LIST.addEventListener("click", (event) => {
    const element = event.target.closest(".row");
    if (element) choose(Number(element.id.slice(4)));
  });
  LIST.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !wanted.length) return;
    const at = wanted.indexOf(state.question);
    const last = wanted.length - 1;
    const next = {
      ArrowDown: Math.min(last, at + 1),
      ArrowUp: Math.max(0, at - 1),
      PageDown: Math.min(last, at + 10),
      PageUp: Math.max(0, at - 10),
      Home: 0,
      End: last,
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      choose(next);
    } else if (event.key === "Enter" && state.question) {
      event.preventDefault();
      byId("opened").focus();
    }
  });
}
