// Asking the server: the key is kept in this tab alone, and every error becomes one sentence.

const KEPT = "steelyard-key";
let key = "";
try { key = sessionStorage.getItem(KEPT) || ""; } catch { /* then it is not remembered */ }

function setKey(value) {
  key = value;
  try {
    if (value) sessionStorage.setItem(KEPT, value);
    else sessionStorage.removeItem(KEPT);
  } catch { /* then it is not remembered */ }
}

/** What is shown to people; `refused` says that the key is wrong or missing. */
class Problem extends Error {
  constructor(text, status = 0) {
    const whole = text.trim() || "The server gave no reason";
    super(whole[0].toUpperCase() + whole.slice(1) + (/[.!?]$/.test(whole) ? "" : "."));
    this.refused = status === 401;
  }
}

/** Send a request; anything but success is a Problem. */
async function send(method, path, body, signal) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server cannot be reached: see whether it is still running");
  }
  if (response.ok) return response;
  let said = null;
  try { said = (await response.json()).error; } catch { /* no JSON */ }
  throw new Problem(said && typeof said.message === "string" ? said.message : `The server answered with HTTP ${response.status}`, response.status);
}

/** The objects of a stream of events, as they come. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem("The connection broke before the vote was decided: ask again");
    }
    if (piece.done) return;
    const parts = (rest + piece.value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice(6));
  }
}
