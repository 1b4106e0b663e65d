// The report's own script: tabs, charts, and the ballot browser. Texts of the file only ever become textContent.
const read = (id) => JSON.parse(document.getElementById(id).textContent);

// Charts: ink is currentColor, so they follow the theme without being drawn again.
const ink = { labelColor: "currentColor", titleColor: "currentColor" };
const look = {
  background: null,
  font: "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
  view: { stroke: null },
  axis: { ...ink, gridColor: "currentColor", gridOpacity: 0.12, domainColor: "currentColor", tickColor: "currentColor", domainOpacity: 0.5, tickOpacity: 0.5, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelFlush: false },
  legend: { ...ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", symbolStrokeWidth: 3, symbolOpacity: 1 },
};

function draw(within) {
  for (const place of within.querySelectorAll(".chart:empty")) {
    const options = { config: look, renderer: "svg", actions: false, ast: true, tooltip: { theme: "custom" } };
    window.vegaEmbed(place, read(place.dataset.spec), options)
      .catch((error) => { place.textContent = `This chart cannot be drawn: ${error.message}`; })
      .then(() => place.classList.add("drawn"));
  }
}

// Several files: one section at a time.
function tabs() {
  const list = document.querySelector("[role=tablist]");
  const sections = [...document.querySelectorAll("section.file")];
  if (!list) return sections.forEach(draw);
  const buttons = [...list.querySelectorAll("[role=tab]")];
  const show = (chosen) => buttons.forEach((button, i) => {
    button.setAttribute("aria-selected", String(i === chosen));
    button.tabIndex = i === chosen ? 0 : -1;
    sections[i].hidden = i !== chosen;
    if (i === chosen) draw(sections[i]);
  });
  buttons.forEach((button, i) => button.addEventListener("click", () => show(i)));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    buttons[next].focus();
    show(next);
    event.preventDefault();
  });
  list.hidden = false;
  show(0);
}

const CHANGED = 1, MISSED = 2, CORRECT = 4, MAJORITY_CORRECT = 8;
const FILTERS = { all: () => true, changed: (q) => q.k & CHANGED, missed: (q) => q.k & MISSED };

/** The ballot browser of one section. */
function browse(root) {
  const data = read(root.dataset.ballots);
  const part = (name) => root.querySelector(`[data-part=${name}]`);
  const [search, select, previous, next, view, status] = ["search", "select", "previous", "next", "view", "status"].map(part);
  const haystack = data.questions.map((q) => [q.i, q.d || "", data.texts[q.p] || "", ...q.a].join("\n").toLowerCase());
  let found = [data.first];
  let at = 0;

  function filter() {
    const keep = FILTERS[root.querySelector("input[type=radio]:checked").value];
    const wanted = search.value.trim().toLowerCase();
    const before = found[at];
    found = data.questions.map((_, i) => i).filter((i) => keep(data.questions[i]) && haystack[i].includes(wanted));
    select.replaceChildren(...found.map((i) => make("option", "", data.questions[i].i, { value: i })));
    at = Math.max(0, found.indexOf(before));
    show();
  }

  function show() {
    const question = data.questions[found[at]];
    previous.disabled = at <= 0;
    next.disabled = at >= found.length - 1;
    status.textContent = found.length ? `Question ${at + 1} of ${found.length}` : "No question matches";
    select.disabled = !found.length;
    if (question) select.value = String(found[at]);
    view.replaceChildren(...(question ? ballot(question, data) : []));
  }

  const move = (step) => { at = Math.min(found.length - 1, Math.max(0, at + step)); show(); };
  previous.addEventListener("click", () => move(-1));
  next.addEventListener("click", () => move(1));
  select.addEventListener("change", () => { at = select.selectedIndex; show(); });
  search.addEventListener("input", filter);
  root.querySelectorAll("input[type=radio]").forEach((radio) => radio.addEventListener("change", filter));
  document.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const busy = event.target.closest && event.target.closest("input, select, textarea, [role=tablist]");
    if (!step || busy || event.altKey || event.ctrlKey || event.metaKey || root.closest("[hidden]")) return;
    move(step);
    event.preventDefault();
  });
  filter();
}

/** Everything about one question: its text, the verdicts, its answers as bars, their responses. */
function ballot(q, data) {
  const head = make("h3", "", [isolated(q.i)]);
  if (q.d) head.append(make("small", "count", [" · ", isolated(q.d)]));
  const prompt = q.p >= 0 ? make("div", "prompt text", data.texts[q.p], { dir: "auto" }) : null;
  const order = q.a.map((_, code) => code).sort((a, b) => (b === q.v) - (a === q.v) || total(q, b) - total(q, a) || q.t[b][0] - q.t[a][0]);
  const frame = data.kind === "weight" ? [Math.min(...q.t.map((t) => t[2])), Math.max(1e-9, ...q.t.map((t) => t[1]))] : [0, 1000];
  const list = make("ol", "answers", order.map((code) => answer(q, data, code, frame)));
  if (data.kind === "probability") list.append(make("li", "none", row(make("span", "name", "none of these"), bar(q.o, 0, frame, `none of these: ${percent(q.o)}`), percent(q.o), "probability", "")));
  const unread = q.c.filter((code) => code < 0).length;
  if (unread) list.append(make("li", "note", `${unread} of ${q.c.length} responses have no readable answer and cast no vote.`));
  return [head, prompt, verdicts(q, data), list].filter(Boolean);
}

const total = (q, code) => q.t[code][1] + (q.t[code][2] || 0);
const percent = (tenths) => `${(tenths / 10).toFixed(1)} %`;

function verdicts(q, data) {
  const entry = (title, text, state, small) =>
    make("div", state, [make("dt", "", title), make("dd", "", [isolated(text), small ? make("small", "", ` ${small}`) : null])]);
  const said = (code) => (code < 0 ? "no readable answer" : q.a[code]);
  const mark = (correct) => (correct ? "✓ correct" : "✗ wrong");
  const state = (correct) => (correct ? "correct" : "wrong");
  const few = q.r.slice(0, 3).map((code) => q.a[code]).join(" or ") + (q.r.length > 3 ? `, and ${q.r.length - 3} more` : "");
  const gold = q.r.length > 3 && q.g ? q.g : q.r.length ? few : q.g || "none of the answers given";
  const likely = data.kind === "probability" && q.v >= 0 ? percent(q.t[q.v][1]) : percent(1000 * q.f);
  const sure = q.f === undefined ? `vote share ${percent(1000 * q.h)}` : `confidence ${likely}`;
  return make("dl", "verdicts", [
    entry(`${data.method} decides`, said(q.v), state(q.k & CORRECT), `${mark(q.k & CORRECT)}, ${sure}`),
    entry("majority decides", said(q.m), state(q.k & MAJORITY_CORRECT), mark(q.k & MAJORITY_CORRECT)),
    entry("correct answer", gold, "", q.r.length ? "" : q.g ? "never given" : ""),
  ]);
}

function answer(q, data, code, frame) {
  const [votes, plus, minus] = q.t[code];
  const name = make("span", "name", [isolated(q.a[code])]);
  if (code === q.v) name.append(make("span", "tag", `verdict of ${data.method}`));
  if (code === q.m && q.m !== q.v) name.append(make("span", "tag", "verdict of majority"));
  if (q.r.includes(code)) name.append(make("span", "tag correct", "✓ correct answer"));
  const weighed = data.kind === "weight";
  const label = weighed ? `weight for ${signed(plus)}, against ${signed(minus)}` : `${WORDS[data.kind]} ${percent(plus)}`;
  const value = weighed ? signed(total(q, code)) : percent(plus);
  const count = [String(votes), make("small", "", votes === 1 ? "response" : "responses")];
  const summary = make("summary", code === q.v ? "verdict" : "", row(name, bar(plus, minus || 0, frame, label), value, WORDS[data.kind], count));
  const details = make("details", "", summary);
  details.addEventListener("toggle", () => {
    if (details.open && !details.querySelector(".responses")) details.append(responses(q, data, code));
  });
  return make("li", "", details);
}

/** The responses that gave an answer; those with the same text and score stand together. */
function responses(q, data, code) {
  const groups = new Map();
  q.c.forEach((given, sample) => {
    if (given !== code) return;
    const text = q.x ? q.x[sample] : -1;
    const source = q.u ? data.sources[q.u[sample]] : null;
    const key = text < 0 ? `#${sample}` : `${text} ${q.s[sample]} ${source}`;
    if (!groups.has(key)) groups.set(key, { text, source, score: q.s[sample], weight: q.w[sample], samples: [] });
    groups.get(key).samples.push(sample);
  });
  const rows = [...groups.values()].sort((a, b) => b.weight - a.weight);
  return make("ol", "responses", rows.map((row) => {
    const many = row.samples.length > 1 ? `${row.samples.length} × ` : "";
    const line = make("div", "", [
      many,
      ...(row.source === null ? [] : [isolated(row.source), " · "]),
      data.scored ? `score ${row.score === null ? "missing" : row.score} · ` : "",
      ...worth(row.weight, data.kind, row.samples.length > 1 ? "one of them" : "it", q.t[code][0] === 1),
      make("span", "count", ` · sample ${row.samples.join(", ")}`),
    ]);
    const text = row.text >= 0 ? make("p", "text", data.texts[row.text], { dir: "auto" }) : null;
    return make("li", "", [line, text]);
  }), { tabindex: "0", "aria-label": "responses" });
}

/** What a response is worth to its answer, in words. */
function worth(value, kind, which, only) {
  if (kind !== "probability") return ["weight ", make("b", "", signed(value))];
  if (only) return ["without it nobody would have given this answer"];
  if (value === 0) return [`without ${which} the answer would stand as it does`];
  const points = `${Math.abs(value).toFixed(2)} points`;
  return [`without ${which} the answer would ${value > 0 ? "lose" : "gain"} `, make("b", "", points)];
}

theme();
document.querySelectorAll("[data-ballots]").forEach(browse);
tabs();
