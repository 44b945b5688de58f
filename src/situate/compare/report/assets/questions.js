// Questions, what they were worth under two arms, and which of them are wanted.

const QUESTIONS = VIEW.questions;
const ENTRIES = VIEW.entries;
const EVEN = 1e-9; // scores that differ by less are the same
const OUTCOMES = {
  all: () => true,
  won: (gain) => gain > EVEN,
  lost: (gain) => gain < -EVEN,
  tied: (gain) => Math.abs(gain) <= EVEN,
};

const place = (list, value) => Math.max(0, list.indexOf(value));

const [[under, first] = [VIEW.retrievers[0], VIEW.arms.at(-1)]] = VIEW.opening;
const state = {
  retriever: place(VIEW.retrievers, under),
  arm: place(VIEW.arms, first),
  other: place(VIEW.arms, VIEW.against[first] ?? VIEW.arms[0]),
  outcome: "all",
  words: [],
  kind: "",
  origin: "",
  every: false, // every arm is shown beside the two
  question: null,
};
let wanted = []; // questions on the list, in their order

const primary = (question, arm) => question.primary[state.retriever]?.[arm] ?? null;

/** What the arm has over the other one; null where one of them has no score. */
function gain(question) {
  const [left, right] = [primary(question, state.arm), primary(question, state.other)];
  return left === null || right === null ? null : left - right;
}

function outcome(question) {
  const value = gain(question);
  if (value === null) return "unscored";
  return ["won", "lost", "tied"].find((name) => OUTCOMES[name](value));
}

function haystack(question) {
  question.haystack ??= [question.qid, question.query, ...question.gold.flat()]
    .join("\n")
    .toLowerCase();
  return question.haystack;
}

function passes(question) {
  if (state.kind && question.kind !== state.kind) return false;
  if (state.origin && question.origin !== state.origin) return false;
  return state.words.every((word) => haystack(question).includes(word));
}

/** Give what passes all filters but the outcome's, and count the outcomes in it. */
function select() {
  const passing = QUESTIONS.filter(passes);
  const counts = { all: passing.length, won: 0, lost: 0, tied: 0, unscored: 0 };
  for (const question of passing) counts[outcome(question)] += 1;
  wanted =
    state.outcome === "all"
      ? passing
      : passing.filter((question) => outcome(question) === state.outcome);
  return counts;
}

const fixed = (value) => (value === null ? "–" : value.toFixed(3));
function signed(value) {
  const text = Math.abs(value).toFixed(3);
  return text === "0.000" ? text : (value < 0 ? "−" : "+") + text;
}
