// A question, from the asking to the decision.

const part = (id) => document.getElementById(id);
const known = new Map(); // what was asked in this tab, by the id of the reply
let server = null; // what the server says of itself
let under = null; // what ends the question that is under way

/** The request that a client would send. */
const requestOf = (prompt, n) => ({ model: server.model, messages: [{ role: "user", content: prompt }], steelyard: { n } });

class Question {
  constructor(prompt, n, early) {
    Object.assign(this, { prompt, n, early });
    this.samples = new Map();
    this.vote = null;
    this.began = performance.now();
    this.list = new AnswerList(part("answers"));
  }

  begin() {
    part("asked").textContent = this.prompt;
    part("empty").hidden = part("problem").hidden = part("after").hidden = true;
    part("result").hidden = false;
    part("meters").replaceChildren();
    part("notes").replaceChildren();
    this.expect({ samples: this.n, upstreams: 1, cascade: false });
  }

  /** How many samples may come, of all upstreams together. */
  expect({ samples, upstreams, cascade }) {
    Object.assign(this, { most: samples, cascade });
    part("strip").replaceChildren(...Array.from({ length: samples }, (_, i) => make("li", "", String(i))));
    const of = upstreams > 1 ? ` of ${many(upstreams, "upstream")}` : "";
    const later = cascade ? " The plan asks one upstream after the other, and weighs what they say at the end." : "";
    part("status").textContent = `Waiting for the first of ${cascade ? "up to " : ""}${many(samples, "sample")}${of}.${later}`;
    this.figures();
  }

  take({ sample, vote }) {
    this.samples.set(sample.number, sample);
    if (vote) {
      this.vote = vote;
      this.list.show(vote, this.samples);
    }
    this.strip();
    this.meters();
    this.figures();
    const failed = [...this.samples.values()].filter((one) => one.error).length;
    const leads = this.vote && this.vote.answer !== null ? ` ${cut(this.vote.answer, 60)} leads.` : "";
    const counted = this.vote ? this.vote.samples : 0;
    const waits = this.cascade ? " What they say is weighed at the end." : counted < this.samples.size ? ` They count in the order of their numbers: sample ${counted} is awaited.` : "";
    part("status").textContent = `${this.samples.size} of ${many(this.most, "sample")} came${failed ? `, ${failed} failed` : ""}.${leads}${waits}`;
  }

  decided(told) {
    this.told = told;
    const { vote } = told;
    const place = (answer) => vote.answers.findIndex((one) => one.answer === answer);
    const ballots = vote.ballots.map((one, i) => [told.places[i], one.answer]);
    const given = Object.fromEntries(ballots.filter(([, answer]) => answer !== null).map(([at, answer]) => [at, place(answer)]));
    const rule = this.vote && this.vote.rule;
    this.vote = { ...vote, samples: vote.samples.drawn, given, rule };
    this.list.verdict = vote.abstained ? "leads" : "verdict";
    this.list.show(this.vote, this.samples);
    this.meters();
    known.set(told.id, { prompt: this.prompt, n: this.n, answers: vote.answers.map((one) => one.answer), answer: vote.answer });
    const drawn = many(vote.samples.drawn, "sample");
    const spared = vote.samples.uncounted + vote.samples.cancelled;
    const why = spared > 0 ? ` ${many(spared, "sample")} of ${vote.samples.wanted} ${spared === 1 ? "was" : "were"} not needed.` : "";
    part("status").textContent = vote.abstained ? told.refusal
      : vote.answer === null ? `Not decided by a vote: ${drawn} came.${why}`
      : `Decided after ${drawn}: ${cut(vote.answer, 200)}.${why}`;
    part("notes").replaceChildren(...noteLines(vote.notes));
    this.strip();
    this.figures();
    part("reply").textContent = told.text ?? told.refusal ?? "";
    part("feedback").replaceChildren(...judge(told.id));
    part("side").replaceChildren(...told.side_by_side.map((each) => make("div", "card", [
      make("h3", "", `N = ${each.samples}`),
      make("p", "note", each.answer === null ? "no readable answer" : [isolated(cut(each.answer, 60)), ` · ${each.confidence === null ? "vote share" : "confidence"} ${share(sureness(each).value)}`]),
      still(each, 3),
    ])));
    part("side-note").textContent = this.cascade ? "The plan has a cascade, which says itself how many samples it needs: there is nothing to compare."
      : "The votes on the first 1, 4 and 16 samples of this same draw, in the order of their numbers." + (told.side_by_side.length === 3 ? "" : ` This draw has ${drawn}${spared > 0 ? ": to compare all, do not stop as soon as it is decided" : ""}.`);
    part("code-parts").replaceChildren(...code(this.prompt, this.n));
    part("after").hidden = false;
  }

  /** One square per sample: what came, what leads, what failed, what was not needed. */
  strip() {
    [...part("strip").children].forEach((square, i) => {
      const sample = this.samples.get(i);
      const place = this.vote ? this.vote.given[i] : undefined;
      const leads = place !== undefined && this.vote.answers[place].answer === this.vote.answer;
      square.className = sample ? (sample.error ? "failed" : leads ? "leads" : "came") : this.told ? "spared" : "";
    });
  }

  /** How close the stopping rule is to ending the sampling. */
  meters() {
    const rule = this.vote && this.vote.rule;
    if (!rule) return;
    if (!part("meters").children.length) part("meters").append(meter());
    meter.set(part("meters").firstElementChild, rule);
  }

  figures() {
    const told = this.told;
    const seconds = told ? told.seconds : (performance.now() - this.began) / 1000;
    const tokens = told && told.usage && told.usage.total_tokens;
    const sure = this.vote && this.vote.answer !== null ? sureness(this.vote) : null;
    const cards = [
      ...(sure ? [[share(sure.value), sure.name]] : []),
      [`${this.samples.size} of ${this.most}`, "samples"],
      [tokens === undefined || tokens === null || tokens === false ? "–" : tokens.toLocaleString("en"), "tokens billed"],
      [`${seconds.toFixed(1)} s`, "time"],
    ];
    if (told && told.vote.cost) cards.push([money(told.cost), "cost"]);
    part("figures").replaceChildren(...cards.map(([value, what]) => make("div", "card", [make("dt", "", what), make("dd", "value", value)])));
  }
}

/** A cost with its currency; null means that a part of it is unknown. */
const money = (cost) => (cost === null ? "unknown" : `${Number(cost.toPrecision(3))} ${server.currency ?? ""}`.trim());

/** What the server has to say about a vote, as sentences. */
const noteLines = (notes) => (notes ?? []).map((note) => make("li", "note", `${note[0].toUpperCase()}${note.slice(1)}.`));

const cut = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

function meter() {
  return make("div", "meter", [
    make("div", "track", [make("div", "fill"), make("div", "stop")], { role: "meter", "aria-label": "Stopping rule", "aria-valuemin": "0", "aria-valuemax": "100" }),
    make("p", "note"),
  ]);
}
meter.set = (node, { value, threshold }) => {
  const [track, note] = node.children;
  const [fill, line] = track.children;
  fill.style.width = `${100 * value}%`;
  line.style.left = `${100 * threshold}%`;
  track.setAttribute("aria-valuenow", (100 * value).toFixed(1));
  note.textContent = "Sampling stops when the bar reaches the line.";
};

/** Ask, and show what comes. */
async function ask(prompt, n, early) {
  const question = new Question(prompt, n, early);
  under = new AbortController();
  part("stop").hidden = false;
  const focused = document.activeElement === part("ask"); // a disabled button loses the focus
  part("ask").disabled = true;
  question.begin();
  const clock = setInterval(() => question.figures(), 500);
  try {
    const path = early ? "/page/ask" : "/page/ask?stop=never";
    let ended = false;
    for await (const told of events(await send("POST", path, requestOf(prompt, n), under.signal))) {
      if (told.error) throw new Problem(told.error.message);
      if (told.begun) question.expect(told.begun);
      if (told.sample) question.take(told);
      if (told.decided) { question.decided(told.decided); ended = true; }
    }
    if (!ended) throw new Problem("The server broke off before the vote was decided: ask again");
    await refresh();
  } catch (error) {
    failed(error, question);
  } finally {
    clearInterval(clock);
    under = null;
    part("stop").hidden = true;
    part("ask").disabled = false;
    if (focused && document.activeElement === document.body) part("ask").focus();
  }
}

function failed(error, question) {
  if (error.name === "AbortError") {
    part("status").textContent = `Stopped after ${many(question.samples.size, "sample")}; what was under way is cancelled.`;
    return;
  }
  if (!(error instanceof Problem)) console.error(error);
  part("status").textContent = "";
  part("result").hidden = [...question.samples.values()].every((one) => one.error);
  if (error.refused) return locked(error.message);
  part("problem").textContent = error instanceof Problem ? error.message : "This page has a defect: the console of your browser says which.";
  part("problem").hidden = false;
}
