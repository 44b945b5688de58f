
// One question at a time: two rankings, four answers. Answers stay in this page, and in
// the browser's own storage where it has one, until they are saved as a file.

const QUESTIONS = VIEW.questions;
const CHOICES = VIEW.choices;
const STORE = `situate blind ${VIEW.page}`;
const LONG = 900; // characters of a text shown before somebody asks for the rest

const judged = new Map(restored()); // by qid
let at = 0;
let unsaved = false;

/** Give what an earlier visit left; a page from a file may have no storage. */
function restored() {
  let kept;
  try {
    kept = JSON.parse(localStorage.getItem(STORE) ?? "[]");
  } catch {
    return [];
  }
  const known = new Set(QUESTIONS.map((question) => question.qid));
  const names = CHOICES.map(([name]) => name);
  return (Array.isArray(kept) ? kept : []).filter(
    (each) => Array.isArray(each) && known.has(each[0]) && names.includes(each[1]),
  );
}

function keep() {
  try {
    localStorage.setItem(STORE, JSON.stringify([...judged]));
  } catch {
    // Without storage the answers live as long as the page.
  }
}

function passage([heading, text]) {
  const body = make("div", { class: "text", dir: "auto" });
  const above = heading ? make("p", { class: "heading", dir: "auto" }, heading) : null;
  const item = make("li", null, above, body);
  if (text.length <= LONG + 100) body.append(text);
  else {
    body.append(`${text.slice(0, LONG)}…`);
    const rest = `${number(text.length - LONG)} more characters`;
    const open = button(rest, { class: "more" }, () => {
      body.textContent = text;
      body.setAttribute("tabindex", "-1");
      open.remove();
      body.focus({ preventScroll: true });
    });
    item.append(open);
  }
  return item;
}

function draw() {
  const question = QUESTIONS[at];
  byId("query").textContent = question.query;
  for (const side of ["left", "right"]) {
    const items = question[side].map(passage);
    byId(side).replaceChildren(
      ...(items.length ? items : [make("li", { class: "none" }, "Nothing was retrieved.")]),
    );
  }
  tell();
}

function tell() {
  const question = QUESTIONS[at];
  for (const element of byId("choices").children)
    element.setAttribute("aria-pressed", String(judged.get(question.qid) === element.value));
  byId("previous").disabled = at === 0;
  byId("next").disabled = at === QUESTIONS.length - 1;
  byId("save").disabled = !judged.size;
  const left = QUESTIONS.length - judged.size;
  byId("status").textContent =
    `Question ${number(at + 1)} of ${number(QUESTIONS.length)} · ${number(judged.size)} judged` +
    (left ? "" : " · all judged: save them") +
    (unsaved && left ? " · not saved yet" : "");
}

function go(to) {
  if (to < 0 || to >= QUESTIONS.length) return;
  at = to;
  draw();
  scrollTo(0, 0);
  byId("query").focus({ preventScroll: true });
}

/** Note an answer and go on to the next question without one. */
function judge(choice) {
  judged.set(QUESTIONS[at].qid, choice);
  unsaved = true;
  keep();
  const order = [...QUESTIONS.keys()];
  const next = [...order.slice(at + 1), ...order.slice(0, at)].find(
    (place) => !judged.has(QUESTIONS[place].qid),
  );
  if (next === undefined) tell();
  else go(next);
}

function save() {
  const lines = QUESTIONS.filter(({ qid }) => judged.has(qid)).map(
    ({ qid }) => `${JSON.stringify({ page: VIEW.page, qid, choice: judged.get(qid) })}\n`,
  );
  const address = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
  make("a", { href: address, download: `judgements-${VIEW.page}.jsonl` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
  unsaved = false;
  tell();
}

function drawBar() {
  CHOICES.forEach(([name, text], index) => {
    const key = String(index + 1);
    const about = { value: name, "aria-pressed": "false", "aria-keyshortcuts": key };
    const element = button(text, about, () => judge(name));
    element.prepend(make("kbd", { "aria-hidden": "true" }, key));
    byId("choices").append(element);
  });
  byId("steps").append(
    button("←", { id: "previous", "aria-label": "Previous question" }, () => go(at - 1)),
    button("→", { id: "next", "aria-label": "Next question" }, () => go(at + 1)),
    button("Save judgements", { id: "save" }, save),
  );
}

function listen() {
  document.addEventListener("keydown", (event) => {
    // A key that is held down is one judgement.
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const choice = CHOICES[Number(event.key) - 1];
    if (choice) judge(choice[0]);
    else if (event.key === "ArrowLeft") go(at - 1);
    else if (event.key === "ArrowRight") go(at + 1);
    else return;
    event.preventDefault();
  });
  addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });
}

if (QUESTIONS.length) {
  drawBar();
  listen();
  at = Math.max(0, QUESTIONS.findIndex(({ qid }) => !judged.has(qid)));
  draw();
} else byId("query").textContent = "There is nothing to judge: the arms do not differ.";
