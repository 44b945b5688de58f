// Texts as a person reads them, with what was searched for marked.

const LONG = 20000; // characters shown before somebody asks for the rest
const FULL = 60; // characters from which a line was broken for its width
const LISTED = /^\s*([-*+>•]|\(?\w{1,4}[.)]|\[\^)/;

function asQuery(text) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  // Words are found across line breaks.
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+");
  return new RegExp(pattern, "giu");
}

function found(text) {
  return state.query
    ? [...text.matchAll(state.query)].map((hit) => [hit.index, hit.index + hit[0].length])
    : [];
}

function hits(chunk) {
  let count = chunk.id === byId("query").value.trim() ? 1 : 0;
  for (const text of prefixes(chunk)) count += found(text).length;
  for (const [text] of bodies(chunk)) count += found(text).length;
  return count;
}

/** Add text[start, end) to an element, with marks where the ranges say so. */
function put(element, text, start, end, ranges) {
  let reached = start;
  for (const [first, last] of ranges) {
    const from = Math.max(first, reached);
    const to = Math.min(last, end);
    if (from >= to) continue;
    element.append(text.slice(reached, from), make("mark", null, text.slice(from, to)));
    reached = to;
  }
  element.append(text.slice(reached, end));
  return element;
}

function marked(tag, attributes, text) {
  return put(make(tag, attributes), text, 0, text.length, found(text));
}

/** Set lines of one kind. Prose that was broken for its width flows on. */
function setRun({ kind, lines }, text, ranges, broken) {
  const verbatim = !broken || kind === "table" || kind === "code";
  const scrolls = kind === "table" || kind === "code";
  const underlined = lines.length > 1 && /^\s*(=+|-+)\s*$/.test(text.slice(...lines.at(-1)));
  const element = make("div", {
    class: `text ${kind || (underlined ? "heading" : "")}`,
    dir: "auto",
    tabindex: scrolls ? 0 : null,
  });
  let before = "";
  lines.forEach(([start, end], index) => {
    const line = text.slice(start, end);
    const flows =
      index &&
      !verbatim &&
      before.length >= FULL &&
      !/( {2}|\\)$/.test(before) &&
      !LISTED.test(line);
    if (index) element.append(flows ? " " : "\n");
    put(element, text, flows ? end - line.trimStart().length : start, end, ranges);
    before = line;
  });
  return element;
}

/** Set Markdown as a person reads it: headings, tables and code told apart, marks kept. */
function typeset(parent, text, broken = true) {
  const cut = text.length > LONG ? text.slice(0, LONG) : text;
  const ranges = found(cut);
  let offset = 0;
  let fence = null;
  let run = null;
  const close = () => {
    if (run) parent.append(setRun(run, cut, ranges, broken));
    run = null;
  };
  for (const line of cut.split("\n")) {
    const opening = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    const kind =
      fence || opening
        ? "code"
        : /^\s*\|/.test(line)
          ? "table"
          : /^#{1,6}\s/.test(line)
            ? "heading"
            : "";
    if (fence && opening?.startsWith(fence) && !line.trim().slice(opening.length)) fence = null;
    else if (!fence && opening) fence = opening;
    if (run && (run.kind !== kind || (kind !== "code" && !line.trim()))) close();
    if (line.trim() || run) {
      run ??= { kind, lines: [] };
      run.lines.push([offset, offset + line.length]);
    }
    offset += line.length + 1;
  }
  close();
  if (cut.length < text.length) {
    const rest = text.slice(LONG);
    parent.append(
      button(`Show ${number(rest.length)} more characters`, { class: "more" }, (event) => {
        event.stopPropagation();
        event.target.replaceWith(marked("div", { class: "text", dir: "auto" }, rest));
      }),
    );
  }
  return parent;
}
