// How the confidence has held so far, by what people said of verdicts, where the server keeps that.

let judged = null; // what the server says of its labels; null: it keeps none

/** Ask for the labels; a server that was started without a folder for them has none. */
async function refreshHeld() {
  if (!server.feedback) return;
  try {
    judged = await (await send("GET", "/v1/feedback")).json();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    server.feedback = false;
    judged = null;
  }
  showHeld();
}

function showHeld() {
  part("held").hidden = !judged;
  if (!judged) return;
  const { labelled, correct, with_confidence: known, confidence, bins } = judged;
  const of = known === labelled ? "" : ` of the ${known} with a confidence`;
  const said = confidence === null ? ". None has a confidence: no probability was learned" : `; the mean confidence${of} is ${share(confidence)}`;
  part("held-text").textContent = labelled
    ? `Of ${many(labelled, "verdict")} that people judged, ${share(correct / labelled)} were correct${said}.`
    : "Nobody has judged a verdict yet: say below a response whether it is correct.";
  part("held-table").hidden = !bins.length;
  part("held-rows").replaceChildren(...bins.map((bin) => make("tr", "", [
    make("th", "", share(bin.confidence), { scope: "row" }),
    make("td", "", `${share(bin.accuracy)} (${share(bin.low)} to ${share(bin.high)})`),
    make("td", "", String(bin.questions)),
  ])));
}
