// What there is to show and how it is looked at.

const LIMIT = VIEW.max_tokens ?? VIEW.summary.most;

function meter(chunk) {
  const share = LIMIT ? chunk.tokens / LIMIT : 0;
  const parent = chunk.role === "parent";
  const kind = parent ? "parent" : share > 1 ? "over" : share > 0.9 ? "high" : "";
  const bar = make("i");
  bar.style.width = `${Math.min(100, Math.max(3, share * 100))}%`;
  return make("span", { class: `meter ${kind}`, "aria-hidden": "true" }, bar);
}

const CHUNKS = [];
const ROWS = [];
for (const doc of VIEW.documents) {
  const base = CHUNKS.length;
  doc.all = doc.chunks.map((chunk, index) => {
    chunk.doc = doc;
    chunk.index = base + index;
    chunk.children = [];
    CHUNKS.push(chunk);
    return chunk;
  });
  for (const chunk of doc.all) {
    if (typeof chunk.parent === "number") {
      chunk.parent = doc.all[chunk.parent];
      chunk.parent.children.push(chunk);
    }
  }
  let odd = false;
  for (const chunk of doc.all) if (chunk.role === "leaf") chunk.odd = odd = !odd;
  for (const [index, pieces] of doc.flow ?? []) {
    const chunk = doc.all[index];
    if (chunk && pieces.length) chunk.places = [...(chunk.places ?? []), pieces];
  }
  for (const [depth, title, index, elsewhere] of doc.rows) {
    ROWS.push({ doc, depth, title, elsewhere, chunk: index === null ? null : doc.all[index] });
  }
}
// Half a character has no place in an address.
const wellFormed = (id) => id.replace(/\p{Surrogate}/gu, "\ufffd");
const BY_ID = new Map(CHUNKS.map((chunk) => [wellFormed(chunk.id), chunk]));
const SOURCES = VIEW.documents.some((doc) => doc.flow);
const LEVELS = ["document", "section", "block"].filter((level) => VIEW.summary.levels[level]);
const STATUSES = Object.keys(VIEW.summary.statuses);
const STATEMENTS = STATUSES.some((status) => status !== "off");
const READINGS = CHUNKS.some((chunk) => chunk.reading !== undefined);

const FLAGS = {
  forced: (chunk) => chunk.forced,
  merged: (chunk) => chunk.sections?.length > 1,
  bare: (chunk) => chunk.bare,
  over: (chunk) => chunk.role !== "parent" && chunk.tokens * 100 > LIMIT * state.over,
  tiny: (chunk) => chunk.tokens < state.under,
};

const state = {
  doc: null,
  chunk: null,
  form: SOURCES ? "source" : "text",
  panel: "reading", // or "text"
  prefix: STATEMENTS ? "statement" : "breadcrumb",
  query: null,
  levels: new Set(),
  statuses: new Set(),
  flags: new Set(),
  over: 90,
  under: VIEW.min_tokens || 32,
};
let shown = []; // chunks on show, in the order they are shown

const narrowed = () =>
  Boolean(state.query || state.levels.size || state.statuses.size || state.flags.size);
const scope = () => (state.doc ? [state.doc] : VIEW.documents);

function address(chunk) {
  return (
    "#" + encodeURIComponent(wellFormed(chunk.id)).replaceAll("%2F", "/").replaceAll("%3A", ":")
  );
}

function label(chunk) {
  return `#${chunk.ordinal}`;
}

/** Give a chunk's texts as the form asks for them, each with what it is a piece of. */
function bodies(chunk) {
  if (state.form === "source" && chunk.places) return chunk.places.flat();
  const reading = state.form === "reading" ? chunk.reading : undefined;
  return [[reading ?? chunk.text, null]];
}

function prefixes(chunk) {
  if (state.prefix === "none") return [];
  return [chunk.breadcrumb, state.prefix === "statement" ? chunk.statement : ""].filter(Boolean);
}
