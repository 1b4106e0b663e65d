// The answers of a vote as lines with bars, which move when more samples come.

const share = (value) => `${(100 * value).toFixed(1)} %`;
/** How sure a vote is: the probability that it is correct, or else its share of the votes. */
const sureness = (vote) => (vote.confidence === null ? { name: "Vote share (not a probability)", value: vote.share } : { name: "Confidence", value: vote.confidence });
const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** What the bars show: probabilities where the method has them, shares of the weight, or weights of both signs. */
function kindOf(vote) {
  if (vote.none_correct !== null && vote.none_correct !== undefined) return "probability";
  return vote.answers.every((one) => one.weight >= 0) ? "share" : "weight";
}

/** The cells of one answer. */
function cells(vote, one, name) {
  const kind = kindOf(vote);
  const weights = vote.answers.map((each) => each.weight);
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  const value = kind === "probability" ? one.probability : kind === "share" ? one.weight / sum : one.weight;
  const frame = kind === "weight" ? [Math.min(0, ...weights), Math.max(1e-9, ...weights)] : [0, 1];
  const shown = kind === "weight" ? signed(value) : share(value);
  const drawn = bar(Math.max(0, value), Math.min(0, value), frame, `${WORDS[kind]} ${shown}`);
  return row(name, drawn, shown, WORDS[kind], [String(one.votes), make("small", "", one.votes === 1 ? "sample" : "samples")]);
}

/** The line of what none of the answers is, where the method says how likely that is. */
function noneOfThese(vote) {
  if (kindOf(vote) !== "probability") return null;
  const drawn = bar(vote.none_correct, 0, [0, 1], `none of these: ${share(vote.none_correct)}`);
  return make("li", "none", row(make("span", "name", "none of these"), drawn, share(vote.none_correct), "probability", ""));
}

/** Answers that stand still: of a request that is over, at most so many. */
function still(vote, most) {
  const lines = vote.answers.slice(0, most).map((one) =>
    make("li", one.answer === vote.answer ? "verdict" : "", make("div", "row", cells(vote, one, make("span", "name", [isolated(cut(one.answer, 300))])))));
  const more = vote.answers.length - most;
  if (more > 0) lines.push(make("li", "note", `and ${many(more, "other answer")}`));
  return make("ol", "answers", [...lines, noneOfThese(vote)]);
}

/** Let a bar be as another one, without putting it in its place, so that it moves. */
function moved(old, fresh) {
  [old, ...old.children].forEach((node, i) => {
    const other = i ? fresh.children[i - 1] : fresh;
    for (const { name, value } of other.attributes) node.setAttribute(name, value);
    if (node.tagName === "title") node.textContent = other.textContent;
  });
}

/** The list of answers while samples come; it keeps what is open and where the focus is. */
class AnswerList {
  constructor(root) {
    this.root = root;
    this.lines = new Map();
    this.verdict = "leads"; // what the first answer is called
    root.replaceChildren();
  }

  show(vote, samples) {
    const held = document.activeElement;
    const given = new Map(vote.answers.map((one) => [one.answer, []]));
    for (const [number, place] of Object.entries(vote.given)) given.get(vote.answers[place].answer).push(samples.get(Number(number)));
    const wanted = vote.answers.map((one) => this.line(vote, one, given.get(one.answer)));
    for (const [answer, line] of this.lines) if (!given.has(answer)) { line.remove(); this.lines.delete(answer); }
    for (const last of this.root.querySelectorAll(":scope > .none, :scope > .note")) last.remove();
    wanted.forEach((line, i) => { if (this.root.children[i] !== line) this.root.insertBefore(line, this.root.children[i] || null); });
    const unread = vote.samples - Object.keys(vote.given).length;
    const note = unread ? make("li", "note", `${unread} of ${many(vote.samples, "sample")} ${unread === 1 ? "has" : "have"} no readable answer and cast no vote.`) : null;
    const groups = vote.policy === "similar" ? make("li", "note", "Similar responses vote for each other. A line is a group of them, with the response most like the others.") : null;
    this.root.append(...[noneOfThese(vote), note, groups].filter(Boolean));
    if (held !== document.activeElement && this.root.contains(held)) held.focus({ preventScroll: true });
  }

  /** The line of an answer, made or brought up to date. */
  line(vote, one, samples) {
    const name = make("span", "name", [isolated(cut(one.answer, 300))]);
    if (one.answer === vote.answer) name.append(make("span", "tag", this.verdict));
    const fresh = cells(vote, one, name);
    let line = this.lines.get(one.answer);
    if (!line) {
      line = make("li", "", make("details", "", make("summary", "", fresh)));
      this.lines.set(one.answer, line);
    } else {
      const old = [...line.querySelector("summary").children];
      moved(old[1], fresh[1]);
      [0, 2, 3].forEach((i) => old[i].replaceWith(fresh[i]));
    }
    line.querySelector("summary").className = one.answer === vote.answer ? "verdict" : "";
    const details = line.firstElementChild;
    const fill = () => {
      if (!details.open) return;
      details.querySelector(".responses")?.remove();
      details.append(responses(samples));
    };
    details.ontoggle = fill;
    fill();
    return line;
  }
}

/** The responses that gave an answer. */
function responses(samples) {
  return make("ol", "responses", samples.map((one) => {
    const facts = [`sample ${one.number}`, one.source, one.score === null ? null : `score ${one.score.toFixed(3)}`, one.finish === "length" ? "cut off by the token limit" : null];
    const text = one.text + (one.cut ? ` … and ${one.cut} more characters` : "");
    return make("li", "", [make("div", "count", facts.filter((fact) => fact !== null).join(" · ")), make("p", "text", text, { dir: "auto" })]);
  }), { tabindex: "0", "aria-label": "responses", role: "list" });
}
