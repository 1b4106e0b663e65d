// The last requests of this key, and what their scores say.

/** Ask the server how it stands, and show it. */
async function refresh() {
  const off = server && !server.feedback; // it was found to keep no labels
  server = await (await send("GET", "/page/state")).json();
  if (off) server.feedback = false;
  await refreshHeld();
  const list = server.requests;
  part("requests-count").textContent = String(list.length);
  part("requests-note").textContent = !list.length ? "No request of yours has been voted on since the server started. Ask above, or point an OpenAI client at this server."
    : server.texts ? "The newest first, from this server's memory, with the prompts and answers that its operator has it keep."
    : "The newest first, from this server's memory. It keeps no prompts and no answers; those asked in this tab are shown from the tab's own memory.";
  const open = new Set([...part("requests").querySelectorAll("details[open]")].map((each) => each.dataset.id));
  part("requests").replaceChildren(...list.map((entry) => make("li", "", requestLine(entry, open.has(entry.id)))));
  showDrift(server.drift);
}

/** A request: a line, and inside it the answers and the ballot. */
function requestLine(entry, open) {
  const own = known.get(entry.id);
  const prompt = own ? own.prompt : entry.prompt;
  const named = (answer) => (own && !server.texts && answer !== null ? own.answers[entry.answers.findIndex((one) => one.answer === answer)] : answer);
  const answer = entry.abstained ? "abstained" : entry.answer === null ? "no answer" : named(entry.answer);
  const when = new Date(1000 * entry.at);
  const summary = make("summary", "", [
    make("time", "count when", when.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }), { datetime: when.toISOString() }),
    make("span", "asked", prompt === null ? make("span", "count", "prompt not kept") : isolated(prompt)),
    make("span", "name said", isolated(answer)),
    make("span", "num", [...(entry.answer === null && !entry.abstained ? [] : [make("b", "", share(sureness(entry).value)), make("small", "", entry.confidence === null ? "vote share" : "confidence")]), make("small", "", many(entry.samples.drawn, "sample"))]),
  ]);
  const details = make("details", "", summary, { "data-id": entry.id });
  const fill = () => {
    if (!details.open || details.children.length > 1) return;
    const answers = entry.answers.map((one) => ({ ...one, answer: named(one.answer) }));
    const parts = [make("ul", "notes", noteLines([entry.stopped, ...(entry.notes ?? [])])), still({ ...entry, answers, answer: named(entry.answer) }, 8), ballotTable(entry, named), ...judge(entry.id)];
    if (prompt !== null) parts.push(make("details", "", [make("summary", "", "Ask the same from code"), ...code(prompt, own ? own.n : entry.samples.wanted)]));
    details.append(make("div", "inside", parts));
  };
  details.addEventListener("toggle", fill);
  details.open = open;
  fill();
  return details;
}

/** What became of every sample. */
function ballotTable(entry, named) {
  const number = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
  const sources = entry.ballots.some((one) => one.source);
  const heads = ["Sample", ...(sources ? ["Source"] : []), "Answer", "Score", "Weight"];
  const rows = entry.ballots.map((one) => make("tr", "", [
    make("th", "", String(one.sample), { scope: "row" }),
    sources ? make("td", "", isolated(one.source || "")) : null,
    make("td", "", one.answer === null ? make("span", "count", "unreadable") : isolated(named(one.answer))),
    make("td", "", number(one.score)),
    make("td", "", number(one.weight)),
  ]));
  const table = make("table", "", [
    make("caption", "", "The ballot, in the order of the samples"),
    make("thead", "", make("tr", "", heads.map((head) => make("th", "", head, { scope: "col" })))),
    make("tbody", "", rows),
  ]);
  return make("details", "", [make("summary", "", "Ballot"), make("div", "scroll", table, { tabindex: "0", role: "region", "aria-label": "ballot" })]);
}

/** Two buttons that say whether a verdict was correct, where the server takes that. */
function judge(id) {
  if (!server.feedback) return [];
  const said = make("span", "count", "", { role: "status" });
  const button = (word, correct) => {
    const made = make("button", "small", word, { type: "button", "aria-pressed": "false" });
    made.addEventListener("click", async () => {
      try {
        await send("POST", "/v1/feedback", { id, correct });
        for (const each of box.querySelectorAll("button")) each.setAttribute("aria-pressed", String(each === made));
        said.textContent = "Noted, thank you.";
        await refreshHeld();
      } catch (error) {
        said.textContent = error.message;
      }
    });
    return made;
  };
  const box = make("div", "judge", [make("span", "", "Was the verdict correct?"), button("✓ Correct", true), button("✗ Wrong", false), said], { role: "group", "aria-label": "Was the verdict correct?" });
  return [box];
}

/** Whether the scores look like those that the plan was fitted on. */
function showDrift(drift) {
  part("drift").hidden = !drift;
  if (!drift) return;
  part("drift-text").textContent = drift.moved
    ? "The scores do not look like those that the plan was fitted on, so its weights may not fit: label some of these questions and fit again."
    : "The scores look like those that the plan was fitted on.";
  part("drift-text").className = drift.moved ? "error" : "";
  const facts = [["median score when fitted", drift.seen.toFixed(2)], ["median score now", drift.found.toFixed(2)], ["distance of the distributions", drift.distance.toFixed(2)], ["as far apart by chance", `p = ${drift.p.toFixed(3)}`]];
  part("drift-facts").replaceChildren(...facts.map(([name, value]) => make("div", "", [make("dt", "", name), make("dd", "", value)])));
}
